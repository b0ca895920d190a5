"""What the tests of every provider need: one built against the simulator, requests to ask it, answers read off it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from bot.core.model import (
    Block,
    CallBlock,
    Message,
    ModelCall,
    ModelEvent,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelText,
    ModelThought,
    ModelUsage,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
    Usage,
)
from bot.core.ports import Provider
from bot.core.tool import ToolCall, ToolSpec
from bot.providers.discovery import built, entry
from bot.providers.models import Models
from tests.fakes.clock import FakeClock
from tests.sim.llm import LlmSim

KEY = "sk-test-0123456789abcdef"
TOOLS = (
    ToolSpec("get_time", "Tell the time.", {"type": "object", "properties": {}}),
    ToolSpec(
        "add",
        "Add two numbers.",
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]},
    ),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """One kind of provider as the tests ask it."""

    kind: str
    model: str
    base_url: Callable[[LlmSim], str]
    extra: Mapping[str, Any] = field(default_factory=dict)

    def section(self, sim: LlmSim, **more: Any) -> dict[str, Any]:
        return {"kind": self.kind, "base_url": self.base_url(sim), "api_key": KEY, **self.extra, **more}

    def bare(self, sim: LlmSim, **more: Any) -> Provider:
        """The provider without its wrappers."""
        return built(entry(self.kind, self.section(sim, **more)), FakeClock(), Path("unused"))

    def wrapped(self, sim: LlmSim, clock: FakeClock, **more: Any) -> Models:
        return Models([entry(self.kind, self.section(sim, **more))], clock, Random(7), Path("unused"))

    def request(self, *messages: Message, **more: Any) -> ModelRequest:
        ref = {key: more.pop(key) for key in ("max_tokens", "temperature", "endpoint", "window_tokens") if key in more}
        model = ModelRef(self.kind, more.pop("model", self.model), **ref)
        given = {"system": "You are a bowerbird.", "tools": TOOLS, **more}
        return ModelRequest(model=model, messages=messages or (user("hi"),), **given)


BENCHES = {
    "anthropic": Bench("anthropic", "claude-sonnet-5-5", lambda sim: sim.url),
    "ollama": Bench("ollama", "llama3.2:3b", lambda sim: sim.url),
    "openai": Bench("openai", "gpt-5.4-mini", lambda sim: sim.openai_url),
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer. ``error`` is what ended it, where it did not end in a stop."""

    events: tuple[ModelEvent, ...]
    error: Exception | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ModelText))

    @property
    def calls(self) -> list[ToolCall]:
        return [event.call for event in self.events if isinstance(event, ModelCall)]

    @property
    def thoughts(self) -> list[ThinkingBlock]:
        return [event.block for event in self.events if isinstance(event, ModelThought)]

    @property
    def usage(self) -> Usage:
        return [event.usage for event in self.events if isinstance(event, ModelUsage)][-1]

    @property
    def stop(self) -> ModelStop:
        assert self.error is None, self.error
        last = self.events[-1]
        assert isinstance(last, ModelStop)
        assert sum(isinstance(event, ModelStop) for event in self.events) == 1
        return last


async def ask(provider: Provider, request: ModelRequest) -> Heard:
    """The whole answer, or as much as came before an error."""
    events: list[ModelEvent] = []
    try:
        async with asyncio.timeout(20), provider.stream(request) as stream:
            async for event in stream:
                events.append(event)
    except Exception as error:  # noqa: BLE001  (what it is is the test's business)
        return Heard(tuple(events), error)
    return Heard(tuple(events))


def user(*content: str | Block) -> Message:
    return Message("user", _blocks(content))


def assistant(*content: str | Block) -> Message:
    return Message("assistant", _blocks(content))


def called(call_id: str, name: str = "get_time", **arguments: Any) -> CallBlock:
    return CallBlock(ToolCall(call_id, name, arguments))


def result(call_id: str, text: str = "12:00", *, name: str = "get_time", error: bool = False) -> ResultBlock:
    return ResultBlock(call_id, name, text, error)


def _blocks(content: Sequence[str | Block]) -> tuple[Block, ...]:
    return tuple(TextBlock(item) if isinstance(item, str) else item for item in content)


class SleeplessClock(FakeClock):
    """A clock whose sleepers wake at once; ``slept`` says for how long they wanted to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds
        await asyncio.sleep(0)
