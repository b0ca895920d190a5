"""How a turn ends, and in which words the person is told."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.brain.guards import Guards
from bot.brain.limits import CONTINUATIONS, TurnLimits, cuts_allowed, dwindles, tokens_spent
from bot.brain.progress import Progress, text_of
from bot.brain.step import StepFailed
from bot.brain.turn import Turn
from bot.core.errors import ContextTooLong, KeyRefused, ModelMissing, ModelNotHere, NoCredit
from bot.core.faults import again_words, fault_sentence, in_a_row, others_sentence, parked_sentence, until_words
from bot.core.model import ModelStopReason
from bot.core.stop import StopReason
from bot.core.texts import say
from bot.core.tool import ToolCall
from bot.core.transcript import JoinedRow, ResultRow, RouteRow, Row, StepRow

log = logging.getLogger(__name__)

_UNSEEN: Final = re.compile(r"[\s`~\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
"""An answer of nothing else shows nothing: empty fences, blanks, characters without a shape."""
REFUSALS_IN_A_ROW: Final = 3
"""So many calls in a row that people denied, or left unanswered, end the turn."""


Opened = tuple[RouteRow | JoinedRow, ...]
"""What is decided once in a turn."""


@dataclass(frozen=True, slots=True)
class Ending:
    """``step`` is what was shown of a step that will not be finished, ``opening`` what was decided and is not written yet: their
    rows are written with the end, at once."""

    reason: StopReason
    text: str = ""
    reference: str = ""
    calls: tuple[ToolCall, ...] = ()
    step: StepRow | None = None
    opening: Opened = ()
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a turn stands: its rows, and what follows from them."""

    rows: Sequence[Row]
    progress: Progress
    guards: Guards


def sentence_of(ending: Ending, turn: Turn, limits: TurnLimits) -> str:
    """What is shown beside the answer, "" where it speaks for itself."""
    bounds = {
        StopReason.TOKEN_BUDGET: f"{limits.tokens}",
        StopReason.DIMINISHING: f"{limits.tokens}",
        StopReason.TIME_LIMIT: f"{limits.seconds:g}",
    }
    return ending.text or say(
        f"end_{ending.reason.value}",
        turn.language,
        limit=ending.limit or bounds.get(ending.reason, f"{limits.tool_calls}"),
        reference=ending.reference,
        how=say("get_model", turn.language),
    )


def given_up(stand: Stand) -> Ending | None:
    """Why no model is asked any more, whatever the last one still wanted; None: it is."""
    if stand.guards.is_broken:
        return Ending(StopReason.LOOP, limit=str(stand.guards.standstill.count))
    if stand.progress.cuts > CONTINUATIONS and stand.progress.fresh_input:  # calls that were cut off, again and again
        return Ending(StopReason.TRUNCATED)
    last = [row.body.outcome for row in stand.rows if isinstance(row.body, ResultRow)][-REFUSALS_IN_A_ROW:]
    if len(last) == REFUSALS_IN_A_ROW and set(last) <= {"denied", "expired"}:
        return Ending(StopReason.APPROVAL_DENIED if "denied" in last else StopReason.APPROVAL_EXPIRED)
    return None


def spent(rows: Sequence[Row], limits: TurnLimits) -> Ending | None:
    """Why the turn's tokens allow no further model call; None: they do."""
    if tokens_spent(rows) >= limits.tokens:
        return Ending(StopReason.TOKEN_BUDGET)
    if dwindles(rows, limits.tokens):
        return Ending(StopReason.DIMINISHING)
    return None


def silent(stand: Stand, limits: TurnLimits) -> StopReason:
    """Why the model had nothing to say, twice."""
    if stand.guards.blocked:
        return StopReason.LOOP
    return StopReason.TOOL_LIMIT if stand.progress.calls_made >= limits.tool_calls else StopReason.EMPTY


def finished(turn: Turn, stand: Stand, limits: TurnLimits) -> Ending | None:
    """How the turn ends after its last step; None when there must be another: it said nothing at all, or was cut off."""
    progress, blocked = stand.progress, stand.guards.blocked
    last = next((row.body for row in reversed(stand.rows) if isinstance(row.body, StepRow)), None)
    if progress.last_stop == ModelStopReason.REFUSED:
        return Ending(StopReason.REFUSED)
    if progress.is_cut:
        return None if progress.cuts <= cuts_allowed(turn) else Ending(StopReason.TRUNCATED)
    if last is None or not _UNSEEN.sub("", text_of(last)):
        return None
    if blocked:
        return Ending(StopReason.LOOP, limit=str(blocked.count))
    if progress.calls_made >= limits.tool_calls:
        return Ending(StopReason.TOOL_LIMIT)
    why = say(f"instead_{last.fault}", turn.language, wanted=last.wanted, model=last.model) if last.fault else ""
    return Ending(StopReason.ANSWERED, why)


def unavailable(turn: Turn, failed: StepFailed, now: float, zone: str) -> Ending:
    """No model answered. What is told is what the first of the chain met, which is what the owner wants mended, and when
    the next of the chain can be asked again."""
    reference = secrets.token_hex(3)
    model, cause = failed.model, failed.cause
    log.error("turn %s: no model answered, reference %s: %s from %s", turn.id, reference, type(cause).__name__, model)
    match cause:
        case ContextTooLong():
            return Ending(StopReason.CONTEXT_OVERFLOW, reference=reference)
        case ModelNotHere():
            return Ending(StopReason.NO_MODEL, reference=reference)
    until = until_words(cause.retry_after, now, zone)
    again = again_words(failed.again_at, now, zone, turn.language)
    why = fault_sentence(
        type(cause), turn.language, provider=model.provider, model=model.model, until=until, again=again
    )
    is_parked = cause.until is not None and isinstance(cause, KeyRefused | NoCredit)
    parked = parked_sentence(turn.language, cause.until or 0.0, now, zone) if is_parked else ""
    why = in_a_row(why, parked, others_sentence(type(cause), turn.language, again))
    reason = StopReason.NO_MODEL if isinstance(cause, ModelMissing) else StopReason.PROVIDER_UNAVAILABLE
    return Ending(reason, say("with_reference", turn.language, told=why, reference=reference), reference)
