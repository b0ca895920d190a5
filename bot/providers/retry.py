"""Further attempts, around any provider, as long as nothing of the answer has been given."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from random import Random
from typing import Final

from bot.core.errors import ProviderError, StreamStalled
from bot.core.model import ModelAlive, ModelCall, ModelEvent, ModelRequest, ModelStop, ModelText, ModelThinking
from bot.core.ports import Clock, Provider

log = logging.getLogger(__name__)

STALLED_ATTEMPTS: Final = 2
"""A stall has cost the whole patience of the watchdog already; the next model is the better third attempt."""
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
LONGEST_WAIT: Final = 60.0
"""A vendor that wants to be left alone for longer is passed over: the caller may have another model."""
_EMPTY: Final = (ModelThinking(""), ModelAlive())


class Retry:
    """Implements ``Provider``. Entering waits for the first text or call; until then, also within the reasoning, which
    nobody is shown, an error that is ``retryable`` is tried again after 1, 2, 4 … 30 seconds (half to one and a half of
    that), or after what the vendor asked for, up to ``request.attempts`` times in all. From then on errors pass through,
    so that no text can come twice. Every error says which ``attempt`` met it.
    """

    def __init__(self, inner: Provider, name: str, clock: Clock, random: Random) -> None:
        self._inner, self._name, self._clock, self._random = inner, name, clock, random

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        async with AsyncExitStack() as stack:
            head, events, attempt = await self._started(request, stack)
            yield await stack.enter_async_context(aclosing(_joined(head, events, attempt)))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _started(
        self, request: ModelRequest, stack: AsyncExitStack
    ) -> tuple[list[ModelEvent], AsyncIterator[ModelEvent], int]:
        attempt = request.tried + 1
        if request.tried:
            await self._clock.sleep(self._backoff(request.tried))
        while True:
            async with AsyncExitStack() as trial:
                try:
                    events = await trial.enter_async_context(self._inner.stream(request))
                    head = await _head(events, request)
                except ProviderError as error:
                    error.attempt = attempt
                    pause = self._pause(error, request)
                    if pause is None:
                        raise
                    log.info(
                        "%s: attempt %d for %s failed (%s), again in %.1f s",
                        self._name,
                        attempt,
                        request.model.model,
                        type(error).__name__,
                        pause,
                    )
                else:
                    await stack.enter_async_context(trial.pop_all())
                    return head, events, attempt
            await self._clock.sleep(pause)
            attempt += 1

    def _pause(self, error: ProviderError, request: ModelRequest) -> float | None:
        """Seconds until the next attempt; None when there is none."""
        allowed = min(request.attempts, STALLED_ATTEMPTS) if isinstance(error, StreamStalled) else request.attempts
        if not error.retryable or error.attempt >= allowed or (error.retry_after or 0.0) > LONGEST_WAIT:
            return None
        return max(self._backoff(error.attempt), error.retry_after or 0.0)

    def _backoff(self, failed: int) -> float:
        """Seconds to wait once ``failed`` attempts have failed."""
        return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (failed - 1) * self._random.uniform(0.5, 1.5))


async def _head(events: AsyncIterator[ModelEvent], request: ModelRequest) -> list[ModelEvent]:
    """Everything up to the first text or call (or the end), without empty signs of life. What comes to nothing, because
    it fails or nobody wants it any more, is told as wasted."""
    head: list[ModelEvent] = []
    started = False
    try:
        async for event in events:
            if event not in _EMPTY:
                head.append(event)
            if isinstance(event, ModelText | ModelCall | ModelStop):
                started = True
                break
    finally:
        if not started and request.wasted is not None:
            request.wasted(head)
    return head


async def _joined(
    head: list[ModelEvent], events: AsyncIterator[ModelEvent], attempt: int
) -> AsyncGenerator[ModelEvent, None]:
    for event in head:
        yield event
    try:
        async for event in events:
            yield event
    except ProviderError as error:
        error.attempt = attempt
        raise
