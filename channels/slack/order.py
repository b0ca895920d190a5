"""Slack sends events side by side, so that they overtake each other: here they get back the order they were written in."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from bot.core.ports import Clock

HOLD_SECONDS: Final = 0.05
"""How long an event waits for an older one of its conversation that may still be on its way: envelopes that Slack sends
at the same time arrive within milliseconds of each other."""

Key = tuple[int, int, int]
"""Seconds and digits of the event's ts, and a rank among those of the same ts."""


@dataclass(slots=True)
class _Line:
    waiting: list[tuple[Key, int]] = field(default_factory=list)
    moved: asyncio.Condition = field(default_factory=asyncio.Condition)
    busy: bool = False


class Order:
    """One event of a conversation at a time, the oldest first."""

    def __init__(self, clock: Clock, hold: float = HOLD_SECONDS) -> None:
        self._clock, self._hold = clock, hold
        self._lines: dict[str, _Line] = {}
        self._numbers = itertools.count()

    @asynccontextmanager
    async def turn(self, place: str, key: Key) -> AsyncIterator[None]:
        """Hold the conversation while the block runs."""
        line = self._lines.setdefault(place, _Line())
        ticket = (key, next(self._numbers))
        heapq.heappush(line.waiting, ticket)
        mine = False
        try:
            await self._clock.sleep(self._hold)
            async with line.moved:
                await line.moved.wait_for(lambda: not line.busy and line.waiting[0] == ticket)
                mine = line.busy = True
            yield
        finally:
            line.waiting.remove(ticket)
            heapq.heapify(line.waiting)
            line.busy = line.busy and not mine
            if not line.waiting:
                self._lines.pop(place, None)
            async with line.moved:
                line.moved.notify_all()
