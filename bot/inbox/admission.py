"""How many turns may be live at once, and whose is next: fair between people, in order for each."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

LIVE_TURNS: Final = 256


class Admission:
    """At most ``limit`` slots. Waiting people take turns, so one who asks a hundred things does not hold up another."""

    def __init__(self, limit: int = LIVE_TURNS) -> None:
        self._free = limit
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def slot(self, person: str) -> AsyncIterator[None]:
        """Hold a slot; waits for one."""
        await self.take(person)
        try:
            yield
        finally:
            self.give()

    async def take(self, person: str) -> None:
        if self._free > 0 and not self._waiting:
            self._free -= 1
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person, deque()).append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.give()
            else:
                self._forget(person, future)
            raise

    def give(self) -> None:
        """Return a slot: to the person who waited through the most turns of others."""
        while self._waiting:
            person, queue = self._waiting.popitem(last=False)
            future = queue.popleft()
            if queue:
                self._waiting[person] = queue
            if not future.done():
                future.set_result(None)
                return
        self._free += 1

    def _forget(self, person: str, future: asyncio.Future[None]) -> None:
        queue = self._waiting.get(person)
        if queue is not None and future in queue:
            queue.remove(future)
            if not queue:
                del self._waiting[person]
