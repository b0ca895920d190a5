"""The rows of a transcript: append-only, the truth about an address. Everything else is derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bot.core.address import Address, Sender
from bot.core.inbound import Quote, UserMessage
from bot.core.model import CallBlock, Message, TextBlock, ThinkingBlock, Usage
from bot.core.stop import StopReason
from bot.core.view import OutFile

Trouble = Literal[
    "",
    "large",
    "many",
    "gone",
    "kind",
    "broken",
    "locked",
    "blank",
    "reader",
    "slow",
    "unopened",
    "deaf",
    "unheard",
    "silent",
    "cut",
    "still",
]
"""What a person has to know of a file, in a word; ``bot.core.texts`` has the sentence under ``file_…``."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that came with a message. ``path`` is where it is kept, below the data folder ("" where it was not fetched).

    ``text`` is what can be read of it, ``picture`` the path of the JPEG that models are shown. ``spoken``: it is the
    person's own voice, and ``text`` what they said. ``quoted``: it came with the message that this one replies to.
    """

    name: str
    media_type: str
    path: str = ""
    text: str = ""
    picture: str = ""
    spoken: bool = False
    trouble: Trouble = ""
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class UserRow:
    """What a person wrote. ``steered`` rows joined a turn that was already running; ``again`` is the turn that asked the
    same before, and whose answer was not what the person wanted."""

    text: str
    sender: Sender
    message_id: str
    quote: Quote | None = None
    steered: bool = False
    again: str = ""
    files: tuple[KeptFile, ...] = ()
    kind: Literal["user"] = "user"


def user_row(message: UserMessage, files: Sequence[KeptFile] = (), *, steered: bool = False) -> UserRow:
    """The row of a message, with what came along as it is kept: what still lies on the platform is named no more."""
    quote = replace(message.quote, files=()) if message.quote is not None else None
    again = "" if steered else message.again
    return UserRow(message.text, message.sender, message.id, quote, steered, again, tuple(files))


@dataclass(frozen=True, slots=True)
class RevisedRow:
    """The person changed the message ``message_id`` before anything was done about it: it reads ``text`` now, and what
    the turn had answered so far is void."""

    text: str
    message_id: str
    kind: Literal["revised"] = "revised"


@dataclass(frozen=True, slots=True)
class Overheard:
    """One message that was not meant for the bot. ``name`` is its author's."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class OverheardRow:
    """What was said in a group or thread before the bot was asked, oldest first: context from outside, nothing more."""

    messages: tuple[Overheard, ...]
    kind: Literal["overheard"] = "overheard"


@dataclass(frozen=True, slots=True)
class GivenRow:
    """Messages that an API client brought along as the history of its request."""

    messages: tuple[Message, ...]
    kind: Literal["given"] = "given"


Because = Literal["answer", "tools", "steering", "continuation", "compaction", "retry"]
"""Why a model was asked: to answer, with results of tools, with what was said meanwhile, to go on from where its limit cut
it off, with a shorter history, or because the last attempt said nothing."""


