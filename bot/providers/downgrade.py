"""Whole answers instead of streams, around any provider, where streams keep breaking: some proxies cut or hold them all."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from bot.core.errors import ProviderError, StreamCut, StreamGarbled, StreamStalled
from bot.core.model import ModelEvent, ModelRequest, ModelStop
from bot.core.ports import Clock, Provider

log = logging.getLogger(__name__)

BROKEN_IN_A_ROW: Final = 2
WHOLE_SECONDS: Final = 600.0
"""How long no stream is tried. After that one stream that breaks is enough for the next time."""
_BREAKS: Final = (StreamCut, StreamStalled, StreamGarbled)


@dataclass(slots=True)
class _Streams:
    """How the streams of one model went. Times are the clock's monotonic seconds."""

    broken: int = 0
    broke_at: float = -1.0
    whole_until: float = -1.0


class Downgrade:
    """Implements ``Provider``: after ``BROKEN_IN_A_ROW`` broken streams of one model its answers are asked for in one
    piece for ``WHOLE_SECONDS``. Streams that broke side by side broke once: it was one moment of the network."""

    def __init__(self, inner: Provider, name: str, clock: Clock) -> None:
        self._inner, self._name, self._clock = inner, name, clock
        self._models: dict[tuple[str, str], _Streams] = {}

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        model = request.model
        streams = self._models.setdefault((model.endpoint, model.model), _Streams())
        began = self._clock.monotonic()
        if request.whole or began < streams.whole_until:
            async with self._inner.stream(replace(request, whole=True)) as events:
                yield events
            return
        async with AsyncExitStack() as stack:
            try:
                events = await stack.enter_async_context(self._inner.stream(request))
            except ProviderError as error:
                self._note(request, streams, error, began)
                raise
            yield await stack.enter_async_context(aclosing(self._watched(events, request, streams, began)))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _watched(
        self, events: AsyncIterator[ModelEvent], request: ModelRequest, streams: _Streams, began: float
    ) -> AsyncGenerator[ModelEvent, None]:
        try:
            async for event in events:
                if isinstance(event, ModelStop):
                    streams.broken = 0
                yield event
        except ProviderError as error:
            self._note(request, streams, error, began)
            raise

    def _note(self, request: ModelRequest, streams: _Streams, error: ProviderError, began: float) -> None:
        if not isinstance(error, _BREAKS) or began < streams.broke_at:
            return
        streams.broken += 1
        streams.broke_at = self._clock.monotonic()
        if streams.broken >= BROKEN_IN_A_ROW:
            streams.whole_until = streams.broke_at + WHOLE_SECONDS
            log.warning(
                "%s: the streams of %s keep breaking; its answers are asked for in one piece for %.0f minutes",
                self._name,
                request.model.model,
                WHOLE_SECONDS / 60,
            )
