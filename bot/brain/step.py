"""One model call: over the chain of models, its text stored and shown as it grows, never doubled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from bot.brain.budget import Gauge
from bot.brain.draft import DraftWriter
from bot.brain.progress import Progress
from bot.brain.purse import Purse
from bot.brain.shown_prompt import as_json
from bot.brain.spent import Spent
from bot.brain.turn import Emit, Turn
from bot.brain.walk import Walk
from bot.core.errors import (
    ContentRefused,
    ContextTooLong,
    KeyRefused,
    ModelMissing,
    ModelResting,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderUnreachable,
    RequestRefused,
    StoreError,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.events import Notice, Resumed, TextDelta, ThinkingStarted
from bot.core.model import (
    CallBlock,
    ImageBlock,
    ModelCall,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelThought,
    TextBlock,
    ThinkingBlock,
    Usage,
)
from bot.core.ports import Clock, Provider
from bot.core.tasks import alongside
from bot.core.texts import say
from bot.core.tool import ToolCall
from bot.core.transcript import Fault, Row, StepRow
from bot.core.view import ApprovalCard
from bot.store.prompts import Prompt
from bot.store.store import Store
from bot.store.transcript import Draft

log = logging.getLogger(__name__)

BILL_SECONDS: Final = 0.5
"""How long a turn that is being stopped may take to note what the broken answer cost."""

_FAULTS: Final[Mapping[type, Fault]] = {
    KeyRefused: "key_refused",
    NoCredit: "no_credit",
    ModelMissing: "model_missing",
    RequestRefused: "request_refused",
    ContextTooLong: "too_long",
    ProviderBusy: "busy",
    ProviderUnreachable: "unreachable",
    StreamStalled: "stalled",
    StreamCut: "cut",
    StreamGarbled: "garbled",
}
BuildRequest = Callable[[ModelRef, str], ModelRequest]


class StepFailed(Exception):
    """No model of the chain finished the step. ``model`` was wanted first and met ``cause``; ``partial`` is the row of
    what was shown of the step, and of what was wrong. ``again_at`` is the Unix time from which on a model of the chain
    will be asked again, None where waiting mends nothing."""

    def __init__(self, partial: StepRow, model: ModelRef, cause: ProviderError, again_at: float | None = None) -> None:
        super().__init__(str(cause))
        self.partial, self.model, self.cause, self.again_at = partial, model, cause, again_at


def fault_of(error: ProviderError) -> Fault:
    """In one word what the owner has to mend, or that there is nothing to mend but to wait."""
    return next((_FAULTS[kind] for kind in type(error).__mro__ if kind in _FAULTS), "failed")


def _shows_pictures(request: ModelRequest) -> bool:
    """Whether the refusal may be of a picture: then the model is asked once more without."""
    return any(isinstance(block, ImageBlock) for message in request.messages for block in message.content)


def _milder(request: ModelRequest, model: ModelRef, terse: set[ModelRef], blind: set[ModelRef]) -> bool:
    """Whether the refusal may be of a raised output limit, or of a picture; what it may be is left out next time."""
    if request.model.max_tokens > model.max_tokens:
        terse.add(model)
    elif model not in blind and _shows_pictures(request):
        blind.add(model)
    else:
        return False
    return True


def _log(turn: Turn, model: ModelRef, error: ProviderError) -> None:
    if isinstance(error, ModelResting):
        log.info("turn %s: %s is left alone (%s)", turn.id, model, type(error.cause).__name__)
    else:
        log.warning("turn %s: %s failed: %s (%s)", turn.id, model, type(error).__name__, error.detail or error)


def _cancelled() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else 0


class ModelSteps:
    """Asks models. ``provider`` resolves ``ModelRef.provider`` and retries what failed before the first event."""

    def __init__(self, provider: Provider, store: Store, clock: Clock, purse: Purse, gauge: Gauge) -> None:
        self._provider, self._store, self._clock, self._purse, self._gauge = provider, store, clock, purse, gauge
        self._terse: set[ModelRef] = set()
        """Those that refused a raised output limit: they are not given one again."""

    async def run(
        self,
        turn: Turn,
        chain: Sequence[ModelRef],
        build: BuildRequest,
        draft: Draft,
        progress: Progress,
        emit: Emit,
    ) -> StepRow:
        """Return the finished step (not yet a row). ``progress`` is the turn's up to this step.

        Raises ``StepFailed`` when every model failed, ``StoreError`` when text could not be stored.
        """
        cancelled = _cancelled()
        longest = draft.text
        blind: set[ModelRef] = set()
        before = Resumed(progress.text, progress.tools, await self._cards(turn) if progress.tools else ())
        walk = Walk(chain)
        for ask in walk:
            model = ask.model
            emit(ThinkingStarted())
            anew = await self._anew(turn, draft, progress)
            writer = self._writer(turn, draft, progress, before, emit, anew)
            seeing = replace(model, vision=False) if model in blind else model
            request = build(seeing, "" if anew is not None else draft.text)
            request = replace(request, attempts=ask.attempts, tried=ask.tried, insist=ask.insist)
            if model in self._terse:
                request = replace(request, model=seeing)
            try:
                step = await self._ask(turn, request, writer)
                if model in blind:
                    emit(Notice(say("file_refused", turn.language, model=str(model))))
                if anew is not None and not writer.wrote:
                    await self._taken_back(turn, step, anew)
                    emit(before)
                first = walk.first
                return (
                    step
                    if model == chain[0] or first is None
                    else replace(step, wanted=str(chain[0]), fault=fault_of(first))
                )
            except ProviderError as error:
                if _cancelled() > cancelled:  # what broke is the connection that the cancellation closed
                    raise asyncio.CancelledError from error
                _log(turn, model, error)
                draft = writer.draft if writer.wrote else draft
                longest = max(longest, draft.text, key=len)
                milder = isinstance(error, RequestRefused) and _milder(request, model, self._terse, blind)
                walk.failed(ask, error, wrote=writer.wrote, milder=milder)
        if len(longest) > len(draft.text) and await self._anew(turn, draft, progress) is not None:
            draft = replace(draft, text=longest)
            emit(replace(before, text=progress.with_next(longest)))
        cause = walk.first or ProviderUnreachable("No model was asked.")
        shown = (TextBlock(draft.text),) if draft.text else ()
        partial = StepRow(draft.step, shown, "", "", wanted=str(chain[0]), fault=fault_of(cause))
        raise StepFailed(partial, chain[0], cause, walk.again_at)

    async def _cards(self, turn: Turn) -> tuple[ApprovalCard, ...]:
        return tuple(approval.card for approval in await self._store.approvals.of_turn(turn.id))

    async def _anew(self, turn: Turn, draft: Draft, progress: Progress) -> int | None:
        """Where in the answer the draft began that another attempt replaces, once it writes; None where there is none
        or its text must stay and be continued, being sealed or on a platform that cannot edit."""
        begins = len(progress.with_next(draft.text)) - len(draft.text)
        if not draft.text or not turn.can_edit or await self._store.parts.sealed_to(turn.id) > begins:
            return None
        return begins

    async def _taken_back(self, turn: Turn, step: StepRow, begins: int) -> None:
        """The attempt wrote nothing in place of the draft. Calls or a refusal stand for themselves; silence does not."""
        said = any(isinstance(block, CallBlock) for block in step.content)
        if not said and step.stop != ModelStopReason.REFUSED:
            raise StreamCut("The model broke off its answer and said nothing more.")
        await self._store.transcript.replace_draft(turn.id, begins)

    def _writer(
        self, turn: Turn, draft: Draft, progress: Progress, restart: Resumed, emit: Emit, anew: int | None
    ) -> DraftWriter:
        started = anew is None and bool(draft.text)

        def show(piece: str) -> None:
            nonlocal started
            if anew is not None and not started:
                emit(restart)
            emit(TextDelta(piece if started else progress.with_next(piece)[len(progress.text) :]))
            started = True

        cut = progress.text if progress.is_cut else ""
        return DraftWriter(self._store.transcript, turn.id, draft, show, anew, cut)

    async def _ask(self, turn: Turn, request: ModelRequest, writer: DraftWriter) -> StepRow:
        spent = Spent(request)
        try:
            step = await self._answered(turn, replace(request, wasted=spent.wasted), writer, spent)
        except ProviderError:
            await self._bill(turn, request.model, spent.bills)
            raise
        except asyncio.CancelledError:
            with suppress(TimeoutError, StoreError):
                async with asyncio.timeout(BILL_SECONDS):
                    await self._bill(turn, request.model, spent.bills)
            raise
        await self._bill(turn, request.model, spent.bills)
        self._gauge.note(request, spent.answer)
        return step

    async def _kept(self, turn: Turn, step: int, request: ModelRequest) -> None:
        """For whoever wants to see the prompt; the answer does not depend on it."""
        prompt = Prompt(step, str(request.model), self._clock.now(), as_json(request))
        try:
            await self._store.prompts.keep(turn.id, prompt)
        except StoreError as error:
            log.warning("turn %s: its prompt was not kept: %s", turn.id, error)

    async def _answered(self, turn: Turn, request: ModelRequest, writer: DraftWriter, spent: Spent) -> StepRow:
        thoughts: list[ThinkingBlock] = []
        calls: list[ToolCall] = []
        stop = ""
        failure: ProviderError | None = None
        async with alongside(self._kept(turn, writer.draft.step, request)), alongside(writer.run()):
            try:
                async with self._provider.stream(request) as events:
                    spent.begins()
                    async for event in events:
                        spent.note(event)
                        match event:
                            case ModelText(text=text):
                                writer.add(text)
                            case ModelThought(block=block):
                                thoughts.append(block)
                            case ModelCall(call=call):
                                calls.append(call)
                            case ModelStop(reason=reason):
                                stop = reason.value
            except ContentRefused as error:  # no other model is to be tried on it: it counts as the model's own refusal
                _log(turn, request.model, error)
                stop = ModelStopReason.REFUSED.value
            except ProviderError as error:
                failure = error
            writer.finish()
        if failure is not None:
            raise failure
        written = (TextBlock(writer.text),) if writer.text else ()
        content = (*thoughts, *written, *map(CallBlock, calls))
        return StepRow(writer.draft.step, content, str(request.model), stop, spent.answer)

    async def _bill(self, turn: Turn, model: ModelRef, bills: Iterable[Usage]) -> None:
        for usage in bills:
            usd = None if model.price is None else model.price.cost(usage)
            self._purse.spent(turn.sender.identity, usd or 0.0)
            await self._store.usage.add(
                self._clock.now(), turn.id, turn.address, turn.sender.identity, str(model), usage, usd
            )


def with_unique_ids(step: StepRow, rows: Sequence[Row]) -> StepRow:
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
