"""One question to a local provider, and everything it said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from bot.brain.prompt import Persona, request_for
from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
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
from bot.core.transcript import Body, ResultRow, Row, StepRow, UserRow
from bot.providers.local.prompt import PROFILE
from bot.providers.local.provider import LocalProvider

Outcome = Literal["", "denied", "expired", "blocked", "interrupted"]
ZONE: Final = "Asia/Shanghai"
AT: Final = 1_796_023_620.0
"""Monday, 30 November 2026, 15:27 there."""


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


def result(call: ToolCall, text: str, *, error: bool = False, outcome: Outcome = "") -> tuple[Message, Message]:
    """The call and what came of it."""
    called = Message("assistant", (CallBlock(call),))
    return called, Message("user", (ResultBlock(call.id, call.name, text, error, outcome),))


def request(
    *messages: Message, tools: Sequence[ToolSpec] = (), max_tokens: int = 80, schema: Mapping[str, object] | None = None
) -> ModelRequest:
    return ModelRequest(
        ModelRef("local", "auto", max_tokens=max_tokens), PROFILE, messages, tuple(tools), schema=schema
    )


def prompted(
    text: str, *bodies: Body, at: float = AT, zone: str = ZONE, tools: Sequence[ToolSpec] = (), max_tokens: int = 200
) -> ModelRequest:
    """The request that the Brain makes of ``text``, with ``bodies`` (steps and results) behind it in the same turn."""
    address = Address("test", "main", "1")
    opened = UserMessage("1", address, Sender("test", "1"), text, at)
    rows = [
        Row(number, address, "t1", at, body)
        for number, body in enumerate((UserRow(text, opened.sender, "1"), *bodies), start=1)
    ]
    model = ModelRef("local", "auto", max_tokens=max_tokens, window_tokens=4096)
    persona = Persona("You are Bowerbird.", PROFILE)
    turn = Turn("t1", opened, "en")
    return request_for(turn, model, persona, history=(), rows=rows, tools=tools, at=at, zone=zone)


def came(call: ToolCall, text: str, *, error: bool = False, outcome: Outcome = "") -> tuple[Body, Body]:
    """The call and what came of it, as rows."""
    step = StepRow(0, (CallBlock(call),), "local/auto", "tool_use")
    return step, ResultRow(call.id, call.name, text, error, outcome=outcome)


async def ask(provider: LocalProvider, asked: ModelRequest) -> Heard:
    heard = Heard()
    async with provider.stream(asked) as events:
        async for event in events:
            heard.events.append(event)
    return heard
