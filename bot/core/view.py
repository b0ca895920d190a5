"""The view: what the person should see of a turn, and the parts a platform shows it in."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

from bot.core.stop import StopReason
from bot.core.tool import ToolCall


class Phase(enum.StrEnum):
    THINKING = "thinking"
    WRITING = "writing"
    WAITING = "waiting"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Button:
    """``payload`` is ``b:<id>:<verb>``, at most 64 bytes; everything else about a button is a row in the store."""

    label: str
    payload: str
    style: Literal["plain", "primary", "danger"] = "plain"


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool call as the person sees it. ``summary`` is the call in a few words; ``seconds`` None while it runs."""

    call_id: str
    name: str
    summary: str
    seconds: float | None = None
    error: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalCard:
    """A question to the person about one call. ``arguments`` is readable JSON; ``decision`` "" while it is open,
    then ``once``, ``chat``, ``always``, ``deny``, ``expired`` or ``void``, with ``decided_by`` a name."""

    id: str
    call_id: str
    tool: str
    effect: str
    reason: str
    arguments: str
    expires_at: float
    decision: str = ""
    decided_by: str = ""


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file to be shown after the answer; ``path`` lies in the data folder."""

    name: str
    media_type: str
    path: str


@dataclass(frozen=True, slots=True)
class View:
    """The whole answer of one turn as it should look now. ``text`` is CommonMark, ``notices`` are short sentences by
    the bot itself that stand below the text, ``calls`` are the caller's own tools asked for by the model,
    ``offers`` buttons that stay when the turn has ended."""

    turn: str
    text: str = ""
    phase: Phase = Phase.THINKING
    tools: tuple[ToolLine, ...] = ()
    cards: tuple[ApprovalCard, ...] = ()
    notices: tuple[str, ...] = ()
    files: tuple[OutFile, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    offers: tuple[Button, ...] = ()
    stop: StopReason | None = None

    @property
    def final(self) -> bool:
        return self.stop is not None


@dataclass(frozen=True, slots=True)
class Entity:
    """A formatted span of plain text, in the platform's length unit."""

    type: str
    offset: int
    length: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a platform would show for some Markdown. ``length`` is in the unit of the channel's ``Limits``."""

    text: str
    length: int
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a platform can do. ``size`` is the longest message in ``unit``; ``pace`` the seconds between two calls that
    one chat bears. ``previews`` False: nothing is shown before the end but a question. ``idempotent``: a part that is
    sent twice is one message. ``structured`` channels show tool lines, notices and cards by themselves; for the others the outbox
    writes them into the text. ``can_edit`` False: shown text can only be continued, never taken back. ``fleeting``, where
    it is not 0: what is not complete yet is shown as parts that are no messages and vanish by themselves after so many
    seconds. ``recheck``, where it is not 0: the platform does not tell when a message of the bot's is deleted, so one that
    asks a person something is shown once more after so many seconds, to find out. ``signs_in_threads``: the platform's own
    signs of life are seen in threads alone; elsewhere the status line has to come as early as they do."""

    size: int
    unit: Literal["chars", "utf16", "bytes"] = "chars"
    pace: float = 0.0
    previews: bool = True
    idempotent: bool = False
    can_edit: bool = True
    structured: bool = False
    label_chars: int = 64
    fleeting: float = 0.0
    recheck: float = 0.0
    signs_in_threads: bool = False

    @property
    def gather(self) -> float:
        """Seconds for which a model's text may gather before it is looked at: far less than the pace lets be seen."""
        return min(0.25, self.pace / 4) if self.pace >= 0.5 else 0.0


@dataclass(frozen=True, slots=True)
class Ref:
    """The platform's own id of a message that shows a part; what an adapter has to remember of it stands behind a "~"."""

    message_id: str

    def is_of(self, message_id: str) -> bool:
        """Whether the message with this id is meant."""
        return self.message_id.partition("~")[0] == message_id


@dataclass(frozen=True, slots=True)
class Part:
    """One platform message of a view. ``start`` is the offset in ``View.text`` at which it begins.

    ``markdown`` is what it shows, with split fences closed and reopened, and for channels that are not structured with
    tool lines, notices and cards written in. ``final`` means that nothing will change this part again. Only the last
    part carries ``view``'s tools, cards, buttons and stop reason; earlier parts carry text alone. ``fleeting``: it is to be
    no message (``Limits``); it has no ``Ref`` that could be edited. ``nonce`` is the same for the same part across restarts.
    """

    turn: str
    index: int
    start: int
    markdown: str
    rendered: Rendered
    view: View
    buttons: tuple[Button, ...] = ()
    last: bool = True
    final: bool = False
    fleeting: bool = False

    @property
    def nonce(self) -> str:
        return f"{self.turn}.{self.index}"
