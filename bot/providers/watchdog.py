"""Limits on silence, around any provider: an open stream that says nothing, or nothing but that it is open, has failed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.core.errors import StreamStalled
from bot.core.model import ModelAlive, ModelEvent, ModelRequest, ModelUsage
from bot.core.ports import Provider
from bot.providers.faults import Faults


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: until the first sign of life (connecting included), between two signs of life after it, for how long signs
    of life alone are believed, and for an answer that is not streamed."""

    first: float
    silence: float
    alive: float = 300.0
    whole: float = 600.0


class Watchdog:
    """Implements ``Provider``; raises ``StreamStalled``. Everything that arrives is a sign of life, keep-alives too, and
    puts off the end of the patience; but they alone do so for ``Patience.alive`` seconds at most. What counts from there
    on is progress: text, reasoning that says something, a call, arguments that grow, counts that change.

    Time that the caller spends between two events does not count.
    """

    def __init__(self, inner: Provider, name: str, patience: Patience) -> None:
        self._inner, self._name, self._patience = inner, name, patience

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        faults = Faults(self._name, request.model.model)
        loop = asyncio.get_running_loop()
        watch = _Watch(self._patience, self._patience.whole if request.whole else self._patience.first)
        began = loop.time()
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout_at(began + watch.first) as limit:
                    inner = await stack.enter_async_context(self._inner.stream(request))
            except TimeoutError:
                if not limit.expired():
                    raise
                raise faults.error(StreamStalled, f"no answer within {watch.first:g} s") from None
            watch.waited = loop.time() - began
            yield await stack.enter_async_context(aclosing(_watched(inner, watch, faults)))

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _watched(
    events: AsyncIterator[ModelEvent], watch: _Watch, faults: Faults
) -> AsyncGenerator[ModelEvent, None]:
    silence = _Silence()
    try:
        while True:
            silence.begins(watch.patience)
            try:
                event = await anext(events, None)
            except asyncio.CancelledError:
                if silence.is_why():
                    raise faults.error(StreamStalled, watch.words) from None
                raise
            finally:
                silence.ends()
            if event is None:
                return
            watch.arrived(event, silence.lasted)
            if not isinstance(event, ModelAlive):
                yield event
    finally:
        silence.aclose()


class _Watch:
    """How much longer one stream may be silent. ``waited`` is the time spent waiting since it last made progress."""

    def __init__(self, patience: Patience, first: float) -> None:
        self._patience, self.first = patience, first
        self.waited = 0.0
        self._alive = self._progressed = False
        self._usage: ModelUsage | None = None

    @property
    def patience(self) -> float:
        """Seconds that the next wait may take."""
        if not self._alive:
            return self.first - self.waited
        if self._progressed:
            return min(self._patience.silence, self._patience.alive - self.waited)
        own = max(self._patience.silence, self.first - self.waited)
        return min(own, max(self._patience.alive, self.first) - self.waited)

    @property
    def words(self) -> str:
        if self._alive and self.patience < self._patience.silence:
            return f"nothing but signs of life for {self._patience.alive:g} s"
        return f"silent for {self._patience.silence if self._progressed else self.first:g} s"

    def arrived(self, event: ModelEvent, seconds: float) -> None:
        """``event`` came after a wait of ``seconds``."""
        self._alive = True
        if isinstance(event, ModelAlive) or event == self._usage:
            self.waited += seconds
            return
        if isinstance(event, ModelUsage):
            self._usage = event
        self.waited, self._progressed = 0.0, True


class _Silence:
    """A limit on each of many waits at the price of one timer, which is set anew only when it goes off too early: the
    waits between the events of an answer are short, and there are hundreds of them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._deadline = 0.0
        self._began = 0.0
        self.lasted = 0.0
        self._asked = 0
        self._went_off = False
        self._timer: asyncio.TimerHandle | None = None

    def begins(self, seconds: float) -> None:
        """The running task waits from now on; it is cancelled after ``seconds`` unless ``ends`` is called."""
        self._task = asyncio.current_task()
        assert self._task is not None
        self._asked = self._task.cancelling()
        self._began = self._loop.time()
        self._deadline = self._began + seconds
        if self._timer is None or self._timer.when() > self._deadline:
            self._set()

    def ends(self) -> None:
        if self._went_off:
            self._taken_back()
        self._task = None
        self.lasted = self._loop.time() - self._began

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