Fault = Literal[
    "key_refused",
    "no_credit",
    "model_missing",
    "request_refused",
    "too_long",
    "busy",
    "failed",
    "unreachable",
    "stalled",
    "cut",
    "garbled",
]
"""What was wrong with a model that did not answer; each has its sentence ``instead_…``."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """One finished model call. ``model`` is ``provider/model``; ``stop`` the model's stop reason, "" for a step that
    was broken off (stopped, or the model failed after its text could no longer be taken back). Where another model than
    the first of the chain had to answer, ``wanted`` is that first one and ``fault`` what was wrong with it. ``because``
    says why the model was asked (once more)."""

    step: int
    content: tuple[TextBlock | ThinkingBlock | CallBlock, ...]
    model: str
    stop: str
    usage: Usage = field(default_factory=Usage)
    wanted: str = ""
    fault: Literal[Fault, ""] = ""
    because: Because = "answer"
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The result of one call; every call in a ``StepRow`` has one before the next user row of another turn. ``files`` are
    for the person; their paths are below the data folder. ``outcome`` is why a call was not run, or not to its
    end; ``notice`` a sentence of the house that the model reads with it; ``joins`` names tools that the prompt has from the
    next step on. ``whole`` is the path below the data folder of a result of which ``text`` is only a part. ``source`` says
    where its text came from, where that is outside: an address, or the tool's name."""

    call_id: str
    name: str
    text: str
    error: bool = False
    seconds: float = 0.0
    files: tuple[OutFile, ...] = ()
    outcome: Literal["", "denied", "expired", "blocked", "interrupted"] = ""
    notice: str = ""
    joins: tuple[str, ...] = ()
    whole: str = ""
    source: str = ""
    kind: Literal["result"] = "result"


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """Text by the bot itself (a command's answer): shown, never part of a prompt. ``offer`` is the group (channel, account
    and id, written as an address) that an owner may allow by a button below it."""

    text: str
    offer: str = ""
    kind: Literal["reply"] = "reply"


@dataclass(frozen=True, slots=True)
class EndRow:
    """The turn is over. ``text`` is the sentence shown beside the answer ("" when the answer needs none),
    ``reference`` the id under which the log has the details of a failure."""

    reason: StopReason
    text: str = ""
    reference: str = ""
    kind: Literal["end"] = "end"


@dataclass(frozen=True, slots=True)
class RouteRow:
    """Which models the turn was given, the first wanted most, and why. ``models`` are ``provider/model``; ``rule`` is the
    expression that matched, or what else decided; ``private`` keeps the turn on models nearby. ``scores`` are those of the
    intents that were near, ``parameters`` what the message tells of itself (topic, names, time range). At the row ``front``
    begins the history that the turn's prompts have in full."""

    intent: str
    complexity: str
    privacy: str
    rule: str
    models: tuple[str, ...]
    private: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    front: int = 0
    kind: Literal["route"] = "route"


@dataclass(frozen=True, slots=True)
class JoinedRow:
    """The skills and tools that the conversation's prompt has from this turn on, by name, in the order in which they came:
    all of them. ``new`` are the skills that came with this turn; what they say stands in its messages."""

    skills: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    kind: Literal["joined"] = "joined"


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """In short, what the conversation held up to the row ``upto``: prompts have this in the place of those rows. ``outside``
    says where what came from outside came from."""

    text: str
    upto: int
    outside: tuple[str, ...] = ()
    kind: Literal["summary"] = "summary"


@dataclass(frozen=True, slots=True)
class MarkRow:
    """A person marked a message of the turn as one to keep: ``mark`` is who and with what; ``holds`` False takes it back."""

    mark: str
    holds: bool = True
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True, slots=True)
class BreakRow:
    """``/new``: what came before is no longer history for prompts."""

    kind: Literal["break"] = "break"


Body = (
    UserRow
    | RevisedRow
    | OverheardRow
    | GivenRow
    | RouteRow
    | JoinedRow
    | SummaryRow
    | StepRow
    | ResultRow
    | ReplyRow
    | EndRow
    | MarkRow
    | BreakRow
)


@dataclass(frozen=True, slots=True)
class Row:
    """``id`` grows by time of writing within the whole store; ``at`` is Unix time."""

    id: int
    address: Address
    turn: str
    at: float
    body: Body


def as_revised(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of one turn that still hold: what was said, as it reads now, and what came since it was changed last."""
    held: list[Row] = []
    for row in rows:
        if isinstance(row.body, RevisedRow):
            said = (one for one in held if isinstance(one.body, UserRow | OverheardRow | GivenRow))
            held = [_reworded(one, row.body) for one in said]
        else:
            held.append(row)
    return held


def _reworded(row: Row, revised: RevisedRow) -> Row:
    said = row.body
    if not isinstance(said, UserRow) or said.message_id != revised.message_id:
        return row
    return replace(row, body=replace(said, text=revised.text))
