"""A clock that a test drives by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools


class FakeClock:
    """Implements ``bot.core.ports.Clock``; time moves only by ``advance``. Sleepers wake in order of their deadlines."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._start = start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now - self._start

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    async def settle(self, rounds: int = 50) -> None:
        """Let every task run until it waits again."""
        for _ in range(rounds):
            await asyncio.sleep(0)

    async def advance(self, seconds: float) -> None:
        """Move time on, waking each sleeper at its own moment."""
        target = self._now + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            due, _, future = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not future.done():
                future.set_result(None)
            await self.settle()
        self._now = target
        await self.settle()
