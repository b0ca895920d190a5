"""Models that never stop asking for tools, over the wire: each ends within the documented number of calls, and is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from bot.brain.guards import BREAKER, POLLED, WITHOUT_PROGRESS
from bot.brain.limits import TurnLimits
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolContext, ToolResult, ToolSpec
from tests.providers.matrix import KINDS, house
from tests.sim.llm import LlmSim, answer, call

CALLS: Final = TurnLimits().tool_calls
WIDE: Final = TurnLimits(tool_calls=200)


class Told:
    """A tool that says what it is told to. Implements ``bot.core.ports.Tool``."""

    def __init__(self, name: str, say: Callable[[Mapping[str, Any]], str], effect: Effect = Effect.READ) -> None:
        self.spec = ToolSpec(name, name, {"type": "object"}, effect)
        self._say = say

    def check(self, args: Mapping[str, Any]) -> str:
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(self._say(args))


def poll() -> Callable[[Mapping[str, Any]], str]:
    """Nothing moves, but no two answers are the same."""
    looked = count()

    def say(args: Mapping[str, Any]) -> str:
        n = next(looked)
        return (
            f'{{"status": "pending", "request_id": "req_{n:04}AbC{n}xYz{n}Q", "checked_at": "2026-11-30T10:{n:02}:07.{n}Z",'
            f' "took": "{n}.5 ms", "ts": {1_764_500_000 + n}, "attempt": {n}}}'
        )

    return say


def grown(words: int) -> Callable[[Mapping[str, Any]], str]:
    lines: list[str] = []

    def say(args: Mapping[str, Any]) -> str:
        lines.append(f"line {len(lines)} of the log" + " and more" * words)
        return "\n".join(lines)

    return say


@dataclass(frozen=True, slots=True)
class Runaway:
    """``wanted`` are the calls that the model makes in turn, for ever, ``{n}`` being their number. ``ran`` is after how many
    it ends at most, ``said`` a word of what the person is told."""

    wanted: Sequence[tuple[str, str]]
    ran: int
    said: str = "brought nothing new"
    stop: StopReason = StopReason.LOOP
    limits: TurnLimits = WIDE


RUNAWAYS: Final[Mapping[str, Runaway]] = {
    "the same call": Runaway([("status", '{{"job": 1}}')], POLLED - 1),
    "a poll that only looks as if it moved": Runaway([("poll", '{{"job": 1}}')], POLLED - 1),
    "alternating": Runaway([("status", "{{}}"), ("nothing", "{{}}")], WITHOUT_PROGRESS),
    "b169 edits that change nothing": Runaway(
        [("edit_file", '{{"old": "a", "new": "a"}}'), ("read_file", "{{}}")], WITHOUT_PROGRESS
    ),
    "a cycle": Runaway([("status", "{{}}"), ("nothing", "{{}}"), ("poll", "{{}}")], WITHOUT_PROGRESS + 1),
    "new arguments, the same result": Runaway([("nothing", '{{"query": "cats {n}"}}')], WITHOUT_PROGRESS - 1),
    "new questions, repeated in the result": Runaway([("search", '{{"query": "cats {n}"}}')], WITHOUT_PROGRESS - 1),
    "two tools, always new arguments": Runaway(
        [("search", '{{"query": "cats {n}"}}'), ("nothing", '{{"query": "{n}"}}')], WITHOUT_PROGRESS
    ),
    "tools that do not exist": Runaway([("tool_{n}", "{{}}")], WITHOUT_PROGRESS - 1),
    "b174 an end that is no tool": Runaway([("finish", '{{"summary": "all done, {n}"}}')], WITHOUT_PROGRESS - 1),
    "output that grows": Runaway(
        [("log", "{{}}")], CALLS, "limit of 25 tool calls", StopReason.TOOL_LIMIT, TurnLimits()
    ),
    "output that grows, no limit of calls": Runaway(
        [("long_log", "{{}}")], 40, "token budget", StopReason.TOKEN_BUDGET, TurnLimits(tool_calls=200, tokens=60_000)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RUNAWAYS)
async def test_b169_b174_a_runaway_ends_within_the_documented_number_of_calls(
    name: str, kind: str, tmp_path: Path
) -> None:
    one = RUNAWAYS[name]
    tools = [
        Told("status", lambda args: "waiting"),
        Told("poll", poll()),
        Told("nothing", lambda args: "nothing found"),
        Told("search", lambda args: f"Nothing found for {args['query']!r}."),
        Told("edit_file", lambda args: "unchanged", Effect.WRITE),
        Told("read_file", lambda args: "a"),
        Told("log", grown(0)),
        Told("long_log", grown(40)),
    ]
    by_name = {tool.spec.name: tool for tool in tools}
    async with LlmSim() as sim, house(KINDS[kind], sim, tmp_path, tools=by_name, limits=one.limits) as home:
        for n in range(80):
            tool, arguments = one.wanted[n % len(one.wanted)]
            home.script(answer(call(f"c{n}", tool.format(n=n), (arguments.format(n=n),))))
        told = await home.ask()
        ran = [result for result in told.results if result.outcome != "blocked"]
        assert told.stop is one.stop
        assert len(ran) <= one.ran
        assert told.first <= BREAKER or one.stop is StopReason.TOKEN_BUDGET
        assert one.said in told.notices[-1]
        assert sim.violations == []
