"""A turn that is over spends nothing more, and neither does the work in the background of a chat that nobody uses."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.brain.compaction import TRIES
from bot.brain.guards import WITHOUT_PROGRESS
from bot.brain.limits import TurnLimits
from bot.core.errors import KeyRefused
from bot.core.inbound import CallerRequest
from bot.core.model import ModelText, ModelUsage, Usage
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from bot.core.transcript import ResultRow
from tests.brain.conftest import House, MakeHouse
from tests.brain.test_compaction import Writing
from tests.fakes.provider import calls, says

DAYS = 21
POLLS = DAYS * 48
"""One each half an hour."""


class Hanging:
    """A tool that comes to no end, with a child of its own. Implements ``bot.core.ports.Tool``."""

    def __init__(self, name: str) -> None:
        self.spec = ToolSpec(name, name, {"type": "object"}, Effect.READ)
        self.began, self.left = asyncio.Event(), False

    def check(self, args: Mapping[str, Any]) -> str:
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(asyncio.Event().wait())
                self.began.set()
        finally:
            self.left = True
        return ToolResult("never")


async def spent(house: House) -> tuple[int, int, int]:
    totals = await house.store.usage.since(0.0)
    return len(house.provider.requests), sum(t.input_tokens for t in totals), sum(t.output_tokens for t in totals)


async def test_b173_the_end_of_a_turn_is_the_end_of_all_its_tasks_and_of_its_spending(make_house: MakeHouse) -> None:
    hanging = {name: Hanging(name) for name in ("one", "two")}
    wanted = [ToolCall(name, name, {}) for name in hanging]
    house = make_house([ModelUsage(Usage(100, 10)), *calls(*wanted)], says("never"), tools=hanging)
    turn = await house.turn()
    before = asyncio.all_tasks()
    task = asyncio.ensure_future(house.answer(turn))
    await asyncio.gather(*(tool.began.wait() for tool in hanging.values()))
    assert len(asyncio.all_tasks()) > len(before) + 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await house.brain.break_off(turn, StopReason.STOPPED, house.events.append) is StopReason.STOPPED
    assert all(tool.left for tool in hanging.values())
    assert asyncio.all_tasks() == before
    then = await spent(house)
    await house.clock.advance(3600)
    assert await spent(house) == then == (1, 100, 10)


async def test_b173_a_model_that_is_cut_short_is_paid_for_once_and_asked_no_more(make_house: MakeHouse) -> None:
    house = make_house(
        [ModelUsage(Usage(50, 0)), ModelText("so far"), asyncio.Event()], limits=TurnLimits(seconds=0.05)
    )
    before = asyncio.all_tasks()
    assert await house.answer(await house.turn()) is StopReason.TIME_LIMIT
    assert asyncio.all_tasks() == before and house.provider.closed_early == 1
    then = await spent(house)
    await house.clock.advance(3600)
    assert await spent(house) == then and then[0] == 1


async def test_b171_a_chat_that_nobody_uses_costs_nothing_and_a_refused_key_is_not_asked_for_weeks(
    make_house: MakeHouse, caplog: pytest.LogCaptureFixture
) -> None:
    writing = Writing(make_house(), *([KeyRefused("401")] * 1 for _ in range(99)))
    await writing.talk(1, 28)
    asked, answered = len(writing.asked.requests), len(writing.house.provider.requests)
    assert asked == TRIES
    assert sum("is not summed up" in message for message in caplog.messages) == 1
    turn = replace(await writing.house.turn("over", 29), id="turn28")
    background = asyncio.ensure_future(writing.compaction.run())
    for _ in range(POLLS):
        await writing.house.clock.advance(1800)
    past = await writing.house.store.transcript.history(turn.address, 2**62, 400)
    for _ in range(9):
        await writing.compaction.consider(turn, past)
    await writing.house.clock.advance(1800)
    assert (len(writing.asked.requests), len(writing.house.provider.requests)) == (asked, answered)
    background.cancel()
    await asyncio.wait([background])


async def test_b174_a_tool_that_ends_the_turn_ends_it_at_its_first_call(make_house: MakeHouse) -> None:
    finish = ToolSpec("finish", "Ends the task.", {"type": "object"})
    house = make_house(*(calls(ToolCall(f"c{n}", "finish", {"summary": "done"})) for n in range(9)))
    turn = await house.turn()
    turn = replace(turn, message=replace(turn.message, caller=CallerRequest(tools=(finish,))))
    assert await house.answer(turn) is StopReason.CALLER_TOOLS
    assert len(house.provider.requests) == 1


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
async def test_b174_an_end_that_does_not_end_is_not_called_for_ever(
    make_house: MakeHouse, tmp_path: Path, effect: Effect
) -> None:
    class Finish(Hanging):
        async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
            return ToolResult("Finished.")

    tool = Finish("finish")
    tool.spec = replace(tool.spec, effect=effect)
    many = (calls(ToolCall(f"c{n}", "finish", {"summary": f"done, really, {n}"})) for n in range(810))
    house = make_house(*many, tools={"finish": tool}, approve={"*": "allow"})
    reason = await house.answer(await house.turn())
    ran = [row for row in await house.store.transcript.turn_rows("turn1") if isinstance(row.body, ResultRow)]
    if effect is Effect.READ:
        assert (reason, len(ran)) == (StopReason.LOOP, WITHOUT_PROGRESS)
    else:  # each changes something as far as anybody can tell: the cap on calls holds
        assert (reason, len(ran)) == (StopReason.TOOL_LIMIT, TurnLimits().tool_calls)
    assert house.view.notices
