"""A model vendor that a test scripts event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from bot.brain.history import paired
from bot.core.errors import ProviderError
from bot.core.model import ModelCall, ModelEvent, ModelRequest, ModelStop, ModelStopReason, ModelText
from bot.core.tool import ToolCall

Step = ModelEvent | ProviderError | asyncio.Event


def says(*pieces: str, stop: ModelStopReason = ModelStopReason.END) -> list[Step]:
    """A whole answer in pieces."""
    return [*map(ModelText, pieces), ModelStop(stop)]


def calls(*wanted: ToolCall, text: str = "") -> list[Step]:
    """A step that asks for tools."""
    return [*([ModelText(text)] if text else []), *map(ModelCall, wanted), ModelStop(ModelStopReason.TOOL_USE)]


class FakeProvider:
    """Implements ``bot.core.ports.Provider``. Each request takes the next script; an ``asyncio.Event`` in it is waited
    for. Requests that break the pairing rule of the port are refused as a vendor would."""

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts = [list(script) for script in scripts]
        self.requests: list[ModelRequest] = []
        self.closed_early = 0

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        self.requests.append(request)
        assert paired(request.messages), f"calls and results do not match: {request.messages}"
        script = self.scripts.pop(0) if self.scripts else says("(nothing scripted)")
        done = False

        async def events() -> AsyncIterator[ModelEvent]:
            nonlocal done
            for step in script:
                if isinstance(step, asyncio.Event):
                    await step.wait()
                elif isinstance(step, ProviderError):
                    raise step
                else:
                    done = isinstance(step, ModelStop)
                    await asyncio.sleep(0)
                    yield step

        iterator = events()
        try:
            yield iterator
        finally:
            self.closed_early += not done
            await iterator.aclose()  # type: ignore[attr-defined]

    async def aclose(self) -> None:
        pass
