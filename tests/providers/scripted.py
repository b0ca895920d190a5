"""A double of the `Provider` port that plays events, pauses and errors from a list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.core.errors import ProviderError
from bot.core.model import ModelEvent, ModelRequest, ModelStop, ModelStopReason

END = ModelStop(ModelStopReason.END, "stop")


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Part = ModelEvent | Pause | ProviderError


class ScriptedProvider:
    """Implements ``bot.core.ports.Provider``: each call plays the next script, the last one again and again.

    An error that is the whole script is raised while connecting. ``entered`` and ``left`` count the streams.
    """

    def __init__(self, *scripts: Sequence[Part] | ProviderError, connects_in: float = 0.0) -> None:
        self._scripts = list(scripts)
        self._connects_in = connects_in
        self.entered = self.left = 0
        self.closed = False

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        script = self._scripts[min(self.entered, len(self._scripts) - 1)]
        self.entered += 1
        try:
            await asyncio.sleep(self._connects_in)
            if isinstance(script, ProviderError):
                raise script
            yield _played(script)
        finally:
            self.left += 1

    async def aclose(self) -> None:
        self.closed = True


async def _played(script: Sequence[Part]) -> AsyncIterator[ModelEvent]:
    for part in script:
        if isinstance(part, Pause):
            await asyncio.sleep(part.seconds)
        elif isinstance(part, ProviderError):
            raise part
        else:
            yield part
