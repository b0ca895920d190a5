"""The loop of one turn: steps and calls until the model has answered, resumed from the transcript at any point."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.brain.approvals import Approvals
from bot.brain.calls import Bench, CallRunner
from bot.brain.files import is_unreadable, pictures_of, told
from bot.brain.history import NO_PICTURES
from bot.brain.policy import Policy
from bot.brain.progress import Progress, calls_of, joined, progress_of, text_of
from bot.brain.prompt import Persona, request_for
from bot.brain.step import ModelSteps, StepFailed
from bot.brain.turn import Emit, Floor, Turn
from bot.core.address import Address
from bot.core.errors import ContextTooLong, ModelMissing, ModelNotHere
from bot.core.events import Notice, Resumed, TurnEnded
from bot.core.faults import fault_sentence, until_words
from bot.core.model import CallBlock, ModelRef, ModelRequest, ModelStopReason, TextBlock, ThinkingBlock
from bot.core.ports import Clock, Provider
from bot.core.stop import StopReason
from bot.core.texts import say
from bot.core.tool import Effect, ToolCall, ToolSpec
from bot.core.transcript import EndRow, GivenRow, KeptFile, ResultRow, RevisedRow, Row, StepRow, UserRow
from bot.store.store import Store
from bot.store.transcript import Draft, Opening

log = logging.getLogger(__name__)

HISTORY_ROWS: Final = 400
_UNSEEN: Final = re.compile(r"[\s`~\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
"""An answer of nothing else shows nothing: empty fences, blanks, characters without a shape."""
EMPTY_TRIES: Final = 2


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Bounds of one turn; ``seconds`` leaves out the time spent waiting for a person."""

    tool_calls: int = 25
    tokens: int = 200_000
    seconds: float = 900.0


ChooseChain = Callable[[Turn], Sequence[ModelRef]]


@dataclass(frozen=True, slots=True)
class Ending:
    """``step`` is what was shown of a step that will not be finished: its row is written with the end, at once."""

    reason: StopReason
    text: str = ""
    reference: str = ""
    calls: tuple[ToolCall, ...] = ()
    step: StepRow | None = None


