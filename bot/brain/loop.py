"""The loop of one turn: steps and calls until the model has answered, resumed from the transcript at any point."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Final

from bot.brain.approvals import Approvals
from bot.brain.budget import Gauge
from bot.brain.calls import Bench, Bounds, CallRunner
from bot.brain.endings import Ending, Opened, Stand, finished, given_up, sentence_of, silent, spent, unavailable
from bot.brain.files import is_unreadable, pictures_of, told
from bot.brain.guards import Guards
from bot.brain.history import NO_PICTURES
from bot.brain.limits import TurnLimits, running_out, with_raised_output
from bot.brain.opening import Openings
from bot.brain.policy import Policy
from bot.brain.progress import Progress, calls_of, progress_of
from bot.brain.prompt import WINDOW_TOKENS, Persona, fixed_words, request_for
from bot.brain.purse import Purse
from bot.brain.routing.course import Routes, public, route_in, why_none
from bot.brain.skills.active import Skills
from bot.brain.step import BuildRequest, ModelSteps, StepFailed, with_unique_ids
from bot.brain.taint import Taint
from bot.brain.toolbox.joined import joined_in
from bot.brain.toolbox.offer import Offer, split
from bot.brain.turn import Emit, Floor, Turn
from bot.core.address import Address
from bot.core.events import Notice, Resumed, TurnEnded
from bot.core.model import CallBlock, ModelRef, ModelRequest, TextBlock
from bot.core.ports import Clock, Provider
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall
from bot.core.transcript import (
    Because,
    EndRow,
    GivenRow,
    KeptFile,
    ResultRow,
    RevisedRow,
    RouteRow,
    Row,
    StepRow,
    UserRow,
    user_row,
)
from bot.store.store import Store
from bot.store.transcript import Draft, Opening

log = logging.getLogger(__name__)

HISTORY_ROWS: Final = 400
EMPTY_TRIES: Final = 2
SMALLER_SHARE: Final = 0.5
"""Of the window, when a vendor found the prompt too long: estimates were too low, or the window is not what was thought."""
LIMIT_REACHED: Final = (
    "The limit of tool calls for this turn is reached. Answer now with what is known,"
    " and say that the limit was reached."
)
STANDSTILL: Final = (
    "No more tools can be called in this turn: the last {count} calls brought nothing new."
    " Answer now with what is known, and say what could not be found out."
)


async def _nothing(turn: Turn, past: Sequence[Row]) -> None:
    return


class Brain:
    """Answers turns. ``routes`` chooses the models of a turn; ``persona`` reads SOUL.md anew; ``consider`` is told of a turn
    that has ended, with what came before it."""

    def __init__(
        self,
        *,
        provider: Provider,
        routes: Routes,
        persona: Callable[[], Persona],
        bench: Bench,
        policy: Policy,
        approvals: Approvals,
        store: Store,
        clock: Clock,
        limits: TurnLimits,
        purse: Purse,
        skills: Skills,
        consider: Callable[[Turn, Sequence[Row]], Awaitable[None]] = _nothing,
        gauge: Gauge | None = None,
        taint: Taint | None = None,
    ) -> None:
        self._consider = consider
        self._routes, self._persona, self._bench = routes, persona, bench
        self._store, self._clock, self._limits, self._approvals = store, clock, limits, approvals
        self._purse, self._skills = purse, skills
        self._gauge = gauge or Gauge()
        self._offer = Offer(bench.toolbox, policy)
        self._openings = Openings(routes, skills, bench.toolbox, self._offer, self._gauge)
        self._steps = ModelSteps(provider, store, clock, purse, self._gauge)
        self._calls = CallRunner(bench, policy, taint or Taint(), approvals, store, clock)

    async def answer(self, turn: Turn, emit: Emit, floor: Floor, opening: Opening) -> StopReason:
        """Answer the turn, from wherever its rows say it stands, and write its end. Raises ``StoreError`` only.

        ``opening`` is what its beginning brought: of a turn that had begun before, nothing.
        """
        await self._gauge.load()
        rows, draft, past = opening.rows, None, opening.past
        if not rows:
            rows, draft = await self._store.transcript.standing(turn.id)
            past = await self._store.transcript.history(turn.address, rows[0].id if rows else 0, HISTORY_ROWS)
        progress = progress_of(rows)
        if progress.end is not None:
            return await self._show_again(turn, rows, progress, progress.end, emit)
        if draft is not None or progress.steps:
            emit(await self._resumed(turn, progress, progress.with_next(draft.text if draft else "")))
        ending = await self._until_ended(turn, emit, floor, past, rows, draft)
        reason = await self.end(turn, ending, emit)
        await self._consider(turn, past)
        return reason

    async def end(self, turn: Turn, ending: Ending, emit: Emit) -> StopReason:
        """Write the end row and tell the view. Questions that are still open become void."""
        text = sentence_of(ending, turn, self._limits)
        rows = [*ending.opening, *([ending.step] if ending.step is not None else [])]
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
            broken = _broken_off(draft, _because(progress, rows))
            await self._store.transcript.append(turn.address, turn.id, self._clock.now(), broken)
        started = await self._store.calls.started(turn.id)
        if reason is StopReason.STOPPED and any(map(self._may_have_acted, progress.open_calls, repeat(started))):
            reason = StopReason.TOOL_INTERRUPTED
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
        await self._tell(turn, rows, emit)
        emit(await self._resumed(turn, progress, progress.text))
        return await self.end(turn, Ending(reason, reference=reference), emit)

    def _may_have_acted(self, call: ToolCall, started: frozenset[str]) -> bool:
        tool = self._bench.tools.get(call.name)
        return call.id in started and tool is not None and tool.spec.effect is not Effect.READ

    async def _show_again(
        self, turn: Turn, rows: Sequence[Row], progress: Progress, end: EndRow, emit: Emit
    ) -> StopReason:
        if end.reason is not StopReason.UNREADABLE:  # its own sentence says all there is to say of the files
            await self._tell(turn, rows, emit)
        emit(await self._resumed(turn, progress, progress.text))
        emit(TurnEnded(end.reason, end.text, split(turn, progress.open_calls)[1]))
        return end.reason

    async def _tell(self, turn: Turn, rows: Sequence[Row], emit: Emit) -> None:
        """What the person has to know of the files that came along."""
        chain = self._routes.models(turn, route_in(rows) or await self._routes.route(turn, rows))
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
        share = 1.0
        while True:
            rows, known = known or await self._store.transcript.turn_rows(turn.id), ()
            stand = Stand(rows, progress_of(rows), Guards(rows, self._bench.tools))
            own, foreign = split(turn, stand.progress.open_calls)
            if own:
                hot = self._bench.toolbox.at_hand(joined_in([*past, *rows]).tools)
                bounds = Bounds(stand.guards, running_out(rows, self._limits.tokens), hot, past)
                waited += await self._calls.run(turn, own, emit, floor, bounds)
                continue
            if foreign:
                return Ending(StopReason.CALLER_TOOLS, calls=foreign)
            if ending := given_up(stand):
                return ending
            if not stand.progress.fresh_input:
                if ending := finished(turn, stand, self._limits):
                    return ending
                if stand.progress.filled_window:
                    if share < 1.0:
                        return Ending(StopReason.TRUNCATED)
                    share = SMALLER_SHARE
                empty += not stand.progress.is_cut
                if empty >= EMPTY_TRIES:
                    return Ending(silent(stand, self._limits))
            elif await floor.steer(stand.progress.steps == 0):
                continue
            if ending := spent(rows, self._limits):
                return ending
            left = self._limits.seconds - (self._clock.monotonic() - began - waited)
            opening = await self._openings.of(turn, past, rows)
            done = await self._step(turn, emit, past, stand, opening, draft, left, share)
            draft = None
            if isinstance(done, Ending):
                if done.reason is StopReason.CONTEXT_OVERFLOW and share == 1.0 and (past or len(rows) > 1):
                    share = SMALLER_SHARE
                    continue
                return replace(done, opening=opening)
            now = self._clock.now()
            known = [*rows, *await self._store.transcript.append(turn.address, turn.id, now, *opening, done)]

    async def _step(
        self,
        turn: Turn,
        emit: Emit,
        past: Sequence[Row],
        stand: Stand,
        opening: Opened,
        draft: Draft | None,
        left: float,
        share: float,
    ) -> Ending | StepRow:
        """What one model call said, or the end of the turn. ``opening`` is not written yet; ``share`` of the window is
        used."""
        rows, progress = stand.rows, stand.progress
        route = next(body for body in (*opening, route_in(rows)) if isinstance(body, RouteRow))
        chain = self._routes.models(turn, route)
        if not chain:
            return Ending(StopReason.NO_MODEL, why_none(route, turn.language))
        allowed = await self._purse.look(turn.sender.identity, chain, turn.language)
        if allowed.refusal:
            return Ending(StopReason.MONEY, allowed.refusal)
        chain = allowed.models
        if progress.steps == 0 and is_unreadable(rows, sees=chain[0].vision):
            return Ending(StopReason.UNREADABLE, "\n\n".join(told(rows, turn.language, sees=chain[0].vision)))
        for sentence in told(rows, turn.language, sees=chain[0].vision):
            emit(Notice(sentence))
        if allowed.notice:
            emit(Notice(allowed.notice))
        build = await self._builder(turn, past, stand, opening, share, sees=any(model.vision for model in chain))
        because = _because(progress, rows) if share == 1.0 or progress.is_cut else "compaction"
        try:
            async with asyncio.timeout(max(0.0, left)):
                step = await self._steps.run(turn, chain, build, draft or Draft(progress.steps), progress, emit)
        except TimeoutError:
            unfinished = await self._store.transcript.draft(turn.id)
            return Ending(StopReason.TIME_LIMIT, step=_broken_off(unfinished, because) if unfinished else None)
        except StepFailed as failed:
            ending = unavailable(turn, failed, self._clock.now(), turn.zone or self._bench.zone)
            if ending.reason is StopReason.CONTEXT_OVERFLOW:
                reason = ending.reason if share == 1.0 else StopReason.COMPACTED_OVERFLOW
                ending = replace(ending, reason=reason, limit=self._fixed(turn, build(chain[0], "")))
            return replace(ending, step=replace(failed.partial, because=because))
        step = replace(with_unique_ids(step, rows), because=because)
        beyond = [block for block in step.content if isinstance(block, CallBlock)][self._calls_left(stand) :]
        return replace(step, content=tuple(block for block in step.content if block not in beyond))

    async def _builder(
        self, turn: Turn, past: Sequence[Row], stand: Stand, opening: Opened, share: float, *, sees: bool
    ) -> BuildRequest:
        """What makes the request to a model of the next step."""
        progress, blocked = stand.progress, stand.guards.blocked
        rows = [*stand.rows, *(Row(0, turn.address, turn.id, stand.rows[0].at, body) for body in opening)]
        joined = joined_in([*past, *rows])
        guides = [guide for name in joined.skills if (guide := self._skills.guide(name)) is not None]
        pictures = await pictures_of(stand.rows, self._store.files) if sees else NO_PICTURES
        persona = self._persona()
        no_more_tools = STANDSTILL.format(count=blocked.count) if blocked else LIMIT_REACHED

        def build(model: ModelRef, unfinished: str) -> ModelRequest:
            tools = self._offer.specs(turn, joined.tools, model.window_tokens or WINDOW_TOKENS)
            request = request_for(
                turn,
                with_raised_output(model, progress.cuts, model.window_tokens or WINDOW_TOKENS),
                persona,
                history=past if self._routes.near(model) else public(past),
                rows=rows,
                tools=tools,
                skills=guides,
                at=rows[0].at,
                zone=turn.zone or self._bench.zone,
                unfinished=unfinished,
                continues=progress.is_cut,
                no_more_tools="" if self._calls_left(stand) else no_more_tools,
                pictures=pictures,
                share=share,
                scale=self._gauge.scale(model),
            )
            return replace(request, lasting_tools=self._offer.lasting(turn, tools))

        return build

    def _fixed(self, turn: Turn, request: ModelRequest) -> str:
        return fixed_words(request, turn.language, self._gauge.ratio(request.model))

    def _calls_left(self, stand: Stand) -> int:
        return 0 if stand.guards.blocked else max(0, self._limits.tool_calls - stand.progress.calls_made)


def opening_rows(turn: Turn, files: Sequence[KeptFile] = ()) -> tuple[GivenRow | UserRow, ...]:
    """The rows a turn begins with: what an API client brought along, and what the person wrote and sent with it."""
    message = turn.message
    given = (GivenRow(message.caller.history),) if message.caller is not None else ()
    said = (user_row(message, files),) if message.text or files or message.caller is None else ()
    return (*given, *said)


def _broken_off(draft: Draft, because: Because) -> StepRow:
    return StepRow(draft.step, (TextBlock(draft.text),), "", "", because=because)


def _because(progress: Progress, rows: Sequence[Row]) -> Because:
    """Why the model is asked now."""
    if progress.steps == 0:
        return "answer"
    if not progress.fresh_input:
        return "continuation" if progress.is_cut else "retry"
    return "tools" if isinstance(rows[-1].body, ResultRow) else "steering"
