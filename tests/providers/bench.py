"""What the tests of every provider need: one built against the simulator, requests to ask it, answers read off it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from bot.net.http import Transport
from bot.providers.discovery import CheckedEntry, built, entry
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
class Vendor:
    """How one kind of provider is pointed at the simulator."""

    kind: str
    model: str
    path: str = ""


VENDORS = {
    "anthropic": Vendor("anthropic", "claude-sonnet-5-5"),
    "ollama": Vendor("ollama", "llama3.2:3b"),
    "openai": Vendor("openai", "gpt-5.4-mini", "/v1"),
}


class Bench:
    """One vendor against one simulator. Closes every provider it built, and the transport below them."""

    def __init__(self, vendor: Vendor, sim: LlmSim) -> None:
        self.kind, self.model = vendor.kind, vendor.model
        self.base_url = sim.url + vendor.path
        self._built: list[Provider] = []
        self._http = Transport()

    def bare(self, **more: Any) -> Provider:
        """The provider without its wrappers; ``more`` goes into its section of the config."""
        return self._kept(built(self._entry(more), FakeClock(), Path("unused"), self._http))

    def wrapped(self, clock: FakeClock, **more: Any) -> Provider:
        """The provider as the house uses it."""
        return self._kept(Models([self._entry(more)], clock, Random(7), Path("unused"), self._http))

    def request(self, *messages: Message, **more: Any) -> ModelRequest:
        """``more`` are fields of the request or of its model."""
        own = ("model", "max_tokens", "temperature", "endpoint", "window_tokens")
        ref = {"model": self.model} | {key: more.pop(key) for key in own if key in more}
        given = {"system": "You are a bowerbird.", "tools": TOOLS, **more}
        return ModelRequest(model=ModelRef(self.kind, **ref), messages=messages or (user("hi"),), **given)

    async def aclose(self) -> None:
        for provider in self._built:
            await provider.aclose()
        await self._http.aclose()

    def _entry(self, more: Mapping[str, Any]) -> CheckedEntry:
        return entry(self.kind, {"base_url": self.base_url, "api_key": KEY, **more})

    def _kept(self, provider: Provider) -> Provider:
        self._built.append(provider)
        return provider


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