class Brain:
    """Answers turns. ``chain`` chooses the models of a turn, the first wanted most; ``persona`` reads SOUL.md anew."""

    def __init__(
        self,
        *,
        provider: Provider,
        chain: ChooseChain,
        persona: Callable[[], Persona],
        bench: Bench,
        policy: Policy,
        approvals: Approvals,
        store: Store,
        clock: Clock,
        limits: TurnLimits,
    ) -> None:
        self._chain, self._persona, self._bench, self._policy = chain, persona, bench, policy
        self._store, self._clock, self._limits, self._approvals = store, clock, limits, approvals
        self._steps = ModelSteps(provider, store, clock)
        self._calls = CallRunner(bench, policy, approvals, store, clock)

    async def answer(self, turn: Turn, emit: Emit, floor: Floor, opening: Opening) -> StopReason:
        """Answer the turn, from wherever its rows say it stands, and write its end. Raises ``StoreError`` only.

        ``opening`` is what its beginning brought: of a turn that had begun before, nothing.
        """
        rows, draft, past = opening.rows, None, opening.past
        if not rows:
            rows, draft = await self._store.transcript.standing(turn.id)
            past = await self._store.transcript.history(turn.address, rows[0].id if rows else 0, HISTORY_ROWS)
        progress = progress_of(rows)
        if progress.end is not None:
            return await self._show_again(turn, rows, progress, progress.end, emit)
        if draft is not None or progress.steps:
            text = joined((progress.text, draft.text)) if draft else progress.text
            emit(await self._resumed(turn, progress, text))
        ending = await self._until_ended(turn, emit, floor, past, rows, draft)
        return await self.end(turn, ending, emit)

    async def end(self, turn: Turn, ending: Ending, emit: Emit) -> StopReason:
        """Write the end row and tell the view. Questions that are still open become void."""
        text = ending.text or say(
            f"end_{ending.reason.value}",
            turn.language,
            limit=self._limit_of(ending.reason),
            reference=ending.reference,
            how=say("get_model", turn.language),
        )
        rows = (ending.step,) if ending.step is not None else ()
        end = EndRow(ending.reason, text, ending.reference)
        await self._store.transcript.append(turn.address, turn.id, self._clock.now(), *rows, end)
        emit(TurnEnded(ending.reason, text, ending.calls))
        return ending.reason

    async def may_restart(self, turn_id: str) -> bool:
        """Whether nobody would notice: nothing with an effect was let loose, and no text is sealed."""
        if await self._store.parts.sealed_to(turn_id):
            return False
        rows = await self._store.transcript.turn_rows(turn_id)
        started = await self._store.calls.started(turn_id)
        names = {
            call.name
            for row in rows
            if isinstance(row.body, StepRow)
            for call in calls_of(row.body)
            if call.id in started
        }
        reads = {name for name, tool in self._bench.tools.items() if tool.spec.effect is Effect.READ}
        return names <= reads and not any(isinstance(row.body, EndRow) for row in rows)

    async def revise(self, address: Address, turn_id: str, message_id: str, text: str) -> bool:
        """Let the turn begin anew with what one of its messages reads now, if it may restart. It must not be running."""
        await self._store.database.settled()  # what it was writing when it was cancelled
        if not await self.may_restart(turn_id):
            return False
        if await self._store.transcript.turn_rows(turn_id):
            await self._store.transcript.append(address, turn_id, self._clock.now(), RevisedRow(text, message_id))
        return True

    async def break_off(self, turn: Turn, reason: StopReason, emit: Emit, reference: str = "") -> StopReason:
        """End a turn that was cancelled or broke: keep the partial text, close open calls, say why."""
        await self._store.database.settled()  # what it was writing when it was cancelled
        progress = progress_of(rows := await self._store.transcript.turn_rows(turn.id))
        if progress.end is not None:
            return await self._show_again(turn, rows, progress, progress.end, emit)
        draft = await self._store.transcript.draft(turn.id)
        if draft is not None:
            await self._store.transcript.append(turn.address, turn.id, self._clock.now(), _broken_off(draft))
        started = await self._store.calls.started(turn.id)
        for call in progress.open_calls:
            words = (
                "Stopped while it ran: whether it took effect is unknown."
                if call.id in started
                else "Stopped before it ran."
            )
            await self._store.transcript.result(
                turn.address, turn.id, self._clock.now(), ResultRow(call.id, call.name, words, error=True)
            )
        await self._approvals.void(turn.id)
        progress = progress_of(rows := await self._store.transcript.turn_rows(turn.id))
        self._tell(turn, rows, emit)
        emit(await self._resumed(turn, progress, progress.text))
        return await self.end(turn, Ending(reason, reference=reference), emit)

    async def _show_again(
        self, turn: Turn, rows: Sequence[Row], progress: Progress, end: EndRow, emit: Emit
    ) -> StopReason:
        if end.reason is not StopReason.UNREADABLE:  # its own sentence says all there is to say of the files
            self._tell(turn, rows, emit)
        emit(await self._resumed(turn, progress, progress.text))
        emit(TurnEnded(end.reason, end.text, self._split(turn, progress.open_calls)[1]))
        return end.reason

    def _tell(self, turn: Turn, rows: Sequence[Row], emit: Emit) -> None:
        """What the person has to know of the files that came along."""
        chain = self._chain(turn)
        for sentence in told(rows, turn.language, sees=bool(chain) and chain[0].vision):
            emit(Notice(sentence))

    async def _resumed(self, turn: Turn, progress: Progress, text: str) -> Resumed:
        """With the cards of calls that still hold."""
        calls = {line.call_id for line in progress.tools}
        found = await self._store.approvals.of_turn(turn.id)
        cards = tuple(approval.card for approval in found if approval.card.call_id in calls)
        return Resumed(text, progress.tools, cards, self._store.files.located(progress.files))

    async def _until_ended(
        self, turn: Turn, emit: Emit, floor: Floor, past: Sequence[Row], known: Sequence[Row], draft: Draft | None
    ) -> Ending:
        """``past`` is what came before the turn, ``known`` its own rows so far."""
        began = self._clock.monotonic()
        waited = 0.0
        empty = 0
        while True:
            rows, known = known or await self._store.transcript.turn_rows(turn.id), ()
            progress = progress_of(rows)
            own, foreign = self._split(turn, progress.open_calls)
            if own:
                waited += await self._calls.run(turn, own, emit, floor)
                continue
            if foreign:
                return Ending(StopReason.CALLER_TOOLS, calls=foreign)
            if not progress.fresh_input:
                ending = self._finished(turn, progress, rows)
                empty += 1
                if ending is not None or empty >= EMPTY_TRIES:
                    spent = progress.calls_made >= self._limits.tool_calls
                    return ending or Ending(StopReason.TOOL_LIMIT if spent else StopReason.EMPTY)
            elif await floor.steer(progress.steps == 0):
                continue
            if sum(_tokens(row) for row in rows) >= self._limits.tokens:
                return Ending(StopReason.TOKEN_BUDGET)
            left = self._limits.seconds - (self._clock.monotonic() - began - waited)
            done = await self._step(turn, emit, past, rows, progress, draft, left)
            draft = None
            if isinstance(done, Ending):
                return done
            known = [*rows, *done]

    def _finished(self, turn: Turn, progress: Progress, rows: Sequence[Row]) -> Ending | None:
        """How the turn ends after its last step; None when that step said nothing at all."""
        last = next((row.body for row in reversed(rows) if isinstance(row.body, StepRow)), None)
        if progress.last_stop == ModelStopReason.REFUSED:
            return Ending(StopReason.REFUSED)
        if progress.last_stop == ModelStopReason.MAX_TOKENS:
            return Ending(StopReason.TRUNCATED)
        if progress.last_stop == ModelStopReason.CONTEXT_FULL:
            return Ending(StopReason.CONTEXT_OVERFLOW)
        if last is None or not _UNSEEN.sub("", text_of(last)):
            return None
        if progress.calls_made >= self._limits.tool_calls:
            return Ending(StopReason.TOOL_LIMIT)
        why = say(f"instead_{last.fault}", turn.language, wanted=last.wanted, model=last.model) if last.fault else ""
        return Ending(StopReason.ANSWERED, why)

    async def _step(
        self,
        turn: Turn,
        emit: Emit,
        past: Sequence[Row],
        rows: Sequence[Row],
        progress: Progress,
        draft: Draft | None,
        left: float,
    ) -> Ending | Sequence[Row]:
        """The rows that one model call added, or the end of the turn."""
        chain = self._chain(turn)
        if not chain:
            return Ending(StopReason.NO_MODEL)
        if progress.steps == 0 and is_unreadable(rows, sees=chain[0].vision):
            return Ending(StopReason.UNREADABLE, "\n\n".join(told(rows, turn.language, sees=chain[0].vision)))
        self._tell(turn, rows, emit)
        sees = any(model.vision for model in chain)
        pictures = await pictures_of(rows, self._store.files) if sees else NO_PICTURES
        persona = self._persona()
        calls_left = max(0, self._limits.tool_calls - progress.calls_made)

        def build(model: ModelRef, unfinished: str) -> ModelRequest:
            return request_for(
                turn,
                model,
                persona,
                history=past,
                rows=rows,
                tools=self._specs(turn),
                at=rows[0].at,
                zone=turn.zone or self._bench.zone,
                unfinished=unfinished,
                no_more_tools=calls_left == 0,
                pictures=pictures,
            )

        try:
            async with asyncio.timeout(max(0.0, left)):
                step = await self._steps.run(
                    turn, chain, build, draft or Draft(progress.steps), progress.text, progress.tools, emit
                )
        except TimeoutError:
            unfinished = await self._store.transcript.draft(turn.id)
            return Ending(StopReason.TIME_LIMIT, step=_broken_off(unfinished) if unfinished is not None else None)
        except StepFailed as failed:
            return replace(self._unavailable(turn, failed), step=failed.partial)
        step = _with_unique_ids(step, rows)
        beyond = [block for block in step.content if isinstance(block, CallBlock)][calls_left:]
        step = replace(step, content=tuple(block for block in step.content if block not in beyond))
        return await self._store.transcript.append(turn.address, turn.id, self._clock.now(), step)

    def _unavailable(self, turn: Turn, failed: StepFailed) -> Ending:
        """What is told is what the first model of the chain met: that is what the owner wants mended."""
        reference = secrets.token_hex(3)
        model, cause = failed.model, failed.cause
        log.error(
            "turn %s: no model answered, reference %s: %s from %s", turn.id, reference, type(cause).__name__, model
        )
        match cause:
            case ContextTooLong():
                return Ending(StopReason.CONTEXT_OVERFLOW, reference=reference)
            case ModelNotHere():
                return Ending(StopReason.NO_MODEL, reference=reference)
        until = until_words(cause.retry_after, self._clock.now(), turn.zone or self._bench.zone)
        why = fault_sentence(type(cause), turn.language, provider=model.provider, model=model.model, until=until)
        reason = StopReason.NO_MODEL if isinstance(cause, ModelMissing) else StopReason.PROVIDER_UNAVAILABLE
        return Ending(reason, say("with_reference", turn.language, told=why, reference=reference), reference)

    def _specs(self, turn: Turn) -> tuple[ToolSpec, ...]:
        """Our tools and, for an API client, its own beside those of ours that need no press: nobody could be asked."""
        caller = turn.message.caller
        ours = [tool.spec for tool in self._bench.tools.values()]
        if caller is None:
            return tuple(ours)
        theirs = {tool.name for tool in caller.tools}
        free = (spec for spec in ours if spec.name not in theirs and self._policy.verdict(spec)[0] == "allow")
        return (*free, *caller.tools)

    def _split(self, turn: Turn, calls: Sequence[ToolCall]) -> tuple[list[ToolCall], tuple[ToolCall, ...]]:
        """Our calls, and those of the API client's own tools (which end the turn and are handed back)."""
        caller = turn.message.caller
        names = {tool.name for tool in caller.tools} if caller else set()
        foreign = tuple(call for call in calls if call.name in names and not call.invalid)
        return [call for call in calls if call not in foreign], foreign

    def _limit_of(self, reason: StopReason) -> str:
        match reason:
            case StopReason.TOKEN_BUDGET:
                return f"{self._limits.tokens}"
            case StopReason.TIME_LIMIT:
                return f"{self._limits.seconds:g}"
        return f"{self._limits.tool_calls}"


