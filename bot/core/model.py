"""The one vocabulary between the Brain and every model vendor: messages in, model events out."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.core.tool import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens. What is read from or written to the vendor's cache costs as ``input`` where nothing else is
    known. A prompt of more than ``above_tokens`` costs ``above_times`` as much, its answer too."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    above_tokens: int | None = None
    above_times: float = 1.0

    @property
    def is_free(self) -> bool:
        return not self.input and not self.output

    def cost(self, usage: Usage) -> float:
        """USD."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        fresh = max(0, usage.input_tokens - read - written)
        usd = fresh * self.input + usage.output_tokens * self.output
        usd += read * (self.input if self.cache_read is None else self.cache_read)
        usd += written * (self.input if self.cache_write is None else self.cache_write)
        times = self.above_times if self.above_tokens and usage.input_tokens > self.above_tokens else 1.0
        return usd * times / 1_000_000


FREE = Price(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ModelRef:
    """One entry of a chain: which provider (a name under ``providers:``), which model, with what limits.

    ``window_tokens`` is the context window (None: ask the provider or assume). ``price`` None: not
    known. ``max_tokens`` bounds the answer.
    """

    provider: str
    model: str
    max_tokens: int = 8192
    temperature: float | None = None
    endpoint: str = ""
    vision: bool = False
    window_tokens: int | None = None
    price: Price | None = None

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class TextBlock:
    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """Reasoning to be replayed unchanged or dropped whole. ``raw`` is the vendor's own block as JSON, byte for byte."""

    vendor: str
    text: str
    raw: str
    kind: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class CallBlock:
    call: ToolCall
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class ResultBlock:
    """The result of the call ``call_id``; ``error`` tells the model that it did not work, ``outcome`` is why it was not
    run or not to its end (``ResultRow.outcome``), "" where it was run. ``handle`` names it for whoever wants the whole of it,
    "" for a result that has no more."""

    call_id: str
    name: str
    text: str
    error: bool = False
    outcome: Literal["", "denied", "expired", "blocked", "interrupted"] = ""
    handle: str = field(default="", compare=False)
    kind: Literal["result"] = "result"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    media_type: str
    data: bytes
    kind: Literal["image"] = "image"


Block = TextBlock | ThinkingBlock | CallBlock | ResultBlock | ImageBlock


@dataclass(frozen=True, slots=True)
class Message:
    """``user`` messages hold text, images and results; ``assistant`` messages hold thinking, text and calls, in order."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound that is to be written down. ``name`` has the ending of its format."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything one model call needs. ``system`` is the stable prefix.

    Contract: every call in ``messages`` has its result in the very next user message. ``tool_choice`` "none" keeps the
    tools in the prompt (so the cache holds) but forbids their use. ``schema`` asks for one JSON object of that shape.
    ``lasting_tools`` is how many of the tools, from the first, stay when others come; None for all.
    ``gather``: seconds for which text may gather on its way once the beginning is there, for those who look at it less
    often than it arrives; 0 has every piece at once.
    ``prefill`` is how the answer shall begin: where the vendor can be made to go on from there (and is not held to
    ``schema`` by other means), the text that comes begins with it; elsewhere it is left out.
    ``attempts`` is how often the model may be asked until its answer has begun, ``tried`` how often it was asked for this
    answer before: another try waits its turn first. ``insist``: ask it although it failed just now. ``whole``: have the
    answer in one piece, not streamed. ``wasted`` is told the events of each attempt that came to nothing unseen.
    """

    model: ModelRef
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    lasting_tools: int | None = None
    tool_choice: Literal["auto", "none"] = "auto"
    schema: Mapping[str, Any] | None = None
    gather: float = 0.0
    prefill: str = ""
    attempts: int = 3
    tried: int = 0
    insist: bool = False
    whole: bool = False
    wasted: Callable[[Sequence[ModelEvent]], None] | None = field(default=None, compare=False, repr=False)


class ModelStopReason(enum.StrEnum):
    """Why the model stopped writing, in one vendor-neutral word."""

    END = "end"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    REFUSED = "refused"
    PAUSED = "paused"
    CONTEXT_FULL = "context_full"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call. ``input_tokens`` is the whole prompt, cached parts included. ``estimated``: the vendor has
    not told all of it, and what is missing was counted here."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, "" for nothing."""

    text: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class ModelText:
    text: str


@dataclass(frozen=True, slots=True)
class ModelThinking:
    """The model is reasoning, or at work on what is not to be shown yet; ``text`` may be empty. Never shown as answer
    text."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelAlive:
    """Something arrived that says nothing: a keep-alive, an empty piece. Whoever has no watch to keep passes it over."""


@dataclass(frozen=True, slots=True)
class ModelThought:
    """A finished reasoning block, to be stored with the step and replayed."""

    block: ThinkingBlock


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call whose arguments are complete or known to be broken (``call.invalid``)."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Totals so far for this call; the last one wins."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class ModelStop:
    """Always the last event. A stream that ends without it has failed, and the provider raises instead."""

    reason: ModelStopReason
    raw: str = ""


ModelEvent = ModelText | ModelThinking | ModelAlive | ModelThought | ModelCall | ModelUsage | ModelStop
