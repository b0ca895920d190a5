"""One question to a local provider, and everything it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.core.model import (
    CallBlock,
    Message,
    ModelCall,
    ModelEvent,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelText,
    ModelUsage,
    ResultBlock,
    TextBlock,
    Usage,
)
from bot.core.tool import ToolCall, ToolSpec
from bot.providers.local.prompt import PROFILE
from bot.providers.local.provider import LocalProvider


@dataclass(slots=True)
class Heard:
    events: list[ModelEvent] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ModelText))

    @property
    def calls(self) -> list[ToolCall]:
        return [event.call for event in self.events if isinstance(event, ModelCall)]

    @property
    def stop(self) -> ModelStop:
        stop = self.events[-1]
        assert isinstance(stop, ModelStop)
        return stop

    @property
    def usage(self) -> Usage:
        return [event.usage for event in self.events if isinstance(event, ModelUsage)][-1]


def user(text: str) -> Message:
    return Message("user", (TextBlock(text),))


def assistant(text: str) -> Message:
    return Message("assistant", (TextBlock(text),))


def result(call: ToolCall, text: str, *, error: bool = False) -> tuple[Message, Message]:
    """The call and what came of it."""
    called = Message("assistant", (CallBlock(call),))
    return called, Message("user", (ResultBlock(call.id, call.name, text, error),))


def request(
    *messages: Message, tools: Sequence[ToolSpec] = (), max_tokens: int = 80, schema: Mapping[str, object] | None = None
) -> ModelRequest:
    return ModelRequest(
        ModelRef("local", "auto", max_tokens=max_tokens), PROFILE, messages, tuple(tools), schema=schema
    )


async def ask(provider: LocalProvider, asked: ModelRequest) -> Heard:
    heard = Heard()
    async with provider.stream(asked) as events:
        async for event in events:
            heard.events.append(event)
    return heard