def opening_rows(turn: Turn, files: Sequence[KeptFile] = ()) -> tuple[GivenRow | UserRow, ...]:
    """The rows a turn begins with: what an API client brought along, and what the person wrote and sent with it."""
    message = turn.message
    given = (GivenRow(message.caller.history),) if message.caller is not None else ()
    said = (
        (UserRow(message.text, message.sender, message.id, message.quote, again=message.again, files=tuple(files)),)
        if message.text or files or message.caller is None
        else ()
    )
    return (*given, *said)


def _broken_off(draft: Draft) -> StepRow:
    return StepRow(draft.step, (TextBlock(draft.text),), "", "")


def _tokens(row: Row) -> int:
    return row.body.usage.input_tokens + row.body.usage.output_tokens if isinstance(row.body, StepRow) else 0


def _with_unique_ids(step: StepRow, rows: Sequence[Row]) -> StepRow:
    """Vendors that number their calls anew in every step must not make two calls of a turn look like one."""
    used = {
        block.call.id
        for row in rows
        if isinstance(row.body, StepRow)
        for block in row.body.content
        if isinstance(block, CallBlock)
    }
    content: list[TextBlock | ThinkingBlock | CallBlock] = []
    for block in step.content:
        if isinstance(block, CallBlock):
            call_id = block.call.id or "call"
            while call_id in used:
                call_id = f"{call_id}_{step.step}"
            used.add(call_id)
            content.append(CallBlock(replace(block.call, id=call_id)))
        else:
            content.append(block)
    return replace(step, content=tuple(content))
