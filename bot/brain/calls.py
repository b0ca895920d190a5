"""Running the calls of one step: checked, asked for, recorded before they run, each with one result."""

from __future__ import annotations

import asyncio
import difflib
import logging
import mimetypes
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from bot.brain.approvals import GRANTED, Approvals
from bot.brain.guards import Guards
from bot.brain.kept import KeptResults
from bot.brain.policy import Policy
from bot.brain.progress import summary_of
from bot.brain.taint import CLIENT, GROUP, QUOTE, Taint
from bot.brain.toolbox.box import Toolbox
from bot.brain.turn import Emit, Floor, Turn
from bot.core.errors import ToolFailed
from bot.core.events import ApprovalAsked, ApprovalDecided, Enclosed, ToolEnded, ToolStarted
from bot.core.ports import Clock, Tool
from bot.core.tasks import first_failure
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.tool import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from bot.core.transcript import ResultRow, Row
from bot.core.view import OutFile
from bot.store.store import Store

log = logging.getLogger(__name__)

SIDE_BY_SIDE: Final = 8
SOURCE_CHARS: Final = 120
"""Of a source's name, on a card."""
MOST_FILE_BYTES: Final = 50 * 1024 * 1024
"""What the most generous platform takes."""
UNKNOWN_OUTCOME: Final = (
    "Interrupted by a restart: whether it took effect is unknown. Do not simply repeat it; tell the person."
)
NOBODY_TO_ASK: Final = "This call needs a person's press, and nobody can be asked here. Answer without it."
BLOCKED: Final = (
    "This call was not run: the last {count} calls brought nothing new, and it would go on with them."
    " Answer now with what is known, and say what could not be done."
)


@dataclass(frozen=True, slots=True)
class Bench:
    """What calls are run with: the tools, where they work, and in which zone."""

    toolbox: Toolbox
    workspace: Path
    zone: str

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self.toolbox.tools


def _for(call: ToolCall, calls: Sequence[ToolCall], bounds: Bounds) -> Bounds:
    """What holds for one of the calls: the last of them carries the notice."""
    return bounds if call is calls[-1] else replace(bounds, notice="")


def _why(spec: ToolSpec, pattern: str, source: str, language: str) -> str:
    """The sentence on the card: what asks, and because of what."""
    effect = say(f"effect_{spec.effect.value}", language)
    if source:
        named = (
            say(f"outside_{source}", language) if source in (QUOTE, GROUP, CLIENT) else clipped(source, SOURCE_CHARS)
        )
        return say("asks_because_outside", language, effect=effect, source=named)
    key = "asks_because_rule" if pattern not in ("", "*") else "asks_because_effect"
    return say(key, language, effect=effect, rule=pattern)


Outcome = Literal["", "denied", "expired", "blocked", "interrupted"]
_RUN: Final[Outcome] = ""


class _NotRun(ToolFailed):
    """The call was not run, or not to its end: ``outcome`` says why."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(slots=True)
class _Wait:
    """How long a call waited for a person."""

    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the calls of one step are held to. ``notice`` is for the model to read with the last result, "" for none.
    ``hot`` are the tools that its prompt had, ``past`` the rows of the conversation before the turn."""

    guards: Guards
    notice: str = ""
    hot: Collection[str] = ()
    past: Sequence[Row] = ()


