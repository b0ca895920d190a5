"""What has been said so far in one answer, free of any vendor: the whole answer of a request that does not stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.sim.llm.steps import (
    Call,
    CallClose,
    CallMore,
    CallOpen,
    ErrorEvent,
    Garbage,
    Redacted,
    Spoken,
    Stop,
    Text,
    Thinking,
    Usage,
)
from tests.sim.llm.tokens import PromptTokens, estimate_text


@dataclass(slots=True)
class Said:
    """One block: text, thinking, redacted or call. `pieces` are its text or argument pieces, `name` names a call."""

    kind: str
    key: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    signature: str | None = None
    call_id: str | None = None
    null: bool = False
    index: int | None = None
    closed: bool = False
    field_name: str = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Reply:
    """Folds the spoken steps of an answer into blocks."""

    def __init__(self) -> None:
        self.blocks: list[Said] = []
        self.stop: Stop | None = None

    def take(self, step: Spoken | Call) -> None:
        match step:
            case Text(text):
                if text is not None:
                    self._running("text").pieces.append(text)
            case Thinking(text, signature, name):
                block = self._running("thinking")
                block.field_name = name
                block.pieces.append(text)
                if signature is not None:
                    block.signature, block.closed = signature, True
            case Redacted(data):
                self.blocks.append(Said("redacted", pieces=[data], closed=True))
            case CallOpen(call_id, name, first, index):
                calls = sum(block.kind == "call" for block in self.blocks)
                number = None if index == "none" else calls if index == "auto" else index
                pieces = [first] if first else []
                null = first is None
                self.blocks.append(Said("call", call_id or name, name, pieces, None, call_id, null, number))
            case CallMore(key, fragment):
                self.call(key).pieces.append(fragment or "")
            case CallClose(key):
                self.call(key).closed = True
            case Call():
                for piece in step.pieces():
                    self.take(piece)
            case Stop():
                self.stop = step

    def call(self, key: str) -> Said:
        """The newest call of that id (or name); ValueError when the script never opened it."""
        for block in reversed(self.blocks):
            if block.kind == "call" and block.key == key:
                return block
        raise ValueError(f"the script continues a call it never opened: {key!r}")

    def _running(self, kind: str) -> Said:
        last = self.blocks[-1] if self.blocks else None
        if last is None or last.kind != kind or last.closed:
            last = Said(kind)
            self.blocks.append(last)
        return last

    def of(self, kind: str) -> list[Said]:
        return [block for block in self.blocks if block.kind == kind]

    @property
    def output_tokens(self) -> int:
        return sum(estimate_text(block.text) + estimate_text(block.name) for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Occasion:
    """The request an answer is given to: its number, body and prompt size, the time, and the counts to report instead."""

    number: int
    body: Mapping[str, Any]
    prompt: PromptTokens
    now: float
    usage: Usage

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    def input_tokens(self) -> int:
        return self.prompt.total if self.usage.input is None else self.usage.input

    def output_tokens(self, reply: Reply) -> int:
        return reply.output_tokens if self.usage.output is None else self.usage.output

    def cached_tokens(self) -> int:
        return self.prompt.cached if self.usage.cached is None else self.usage.cached


class Encoder(Protocol):
    """One vendor's way to put an answer on the wire. Frames are complete events or lines, as bytes."""

    content_type: str

    def begin(self, first: Spoken | None) -> list[bytes]: ...
    def spoken(self, step: Spoken) -> list[bytes]: ...
    def finale(self) -> list[bytes]: ...
    def ping(self) -> list[bytes]: ...
    def empty_choices(self) -> list[bytes]: ...
    def garbage(self, step: Garbage) -> bytes: ...
    def error(self, step: ErrorEvent) -> bytes: ...
    def whole(self, reply: Reply) -> dict[str, Any]: ...
