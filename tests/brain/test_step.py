"""What stays on screen when a model breaks off: text is taken back only for text that comes in its place."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.errors import KeyRefused, ProviderBusy, ProviderError, ProviderFailed, StreamCut
from bot.core.events import TextDelta
from bot.core.model import ModelStop, ModelStopReason, ModelText, TextBlock
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import StepRow
from bot.core.view import View
from bot.outbox.fold import fold
from tests.brain.conftest import House, MakeHouse
from tests.brain.test_loop import bodies, rows_of
from tests.fakes.provider import calls, says

LONG = "A long answer, word by word. " * 60
SUM = ToolCall("c2", "calculate", {"expression": "17*23"})


def texts_shown(house: House) -> list[str]:
    """The text after every event, as a person would have seen it."""
    view, shown = View("t"), []
    for event in house.events:
        view = fold(view, event, "en")
        shown.append(view.text)
    return shown


@pytest.mark.parametrize("failure", [ProviderBusy("529"), ProviderFailed("500"), KeyRefused("401"), StreamCut("again")])
async def test_a_long_answer_stays_when_no_further_attempt_begins(
    make_house: MakeHouse, failure: ProviderError
) -> None:
    house = make_house([ModelText(LONG), StreamCut("cut")], *([failure] for _ in range(3)))
    assert await house.answer(await house.turn()) is StopReason.PROVIDER_UNAVAILABLE
    shown = texts_shown(house)
    assert all(text == LONG for text in shown[shown.index(LONG) :])
    assert len(house.view.notices) == 1
    (step,) = bodies(await rows_of(house), StepRow)
    assert isinstance(step, StepRow) and step.content == (TextBlock(LONG),) and step.stop == ""


async def test_the_text_stays_in_view_until_the_next_attempt_writes(make_house: MakeHouse) -> None:
    gate = asyncio.Event()
    house = make_house([ModelText(LONG), StreamCut("cut")], [gate, *says("Anew, ", "and whole.")])
    turn = await house.turn()
    async with asyncio.TaskGroup() as group:
        group.create_task(house.answer(turn))
        while len(house.provider.requests) < 2:
            await asyncio.sleep(0.001)
        assert house.view.text == LONG
        draft = await house.store.transcript.draft(turn.id)
        assert draft is not None and draft.text == LONG
        gate.set()
    assert house.view.text == "Anew, and whole."
    assert all(LONG not in str(message) for message in house.provider.requests[1].messages)


async def test_a_second_attempt_that_gets_less_far_does_not_cost_the_longer_text(make_house: MakeHouse) -> None:
    house = make_house([ModelText(LONG), StreamCut("cut")], [ModelText("Well"), StreamCut("cut")], [ProviderBusy("x")])
    house.chain[:] = house.chain[:1]
    assert await house.answer(await house.turn()) is StopReason.PROVIDER_UNAVAILABLE
    assert house.view.text == LONG
    (step,) = bodies(await rows_of(house), StepRow)
    assert isinstance(step, StepRow) and step.content == (TextBlock(LONG),)


async def test_after_a_restart_the_text_stays_when_no_model_can_be_reached(make_house: MakeHouse) -> None:
    house = make_house(*([ProviderBusy("x")] for _ in range(4)))
    turn = await house.turn()
    await house.store.transcript.write_draft(turn.id, 0, 0, LONG)
    assert await house.answer(turn) is StopReason.PROVIDER_UNAVAILABLE
    assert house.view.text == LONG


async def test_an_attempt_that_says_nothing_takes_nothing_back(make_house: MakeHouse) -> None:
    house = make_house([ModelText(LONG), StreamCut("cut")], says(), says())
    assert await house.answer(await house.turn()) is StopReason.PROVIDER_UNAVAILABLE
    assert house.view.text == LONG


async def test_an_attempt_that_calls_a_tool_or_declines_stands_for_itself(make_house: MakeHouse) -> None:
    house = make_house([ModelText(LONG), StreamCut("cut")], calls(SUM), says("391"))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == "391"
    house = make_house([ModelText(LONG), StreamCut("cut")], [ModelStop(ModelStopReason.REFUSED)])
    assert await house.answer(await house.turn("more", 2)) is StopReason.REFUSED
    assert house.view.text == ""


async def test_text_of_earlier_steps_and_their_tools_stay_when_a_later_step_is_written_anew(
    make_house: MakeHouse,
) -> None:
    house = make_house(calls(SUM, text="Let me see."), [ModelText("It is 3"), StreamCut("cut")], says("It is 391."))
    assert await house.answer(await house.turn()) is StopReason.ANSWERED
    assert house.view.text == "Let me see.\n\nIt is 391."
    assert [line.name for line in house.view.tools] == ["calculate"]
    assert any(isinstance(event, TextDelta) and event.text == "\n\nIt is 391." for event in house.events)


async def test_a_stop_while_the_next_attempt_is_silent_keeps_the_text(make_house: MakeHouse) -> None:
    house = make_house([ModelText(LONG), StreamCut("cut")], [asyncio.Event()])
    turn = await house.turn()
    task = asyncio.ensure_future(house.answer(turn))
    while len(house.provider.requests) < 2:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await house.brain.break_off(turn, StopReason.STOPPED, house.events.append)
    assert house.view.text == LONG
