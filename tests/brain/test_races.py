"""Stops that meet a write on its way: nothing is written twice, nothing ends unseen."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bot.brain.limits import TurnLimits
from bot.brain.turn import Turn
from bot.core.inbound import CallerRequest, UserMessage
from bot.core.model import ModelStop, ModelStopReason, ModelText
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall, ToolSpec
from bot.core.transcript import EndRow, ResultRow
from tests.brain.conftest import HERE, OWNER, MakeHouse
from tests.brain.test_loop import bodies, rows_of
from tests.fakes.provider import calls, says


async def test_a_stop_while_the_last_step_is_being_written_keeps_it_once(make_house: MakeHouse) -> None:
    gate, hold = asyncio.Event(), threading.Event()
    house = make_house([ModelText("Once."), gate, ModelStop(ModelStopReason.END)])
    turn = await house.turn()
    task = asyncio.ensure_future(house.answer(turn))
    async with asyncio.timeout(5):
        while "Once." not in house.view.text:
            await asyncio.sleep(0.002)
    busy = asyncio.ensure_future(house.store.database._writer.run(lambda db: hold.wait(5)))
    gate.set()
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ending = asyncio.ensure_future(house.brain.break_off(turn, StopReason.STOPPED, house.events.append))
    await asyncio.sleep(0.02)
    hold.set()
    await busy
    await ending
    assert house.view.text == "Once." and house.view.final
    assert len(bodies(await rows_of(house), EndRow)) == 1
    assert await house.store.transcript.draft(turn.id) is None


async def test_breaking_off_a_turn_that_has_just_ended_shows_its_end(make_house: MakeHouse) -> None:
    house = make_house(says("done"))
    turn = await house.turn()
    await house.answer(turn)
    house.events.clear()
    assert await house.brain.break_off(turn, StopReason.STOPPED, house.events.append) is StopReason.ANSWERED
    assert house.view.text == "done" and house.view.final


async def test_one_step_cannot_ask_for_more_calls_than_a_turn_may_make(make_house: MakeHouse) -> None:
    many = [ToolCall(f"c{n}", "calculate", {"expression": "1+1"}) for n in range(7)]
    house = make_house(calls(*many), says("enough"), limits=TurnLimits(tool_calls=3))
    assert await house.answer(await house.turn()) is StopReason.TOOL_LIMIT
    assert len(bodies(await rows_of(house), ResultRow)) == 3


async def test_a_clients_tool_with_the_name_of_ours_takes_its_place(make_house: MakeHouse) -> None:
    theirs = ToolSpec("now", "the client's own", {"type": "object"}, Effect.READ)
    house = make_house(says("ok"))
    said = UserMessage("1", HERE, OWNER, "hi", 1.0, caller=CallerRequest(tools=(theirs,)))
    turn = Turn("turn1", said, "en")
    row = (await house.store.inbox.record(said, turn.id, 1.0)).row
    from bot.brain.loop import opening_rows

    await house.store.transcript.begin(row.id, HERE, turn.id, 1.0, *opening_rows(turn))
    await house.answer(turn)
    names = [tool.name for tool in house.provider.requests[0].tools]
    assert len(names) == len(set(names)) and theirs in house.provider.requests[0].tools
