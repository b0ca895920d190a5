from __future__ import annotations

import pytest

from bot.brain.history import CONTINUE
from bot.brain.limits import CONTINUATIONS, MOST_OUTPUT_TOKENS, TurnLimits, running_out, with_raised_output
from bot.core.errors import RequestRefused
from bot.core.model import CallBlock, ModelRef, ModelStopReason, ModelUsage, TextBlock, Usage
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import ResultRow, StepRow
from tests.brain.conftest import House, MakeHouse
from tests.fakes.provider import Step, calls, says

CUT = ModelStopReason.MAX_TOKENS


def used(tokens: int, script: list[Step]) -> list[Step]:
    return [ModelUsage(Usage(tokens, 0)), *script]


async def steps_of(house: House) -> list[StepRow]:
    return [row.body for row in await house.store.transcript.turn_rows("turn1") if isinstance(row.body, StepRow)]


async def test_an_answer_that_was_cut_off_goes_on_from_the_break_with_more_room(make_house: MakeHouse) -> None:
    house = make_house(says("One, two, th", stop=CUT), says("ree, four.\n\nF", stop=CUT), says("ive."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == "One, two, three, four.\n\nFive."
    assert [request.model.max_tokens for request in house.provider.requests] == [8192, 64000, 64000]
    assert [step.because for step in await steps_of(house)] == ["answer", "continuation", "continuation"]
    last = house.provider.requests[-1].messages
    assert [message.content[0] for message in last[-4:]] == [
        TextBlock("One, two, th"),
        TextBlock(CONTINUE),
        TextBlock("ree, four.\n\nF"),
        TextBlock(CONTINUE),
    ]
    assert house.view.notices == ()


@pytest.mark.parametrize(
    ("half", "rest"), [("\ud83d", "😀"), ("\ud83d", "\ude00"), ("\ufffd", "😀"), ("\ufffd\ufffd", "\ufffd😀")]
)
async def test_half_a_sign_at_the_cut_leaves_no_trace(make_house: MakeHouse, half: str, rest: str) -> None:
    house = make_house(says("Good ", half, stop=CUT), says(rest, " morning."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == ("Good 😀 morning." if "😀" in rest else "Good  morning.")
    first, _ = await steps_of(house)
    assert first.content == (TextBlock("Good "),)


async def test_after_three_continuations_the_answer_is_marked_as_cut(make_house: MakeHouse) -> None:
    pieces = [f"part {n} " for n in range(9)]
    house = make_house(*(says(piece, stop=CUT) for piece in pieces))
    assert await house.answer(await house.turn()) is StopReason.TRUNCATED
    assert house.view.text.strip() == "".join(pieces[: CONTINUATIONS + 1]).strip()
    assert "cut off" in house.view.notices[-1]


async def test_the_next_turn_reads_the_whole_of_an_answer_that_was_cut(make_house: MakeHouse) -> None:
    house = make_house(says("One, t", stop=CUT), says("wo."), says("Three."))
    await house.answer(await house.turn())
    await house.answer(await house.turn("and then?", 2))
    blocks = [block for message in house.provider.requests[-1].messages for block in message.content]
    said = [block.text for block in blocks if isinstance(block, TextBlock) and not block.text.startswith("<now>")]
    assert said[1:4] == ["One, t", CONTINUE, "wo."]


async def test_a_model_that_refuses_the_raised_limit_is_asked_with_its_own(make_house: MakeHouse) -> None:
    house = make_house(says("One, ", stop=CUT), [RequestRefused("max_tokens is too large")], says("two."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert [request.model.max_tokens for request in house.provider.requests] == [8192, 64000, 8192]
    assert house.view.text == "One, two."


async def test_a_call_that_was_cut_off_is_never_run_and_asked_for_with_more_room(make_house: MakeHouse) -> None:
    cut = ToolCall("c1", "calculate", {}, invalid="it was cut off")
    broken = [*calls(cut)[:-1], *says("", stop=CUT)[1:]]
    house = make_house(broken, calls(ToolCall("c2", "calculate", {"expression": "1+1"})), says("2"))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert [request.model.max_tokens for request in house.provider.requests] == [8192, 64000, 64000]


async def test_b129_calls_that_are_cut_off_again_and_again_end_the_turn(make_house: MakeHouse) -> None:
    cut = [
        [*calls(ToolCall(f"c{n}", "calculate", {}, invalid="cut off"))[:-1], *says("", stop=CUT)[1:]] for n in range(9)
    ]
    house = make_house(*cut)
    assert await house.answer(await house.turn()) is StopReason.TRUNCATED
    assert len(house.provider.requests) == CONTINUATIONS + 1


def test_the_raised_limit_fits_the_window() -> None:
    model = ModelRef("a", "b", max_tokens=1024)
    assert with_raised_output(model, 1, 128_000).max_tokens == 8192
    assert with_raised_output(model, 1, 4096).max_tokens == 2048
    assert with_raised_output(ModelRef("a", "b", max_tokens=60_000), 2, 1_000_000).max_tokens == MOST_OUTPUT_TOKENS
    assert with_raised_output(model, 0, 128_000) is model


async def test_at_nine_tenths_of_the_budget_the_model_is_told_once(make_house: MakeHouse) -> None:
    def looks(n: int, tokens: int) -> list[Step]:
        return used(tokens, calls(ToolCall(f"c{n}", "calculate", {"expression": f"{n}+1"}), text="word " * 700))

    house = make_house(
        looks(1, 500), looks(2, 450), looks(3, 20), used(1, says("Done.")), limits=TurnLimits(tokens=1000)
    )
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    results = [row.body for row in await house.store.transcript.turn_rows("turn1") if isinstance(row.body, ResultRow)]
    assert [bool(result.notice) for result in results] == [False, True, False]
    assert "without summing up" in results[1].notice
    assert results[1].notice in str(house.provider.requests[2].messages)


async def test_two_rounds_past_the_notice_that_add_next_to_nothing_end_the_turn(make_house: MakeHouse) -> None:
    asked = [calls(ToolCall(f"c{n}", "calculate", {"expression": f"{n}*7"})) for n in range(9)]
    house = make_house(used(920, asked[0]), *(used(1, script) for script in asked[1:]), limits=TurnLimits(tokens=1000))
    assert await house.answer(await house.turn()) is StopReason.DIMINISHING
    assert len(house.provider.requests) == 2
    assert "1000 tokens" in house.view.notices[-1]


def test_nothing_is_said_before_nine_tenths() -> None:
    assert running_out([], 1000) == ""


@pytest.mark.parametrize(
    ("outcome", "reason"), [("denied", StopReason.APPROVAL_DENIED), ("expired", StopReason.APPROVAL_EXPIRED)]
)
async def test_three_calls_in_a_row_that_nobody_wanted_end_the_turn(
    make_house: MakeHouse, outcome: str, reason: StopReason
) -> None:
    house = make_house(says("never asked"))
    turn = await house.turn()
    for n in range(3):
        call = ToolCall(f"c{n}", "note_write", {"text": f"{n}"})
        step = StepRow(n, (CallBlock(call),), "a/big", "tool_use")
        result = ResultRow(call.id, call.name, "no", error=True, outcome=outcome)  # type: ignore[arg-type]
        await house.store.transcript.append(turn.address, turn.id, 1.0, step, result)
    assert await house.answer(turn) is reason
    assert house.provider.requests == []


async def test_messages_that_joined_are_the_reason_for_the_next_step(make_house: MakeHouse) -> None:
    house = make_house(calls(ToolCall("c", "calculate", {"expression": "1+1"})), says("2"))
    await house.answer(await house.turn())
    assert [step.because for step in await steps_of(house)] == ["answer", "tools"]
