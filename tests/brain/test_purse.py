from __future__ import annotations

from dataclasses import replace

import pytest

from bot.brain.limits import TurnLimits
from bot.brain.purse import FRESH_SECONDS, MoneyLimits, Purse
from bot.core.address import Sender
from bot.core.model import FREE, ModelRef, ModelUsage, Price, Usage
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import StepRow
from tests.brain.conftest import HERE, OWNER, House, MakeHouse
from tests.fakes.provider import Step, calls, says

DEAR = ModelRef("a", "big", price=Price(10.0, 50.0))
LOCAL = ModelRef("local", "small", price=FREE)
UNKNOWN = ModelRef("b", "lab")


def costs(usd: float, *text: str) -> list[Step]:
    """An answer of a model at ten dollars a million tokens read."""
    return [ModelUsage(Usage(int(usd * 100_000), 0)), *says(*text)]


def with_chain(house: House, *models: ModelRef) -> House:
    house.chain[:] = models
    return house


async def test_what_a_call_cost_is_counted_at_the_models_price(make_house: MakeHouse) -> None:
    house = with_chain(make_house(costs(0.5, "hi")), DEAR)
    await house.answer(await house.turn())
    [total] = await house.store.usage.since(0.0, OWNER.identity)
    assert (total.usd, total.unpriced) == (pytest.approx(0.5), 0)


async def test_at_nine_tenths_the_person_is_told_once_a_day(make_house: MakeHouse) -> None:
    house = with_chain(make_house(costs(1.85, "one"), says("two"), says("three")), DEAR)
    await house.answer(await house.turn("a", 1))
    assert house.view.notices == ()
    house.events.clear()
    await house.answer(await house.turn("b", 2))
    [notice] = house.view.notices
    assert "92 % of today's budget" in notice and "at 2" in notice
    house.events.clear()
    await house.answer(await house.turn("c", 3))
    assert house.view.notices == ()


async def test_a_spent_budget_leaves_the_models_that_cost_nothing(make_house: MakeHouse) -> None:
    house = with_chain(make_house(costs(2.5, "dear"), says("free")), DEAR, UNKNOWN, LOCAL)
    await house.answer(await house.turn("a", 1))
    house.events.clear()
    assert await house.answer(await house.turn("b", 2)) is StopReason.ANSWERED
    assert house.provider.requests[-1].model == LOCAL
    assert "local/small answers" in house.view.notices[0]


async def test_without_a_free_model_it_is_refused_with_the_time_of_the_reset(make_house: MakeHouse) -> None:
    house = with_chain(make_house(costs(2.5, "dear")), DEAR, UNKNOWN)
    await house.answer(await house.turn("a", 1))
    house.events.clear()
    assert await house.answer(await house.turn("b", 2)) is StopReason.MONEY
    assert len(house.provider.requests) == 1
    assert house.view.notices[0].startswith("The budget for today is spent. It starts anew at ")
    await house.clock.advance(24 * 3600)
    house.provider.scripts = [says("a new day")]  # type: ignore[list-item]
    assert await house.answer(await house.turn("c", 3)) is StopReason.ANSWERED


async def test_a_turn_stops_between_two_steps_when_its_own_spending_ends_the_budget(make_house: MakeHouse) -> None:
    call = ToolCall("c1", "calculate", {"expression": "1+1"})
    house = with_chain(
        make_house([ModelUsage(Usage(300_000, 0)), *calls(call, text="Let me see.")], limits=TurnLimits(tokens=10**9)),
        DEAR,
    )
    assert await house.answer(await house.turn()) is StopReason.MONEY
    assert house.view.text == "Let me see."
    rows = await house.store.transcript.turn_rows("turn1")
    assert sum(isinstance(row.body, StepRow) for row in rows) == 1


async def test_one_persons_spending_does_not_silence_another_but_that_of_all_does(make_house: MakeHouse) -> None:
    house = make_house()
    purse = Purse(house.store.usage, MoneyLimits(day=5.0, person_day=2.0), house.clock, "UTC")
    for person in ("x:1", "x:2"):
        await house.store.usage.add(house.clock.now(), "t", HERE, person, "a/big", Usage(1, 1), 2.2)
    assert (await purse.look("x:1", [DEAR], "en")).refusal
    assert not (await purse.look("x:3", [DEAR], "en")).refusal
    await house.store.usage.add(house.clock.now(), "t", HERE, "background", "a/big", Usage(1, 1), 1.0)
    await house.clock.advance(FRESH_SECONDS)
    assert (await purse.look("x:3", [DEAR], "en")).refusal
    assert purse.is_spent


async def test_linked_identities_share_one_budget(make_house: MakeHouse) -> None:
    house = make_house()
    other = Sender("telegram", "7", "Owner")
    await house.store.links.link(OWNER.identity, other.identity)
    await house.store.usage.add(house.clock.now(), "t", HERE, other.identity, "a/big", Usage(1, 1), 2.2)
    purse = Purse(house.store.usage, MoneyLimits(), house.clock, "UTC")
    assert (await purse.look(OWNER.identity, [DEAR], "en")).refusal


async def test_spending_counts_before_its_row_is_read_again(make_house: MakeHouse) -> None:
    house = make_house()
    purse = Purse(house.store.usage, MoneyLimits(), house.clock, "UTC")
    assert not (await purse.look("x:1", [DEAR], "en")).refusal
    purse.spent("x:1", 2.0)
    assert (await purse.look("x:1", [DEAR], "en")).refusal


async def test_zero_allows_only_what_costs_nothing(make_house: MakeHouse) -> None:
    house = make_house()
    purse = Purse(house.store.usage, MoneyLimits(day=0.0), house.clock, "UTC")
    assert (await purse.look("x:1", [DEAR, LOCAL], "en")).models == (LOCAL,)


def test_cached_tokens_and_long_prompts_have_their_own_prices() -> None:
    price = Price(2.0, 10.0, cache_read=0.1, cache_write=2.5, above_tokens=100_000, above_times=2)
    usage = Usage(input_tokens=10_000, output_tokens=1_000, cache_read_tokens=8_000, cache_write_tokens=1_000)
    assert price.cost(usage) == pytest.approx((1_000 * 2 + 1_000 * 10 + 8_000 * 0.1 + 1_000 * 2.5) / 1e6)
    assert price.cost(replace(usage, input_tokens=200_000)) == pytest.approx(
        2 * (191_000 * 2 + 1_000 * 10 + 8_000 * 0.1 + 1_000 * 2.5) / 1e6
    )
    assert Price(2.0, 10.0).cost(Usage(1_000_000, 0, cache_read_tokens=1_000_000)) == pytest.approx(2.0)
