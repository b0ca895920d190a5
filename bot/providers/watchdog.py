"""A limit on silence, around any provider: an open stream that says nothing is a failed one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass

from bot.core.errors import StreamStalled
from bot.core.model import ModelEvent, ModelRequest
from bot.core.ports import Provider
from bot.providers.faults import Faults


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds until the first event (connecting included), and between two events after it."""

    first: float
    silence: float


class Watchdog:
    """Implements ``Provider``; raises ``StreamStalled``. Only events count, a vendor's keep-alives make none.

    Time that the caller spends between two events does not count.
    """

    def __init__(self, inner: Provider, name: str, patience: Patience) -> None:
        self._inner, self._name, self._patience = inner, name, patience

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        faults = Faults(self._name, request.model.model)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience.first
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout_at(deadline) as limit:
                    inner = await stack.enter_async_context(self._inner.stream(request))
            except TimeoutError:
                if not limit.expired():
                    raise
                raise faults.error(StreamStalled, f"no answer within {self._patience.first:g} s") from None
            watched = self._watched(inner, deadline - loop.time(), faults)
            yield await stack.enter_async_context(aclosing(watched))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _watched(
        self, events: AsyncIterator[ModelEvent], first: float, faults: Faults
    ) -> AsyncGenerator[ModelEvent, None]:
        patience = first
        while True:
            try:
                async with asyncio.timeout(patience) as limit:
                    event = await anext(events, None)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise faults.error(StreamStalled, f"silent for {patience:g} s") from None
            if event is None:
                return
            yield event
            patience = self._patience.silence
