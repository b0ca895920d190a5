"""What the Brain emits while it answers; ``outbox.fold`` turns these into the view."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.view import ApprovalCard, Button, OutFile, ToolLine


@dataclass(frozen=True, slots=True)
class Resumed:
    """The turn goes on from what is stored: after a restart, or after a change of model took text back. ``files`` None: those
    that are there."""

    text: str
    tools: tuple[ToolLine, ...] = ()
    cards: tuple[ApprovalCard, ...] = ()
    files: tuple[OutFile, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingStarted:
    """A model was asked and has not written yet."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call_id: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    call_id: str
    seconds: float
    error: bool


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Files for the person, shown after the answer."""

    files: tuple[OutFile, ...]


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    card: ApprovalCard


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """The stored decision, however it came about (a press, the time limit, the end of the turn)."""

    card: ApprovalCard


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence by the bot itself, shown below the text; one that is there already is not said twice."""

    text: str


@dataclass(frozen=True, slots=True)
class Offered:
    """Buttons that stay below the answer when it has ended."""

    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """``text`` is the sentence that goes with the reason ("" when the answer speaks for itself)."""

    reason: StopReason
    text: str = ""
    calls: tuple[ToolCall, ...] = ()


TurnEvent = (
    Resumed
    | TextDelta
    | ThinkingStarted
    | ToolStarted
    | ToolEnded
    | Enclosed
    | ApprovalAsked
    | ApprovalDecided
    | Notice
    | Offered
    | TurnEnded
)
