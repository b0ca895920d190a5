"""A limit on silence, around any provider: an open stream that says nothing is a failed one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

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
        silence = _Silence()
        patience = first
        try:
            while True:
                silence.begins(patience)
                try:
                    event = await anext(events, None)
                except asyncio.CancelledError:
                    if silence.is_why():
                        raise faults.error(StreamStalled, f"silent for {patience:g} s") from None
                    raise
                finally:
                    silence.ends()
                if event is None:
                    return
                yield event
                patience = self._patience.silence
        finally:
            silence.aclose()


class _Silence:
    """A limit on each of many waits at the price of one timer, which is set anew only when it goes off too early: the
    waits between the events of an answer are short, and there are hundreds of them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._deadline = 0.0
        self._asked = 0
        self._went_off = False
        self._timer: asyncio.TimerHandle | None = None

    def begins(self, seconds: float) -> None:
        """The running task waits from now on; it is cancelled after ``seconds`` unless ``ends`` is called."""
        self._task = asyncio.current_task()
        assert self._task is not None
        self._asked = self._task.cancelling()
        self._deadline = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._deadline:
            self._set()

    def ends(self) -> None:
        if self._went_off:
            self._taken_back()
        self._task = None

    def is_why(self) -> bool:
        """Whether a cancellation that has arrived is the limit's own, and nobody else has asked for one."""
        return self._went_off and self._taken_back() <= self._asked

    def aclose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _taken_back(self) -> int:
        """How many cancellations of the task are left without the limit's own."""
        self._went_off = False
        return self._task.uncancel() if self._task is not None else 0

    def _set(self) -> None:
        self.aclose()
        self._timer = self._loop.call_at(self._deadline, self._looked)

    def _looked(self) -> None:
        self._timer = None
        if self._task is None:
            return
        if self._loop.time() < self._deadline:
            self._set()
            return
        self._went_off = True
        self._task.cancel()