class CallRunner:
    def __init__(
        self, bench: Bench, policy: Policy, taint: Taint, approvals: Approvals, store: Store, clock: Clock
    ) -> None:
        self._bench, self._policy, self._approvals, self._store, self._clock = bench, policy, approvals, store, clock
        self._taint = taint
        self._results = KeptResults(store)

    async def run(self, turn: Turn, calls: Sequence[ToolCall], emit: Emit, floor: Floor, bounds: Bounds) -> float:
        """Give every call its result: calls that only read side by side, then the others one by one in order.

        Return the seconds spent waiting for a person.
        """
        started = await self._store.calls.started(turn.id)
        readers = [call for call in calls if self._only_reads(call)]
        gate = asyncio.Semaphore(SIDE_BY_SIDE)

        async def read(call: ToolCall) -> None:
            async with gate:
                await self._one(turn, call, emit, floor, started, _for(call, calls, bounds))

        try:
            async with asyncio.TaskGroup() as group:
                for call in readers:
                    group.create_task(read(call))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        waited = 0.0
        for call in calls:
            if call not in readers:
                waited += await self._one(turn, call, emit, floor, started, _for(call, calls, bounds))
        return waited

    def _only_reads(self, call: ToolCall) -> bool:
        tool = self._bench.tools.get(call.name)
        return tool is None or (tool.spec.effect is Effect.READ and self._policy.verdict(tool.spec)[0] == "allow")

    async def _one(
        self, turn: Turn, call: ToolCall, emit: Emit, floor: Floor, started: frozenset[str], bounds: Bounds
    ) -> float:
        begun = self._clock.monotonic()
        wait, outcome, source = _Wait(), _RUN, ""
        emit(ToolStarted(call.id, call.name, summary_of(call)))
        try:
            if still := bounds.guards.blocks(call):
                raise _NotRun(BLOCKED.format(count=still.count), "blocked")
            tool = self._checked(call, started)
            await self._permit(turn, call, tool, emit, floor, wait, bounds.past)
            result = await self._perform(turn, call, tool)
            source = (result.source or call.name) if tool.spec.untrusted_output else ""
            files = await self._kept(result.files)
        except ToolFailed as failure:
            result, files = ToolResult(str(failure), error=True), ()
            outcome = failure.outcome if isinstance(failure, _NotRun) else _RUN
        seconds = round(self._clock.monotonic() - begun - wait.seconds, 3)
        result = self._introducing(call, result, outcome, bounds)
        text, all_of_it = self._results.bounded(result.text, bounds.guards.chars)
        told = "\n".join(filter(None, (bounds.guards.record(call, text, result.error), bounds.notice)))
        whole = await self._results.keep(all_of_it)
        row = ResultRow(
            call.id, call.name, text, result.error, seconds, files, outcome, told, result.joins, whole, source
        )
        await self._store.transcript.result(turn.address, turn.id, self._clock.now(), row)
        emit(ToolEnded(call.id, seconds, result.error))
        if files:
            emit(Enclosed(self._store.files.located(files)))
        return wait.seconds

    def _introducing(self, call: ToolCall, result: ToolResult, outcome: Outcome, bounds: Bounds) -> ToolResult:
        """The result, and where it is that of a wrong guess at a tool the model has not seen, that tool with it."""
        if not result.error or outcome or call.name in bounds.hot or call.name not in self._bench.tools:
            return result
        told = f"{result.text}\n\n{self._bench.toolbox.introduction(call.name)}"
        return replace(result, text=told, joins=(call.name,))

    async def _kept(self, paths: Sequence[Path]) -> tuple[OutFile, ...]:
        """A copy of each file that a tool has for the person: what becomes of its own is the tool's business."""
        kept = []
        for path in paths:
            try:
                if await asyncio.to_thread(os.path.getsize, path) > MOST_FILE_BYTES:
                    raise ToolFailed(f"{path.name} is too large to be sent.")
                content = await asyncio.to_thread(path.read_bytes)
            except OSError as error:
                raise ToolFailed(f"{path.name} cannot be read: {error.strerror}.") from error
            media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            kept.append(OutFile(path.name, media_type, await self._store.files.keep(content)))
        return tuple(kept)

    def _checked(self, call: ToolCall, started: frozenset[str]) -> Tool:
        """The tool of a call that may be considered at all; raises ``ToolFailed`` in words for the model."""
        if call.invalid:
            raise ToolFailed(f"The call was not run: {call.invalid}. Send it again with complete arguments.")
        tool = self._bench.tools.get(call.name)
        if tool is None:
            near = difflib.get_close_matches(call.name, self._bench.tools, n=3)
            raise ToolFailed(
                f"There is no tool {call.name!r}. "
                + (f"Did you mean {', '.join(near)}?" if near else self._bench.toolbox.way_out)
            )
        wrong = tool.check(call.arguments)
        if wrong:
            raise ToolFailed(wrong)
        if call.id in started and not tool.spec.idempotent:
            raise _NotRun(UNKNOWN_OUTCOME, "interrupted")
        return tool

    async def _permit(
        self, turn: Turn, call: ToolCall, tool: Tool, emit: Emit, floor: Floor, wait: _Wait, past: Sequence[Row]
    ) -> None:
        """Return once the call may run; raise ``ToolFailed`` with the reason when it may not. The time that a person took
        is in ``wait`` either way."""
        spec = tool.spec
        verdict, pattern = self._policy.verdict(spec)
        if verdict == "deny":
            raise ToolFailed(f"The owner's rules do not allow {spec.name}.")
        source = await self._tainting(turn, call, spec, past)
        if not source and (verdict == "allow" or await self._approvals.permitted(spec.name, turn)):
            return
        if turn.message.caller is not None:
            raise _NotRun(NOBODY_TO_ASK, "denied")
        approval = await self._approvals.ask(turn, call, spec, _why(spec, pattern, source, turn.language))
        asked = self._clock.monotonic()
        if not approval.card.decision:
            emit(ApprovalAsked(approval.card))
            async with floor.parked():
                approval = await self._approvals.wait(approval)
                emit(ApprovalDecided(approval.card))
        else:
            emit(ApprovalDecided(approval.card))
        wait.seconds = self._clock.monotonic() - asked
        if approval.card.decision in GRANTED:
            return
        if approval.card.decision == "deny":
            raise _NotRun("The person denied this call. Do not try it again; ask what they want instead.", "denied")
        raise _NotRun("Nobody approved this call in time, so it was not run.", "expired")

    async def _tainting(self, turn: Turn, call: ToolCall, spec: ToolSpec, past: Sequence[Row]) -> str:
        """The source because of which the call must ask; what the turn read a moment ago counts."""
        if spec.effect is Effect.READ:
            return ""
        rows = [*past, *await self._store.transcript.turn_rows(turn.id)]
        return self._taint.source_of(call, spec, rows, turn.sender.identity)

    async def _perform(self, turn: Turn, call: ToolCall, tool: Tool) -> ToolResult:
        once = not tool.spec.idempotent
        if not await self._store.calls.start(turn.id, call, self._clock.now(), durable=once) and once:
            raise _NotRun(UNKNOWN_OUTCOME, "interrupted")
        context = ToolContext(
            turn=turn.id,
            call_id=call.id,
            address=turn.address,
            sender=turn.sender,
            now=self._clock.now(),
            zone=turn.zone or self._bench.zone,
            workspace=self._bench.workspace,
            earlier=partial(self._results.read, turn.address),
        )
        try:
            async with asyncio.timeout(tool.spec.timeout):
                return await tool.run(call.arguments, context)
        except TimeoutError as error:
            raise ToolFailed(f"{call.name} did not finish within {tool.spec.timeout:g} seconds.") from error
        except (ToolFailed, asyncio.CancelledError):
            raise
        except Exception as error:
            log.exception("turn %s: the tool %s broke", turn.id, call.name)
            raise ToolFailed(f"{call.name} failed because of a defect; it is in the log.") from error
