"""What a call used: the vendor's counts, and estimates where it gave none."""

from __future__ import annotations

import asyncio

from bot.brain.spent import Spent, used
from bot.core.errors import StreamCut
from bot.core.model import (
    Message,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelThinking,
    ModelUsage,
    TextBlock,
    Usage,
)
from bot.core.stop import StopReason
from bot.core.transcript import StepRow
from tests.brain.conftest import MakeHouse
from tests.brain.test_loop import bodies, rows_of
from tests.fakes.provider import says

REQUEST = ModelRequest(ModelRef("a", "big"), "Be brief. " * 40, (Message("user", (TextBlock("hi " * 100),)),))
END = ModelStop(ModelStopReason.END)
WORDS = ModelText("word " * 100)


def test_counts_of_a_whole_answer_are_taken_as_they_are() -> None:
    told = Usage(200, 30, 50, 10)
    assert used(REQUEST, [ModelUsage(Usage(200)), WORDS, ModelUsage(told), END]) == told


def test_a_whole_answer_without_counts_is_estimated_and_says_so() -> None:
    estimate = used(REQUEST, [WORDS, END])
    assert estimate.estimated
    assert 120 < estimate.input_tokens < 260
    assert 90 < estimate.output_tokens < 180


def test_a_broken_answer_keeps_the_counts_so_far_and_estimates_the_rest() -> None:
    broken = used(REQUEST, [ModelUsage(Usage(5000, 1, 4000)), ModelThinking("hm " * 100), WORDS])
    assert (broken.input_tokens, broken.cache_read_tokens, broken.estimated) == (5000, 4000, True)
    assert broken.output_tokens > 150


def test_what_the_vendor_never_began_costs_nothing() -> None:
    assert list(Spent(REQUEST).bills) == []


def test_counts_of_nothing_are_believed_where_nobody_was_asked() -> None:
    spent = Spent(REQUEST)
    spent.begins()
    spent.note(ModelUsage(Usage()))
    spent.note(END)
    assert list(spent.bills) == []


def test_attempts_that_came_to_nothing_are_bills_of_their_own() -> None:
    spent = Spent(REQUEST)
    spent.wasted([ModelUsage(Usage(300, 1)), ModelThinking("hm")])
    spent.begins()
    spent.note(ModelUsage(Usage(300, 20)))
    spent.note(END)
    first, second = spent.bills
    assert (first.input_tokens, first.estimated) == (300, True)
    assert second == Usage(300, 20)


async def test_a_broken_stream_is_billed(make_house: MakeHouse) -> None:
    house = make_house([ModelUsage(Usage(700, 1)), ModelText("Hello wor"), StreamCut("cut")], says("Hello world"))
    await house.answer(await house.turn())
    (bill,) = await house.store.usage.since(0.0)
    assert (bill.calls, bill.estimated) == (2, 2)
    assert bill.input_tokens > 700
    (step,) = bodies(await rows_of(house), StepRow)
    assert isinstance(step, StepRow) and step.usage.estimated and step.usage.output_tokens > 0


async def test_a_whole_answer_is_billed_by_its_counts(make_house: MakeHouse) -> None:
    house = make_house([ModelUsage(Usage(10, 5)), *says("Hi")])
    await house.answer(await house.turn())
    (bill,) = await house.store.usage.since(0.0)
    assert (bill.calls, bill.estimated, bill.input_tokens) == (1, 0, 10)


async def test_a_stopped_answer_is_billed_as_far_as_it_is_known(make_house: MakeHouse) -> None:
    gate = asyncio.Event()
    house = make_house([ModelUsage(Usage(700, 1)), ModelText("Half an answer"), gate, *says("more")])
    turn = await house.turn()
    task = asyncio.ensure_future(house.answer(turn))
    while house.view.text != "Half an answer":
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    assert await house.brain.break_off(turn, StopReason.STOPPED, house.events.append) is StopReason.STOPPED
    (bill,) = await house.store.usage.since(0.0)
    assert (bill.calls, bill.estimated, bill.input_tokens) == (1, 1, 700)
    assert bill.output_tokens > 1
