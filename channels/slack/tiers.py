"""How often each method of the Web API may be called, beside what the governor keeps, and the waits that Slack asked for."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Final

from bot.core.ports import Clock
from bot.outbox.silences import Silences

POST: Final = "chat.postMessage"
MINUTE: Final = 60.0


class Tier:
    """``burst`` calls at once and ``per_minute`` evenly: in any minute never more than both together."""

    def __init__(self, clock: Clock, per_minute: float, burst: int) -> None:
        self._clock, self._interval = clock, MINUTE / per_minute
        self._slack = (burst - 1) * self._interval
        self._level_at = -inf

    @property
    def wait(self) -> float:
        """Seconds until a call would fit."""
        return max(0.0, self._level_at - self._slack - self._clock.monotonic())

    def take(self) -> bool:
        """Take one call if it fits now."""
        if self.wait > 0:
            return False
        self._count()
        return True

    async def turn(self) -> None:
        """Take one call, however long that takes."""
        wait = self.wait
        self._count()
        if wait > 0:
            await self._clock.sleep(wait)

    def _count(self) -> None:
        self._level_at = max(self._clock.monotonic(), self._level_at) + self._interval


class Window:
    """At most ``limit`` calls in any minute, spread as one likes."""

    def __init__(self, clock: Clock, limit: int) -> None:
        self._clock, self._limit = clock, limit
        self._taken: deque[float] = deque()

    @property
    def left(self) -> int:
        """How many calls would fit now."""
        while self._taken and self._taken[0] <= self._clock.monotonic() - MINUTE:
            self._taken.popleft()
        return self._limit - len(self._taken)

    def take(self) -> None:
        self._taken.append(self._clock.monotonic())


class Waits:
    """Slack asks to wait per method and workspace, for posts per channel. A wait outlives the process."""

    def __init__(self, silences: Silences, clock: Clock) -> None:
        self._silences, self._clock = silences, clock
        self._until: dict[str, float] = {}

    async def left(self, method: str, channel: str) -> float:
        """The seconds for which this call may not be made yet; 0 where nothing is in its way."""
        place = _place(method, channel)
        inherited = await self._silences.left(place)
        left = self._until.get(place, 0.0) - self._clock.monotonic()
        if left <= 0:
            self._until.pop(place, None)
        return max(0.0, left, inherited)

    async def keep(self, method: str, channel: str, seconds: float) -> None:
        place = _place(method, channel)
        self._until[place] = max(self._until.get(place, 0.0), self._clock.monotonic() + seconds)
        await self._silences.keep(place, seconds)


def _place(method: str, channel: str) -> str:
    return f"{method} {channel}" if method == POST else method
