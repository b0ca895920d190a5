from __future__ import annotations

from bot.brain.routing.course import PICKED
from bot.core.errors import ProviderFailed
from bot.core.model import ModelRef
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import RouteRow, StepRow, UserRow
from tests.brain.conftest import FIRST, HERE, OWNER, House, MakeHouse
from tests.fakes.provider import calls, says


async def rows_of(house: House) -> list[object]:
    return [row.body for row in await house.store.transcript.turn_rows("turn1")]


async def test_the_decision_is_written_with_the_first_step_and_kept(make_house: MakeHouse) -> None:
    house = make_house(calls(ToolCall("c", "calculate", {"expression": "1+1"})), says("2"))
    await house.answer(await house.turn())
    kinds = [type(body) for body in await rows_of(house)]
    assert kinds.count(RouteRow) == 1
    assert kinds.index(RouteRow) == kinds.index(StepRow) - 1


async def test_the_decision_of_a_turn_that_failed_is_written_too(make_house: MakeHouse) -> None:
    house = make_house([ProviderFailed("no")], [ProviderFailed("no")])
    await house.answer(await house.turn())
    assert any(isinstance(body, RouteRow) for body in await rows_of(house))


async def test_a_private_turn_that_no_model_nearby_can_answer_is_told_so_and_sent_nowhere(
    make_house: MakeHouse,
) -> None:
    house = make_house()
    house.chain.clear()
    house.routes.row = RouteRow("personal_info", "", "", "true", (), private=True)
    assert await house.answer(await house.turn()) is StopReason.NO_MODEL
    assert "not sent anywhere else" in house.view.notices[0]
    assert house.provider.requests == []


async def test_a_picked_model_that_is_gone_is_named(make_house: MakeHouse) -> None:
    house = make_house()
    house.chain.clear()
    house.routes.row = RouteRow("", "", "", PICKED, ("lab/own",))
    assert await house.answer(await house.turn()) is StopReason.NO_MODEL
    assert "lab/own" in house.view.notices[0] and "/model auto" in house.view.notices[0]


async def test_a_picked_model_that_fails_is_not_replaced(make_house: MakeHouse) -> None:
    house = make_house([ProviderFailed("no")], says("from another"))
    house.chain[:] = [FIRST]
    assert await house.answer(await house.turn()) is StopReason.PROVIDER_UNAVAILABLE
    assert {request.model for request in house.provider.requests} == {ModelRef("a", "big")}


async def test_what_had_to_stay_nearby_is_no_history_for_models_elsewhere(make_house: MakeHouse) -> None:
    near, far = ModelRef("local", "small"), ModelRef("a", "big")
    house = make_house(says("I keep it to myself."), says("Hello."), says("You told me your PIN."))
    house.chain[:] = [near]
    house.routes.row = RouteRow("personal_info", "", "", "true", ("local/small",), private=True)
    await house.answer(await house.turn("my PIN is 4711", 1))
    house.chain[:], house.routes.row = [far], None
    await house.answer(await house.turn("hello", 2))
    assert "4711" not in str(house.provider.requests[1]) and "to myself" not in str(house.provider.requests[1])
    house.chain[:] = [near]
    await house.answer(await house.turn("what did I tell you?", 3))
    assert "4711" in str(house.provider.requests[2])


async def test_what_joins_a_turn_may_make_it_private(make_house: MakeHouse) -> None:
    near, far = ModelRef("local", "small"), ModelRef("a", "big")
    house = make_house(calls(ToolCall("c", "calculate", {"expression": "1+1"})), says("Kept here."))
    house.chain[:] = [far]

    async def joins(first: bool) -> int:
        if first or house.routes.row is not None:
            return 0
        house.chain[:] = [near]
        house.routes.row = RouteRow("personal_info", "", "", "true", ("local/small",), private=True)
        said = UserRow("my PIN is 4711", OWNER, "2", steered=True)
        await house.store.transcript.append(HERE, "turn1", 1.0, said)
        return 1

    house.steer = joins
    await house.answer(await house.turn("1+1?", 1))
    assert [request.model for request in house.provider.requests] == [far, near]
    assert "4711" in str(house.provider.requests[1])
    routes = [body for body in await rows_of(house) if isinstance(body, RouteRow)]
    assert [route.private for route in routes] == [False, True]
