"""What a scripted answer is made of: what a model says, what the wire does to it, and the faults around both.

Every step is vendor neutral; an encoder (anthropic.py, openai.py, ollama.py) turns it into that vendor's frames.
"""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Index = int | Literal["auto", "none"]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the visible answer. None is OpenAI's `content: null`; elsewhere it sends nothing."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of reasoning. `signature` ends the block with exactly that; None signs it at its end; "" leaves it unsigned.

    `field` is the delta key used by OpenAI-compatible servers.
    """

    text: str
    signature: str | None = None
    field: str = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Redacted:
    """Anthropic's redacted_thinking block; nothing elsewhere."""

    data: str


@dataclass(frozen=True, slots=True)
class CallOpen:
    """The first piece of a tool call: id, name and perhaps the first arguments."""

    id: str | None
    name: str
    first: str | None = ""
    index: Index = "auto"


@dataclass(frozen=True, slots=True)
class CallMore:
    """A further piece of the arguments of the open call `id` (its name, where the call has no id)."""

    id: str
    fragment: str | None
    repeat_head: bool = False


@dataclass(frozen=True, slots=True)
class CallClose:
    """The end of the arguments; visible on the wire at Anthropic and Ollama only."""

    id: str


@dataclass(frozen=True, slots=True)
class Call:
    """A whole tool call, sent in the given argument pieces. `index` "none" leaves the index out of every OpenAI piece.

    `whole` puts id, name and all arguments in one chunk; `repeat_head` repeats id and name in every piece.
    """

    id: str | None
    name: str
    args_fragments: tuple[str | None, ...] = ("{}",)
    index: Index = "auto"
    whole: bool = False
    repeat_head: bool = False

    def pieces(self) -> list["CallOpen | CallMore | CallClose"]:
        key = self.id or self.name
        close = CallClose(key)
        if self.whole or self.args_fragments == (None,):
            known = [piece for piece in self.args_fragments if piece is not None]
            return [CallOpen(self.id, self.name, "".join(known) if known else None, self.index), close]
        more = [CallMore(key, piece, self.repeat_head) for piece in self.args_fragments]
        return [CallOpen(self.id, self.name, "", self.index), *more, close]


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Wait until the test releases the gate of that name; a released gate stays open until reset."""

    name: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The stop or finish reason, verbatim, or null. "auto" is the vendor's natural one, "cut" its output limit."""

    reason: str | None = "auto"
    sequence: str | None = None
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts to report instead of the estimated ones; `absent` reports none at all."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    written: int | None = None
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """Exactly these bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error instead of an answer. `kind` picks a known body (faults.KINDS), `message` replaces its text.

    `{key}` in a message becomes the caller's API key. `body` is sent verbatim (text) or as JSON.
    """

    code: int
    kind: str | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error inside a stream whose status was 200; the body then ends without the vendor's last frame."""

    type: str = "overloaded_error"
    message: str = "Overloaded"
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Lose the connection: "rst" resets it, "fin" closes it in the middle of the chunked body."""

    how: Literal["rst", "fin"] = "rst"
    before_headers: bool = False


@dataclass(frozen=True, slots=True)
class EndEarly:
    """End the body cleanly, but without the vendor's last frames."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Say nothing more on the open connection until the client leaves or the simulator closes."""

    before_headers: bool = False


@dataclass(frozen=True, slots=True)
class Garbage:
    """A frame that breaks parsers: "json" is cut JSON, "utf8" half a character, "event" an event of unknown type."""

    kind: Literal["json", "utf8", "event"] = "json"


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life without content: `event: ping`, or an SSE comment; nothing at Ollama."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Send the opening frame now (message_start, role chunk) instead of together with the first content."""


@dataclass(frozen=True, slots=True)
class EmptyChoices:
    """OpenAI: a chunk with `choices: []` carrying content filter results only."""


Spoken = Text | Thinking | Redacted | CallOpen | CallMore | CallClose | Stop
Step = (
    Spoken
    | Call
    | Sleep
    | Gate
    | Usage
    | Raw
    | Status
    | ErrorEvent
    | Drop
    | EndEarly
    | Stall
    | Garbage
    | Ping
    | Begin
    | EmptyChoices
)

VOCABULARY: dict[str, type[Step]] = {
    "text": Text,
    "thinking": Thinking,
    "redacted": Redacted,
    "call": Call,
    "call_open": CallOpen,
    "call_more": CallMore,
    "call_close": CallClose,
    "sleep": Sleep,
    "gate": Gate,
    "stop": Stop,
    "usage": Usage,
    "raw": Raw,
    "status": Status,
    "error_event": ErrorEvent,
    "drop": Drop,
    "end_early": EndEarly,
    "stall": Stall,
    "garbage": Garbage,
    "ping": Ping,
    "begin": Begin,
    "empty_choices": EmptyChoices,
}
_NAMES = {kind: name for name, kind in VOCABULARY.items()}


def step_to_json(step: Step) -> dict[str, Any]:
    """`{"do": "text", "text": "Hel"}`; raw bytes travel as base64."""
    fields = asdict(step)
    if isinstance(step, Raw):
        fields = {"base64": base64.b64encode(step.data).decode()}
    return {"do": _NAMES[type(step)], **fields}


def step_from_json(data: Mapping[str, Any]) -> Step:
    """The inverse of `step_to_json`; raw also takes `text`. Raises ValueError on an unknown step or field."""
    fields = dict(data)
    kind = VOCABULARY.get(name := str(fields.pop("do", "")))
    if kind is None:
        raise ValueError(f"unknown step {name!r}; known: {', '.join(sorted(VOCABULARY))}")
    if kind is Raw:
        return Raw(base64.b64decode(fields["base64"]) if "base64" in fields else str(fields["text"]).encode())
    if kind is Call and "args_fragments" in fields:
        fields["args_fragments"] = tuple(fields["args_fragments"])
    try:
        return kind(**fields)
    except TypeError as error:
        raise ValueError(f"step {name!r}: {error}") from None
