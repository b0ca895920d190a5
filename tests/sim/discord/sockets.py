"""One gateway connection: its compressed frames in order, its heartbeats, what it may send, and its ways to fall silent."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiohttp import web

from tests.sim.discord.sessions import Event, Session

SENDS, SEND_SECONDS = 120, 60.0
LATE = 1.5
"""A heartbeat may come this many intervals after the one before it."""


class Socket:
    """``zombie``: nothing goes out at all. ``deaf``: heartbeats are answered and events withheld; they stay numbered."""

    def __init__(
        self, request: web.Request, ws: web.WebSocketResponse, sent: Callable[[Event], None], interval: float
    ) -> None:
        self._request, self._ws, self._sent = request, ws, sent
        self.interval = interval
        self.session: Session | None = None
        self.zombie = self.deaf = False
        self.closed_by_us: int | None = None
        self.beat_at = time.monotonic()
        self._sends: deque[float] = deque()
        self._queue: asyncio.Queue[str | Event] = asyncio.Queue()
        self._withheld: list[str | Event] = []
        compress = request.query.get("compress") == "zlib-stream"
        self._deflate = zlib.compressobj() if compress else None

    def send(self, op: int, body: Any = None) -> None:
        """Queue a frame that is no event."""
        self._put(json.dumps({"op": op, "d": body, "s": None, "t": None}))

    def send_event(self, event: Event) -> None:
        self._put(event)

    def hush(self, *, zombie: bool | None = None, deaf: bool | None = None) -> None:
        """Fall silent or speak again; what was withheld goes out then."""
        self.zombie = self.zombie if zombie is None else zombie
        self.deaf = self.deaf if deaf is None else deaf
        waiting, self._withheld = self._withheld, []
        for frame in waiting:
            self._put(frame)

    def beat(self) -> None:
        """A heartbeat came."""
        self.beat_at = time.monotonic()

    def too_many(self, now: float) -> bool:
        """Count a frame from the app; True beyond 120 in 60 s."""
        while self._sends and self._sends[0] <= now - SEND_SECONDS:
            self._sends.popleft()
        self._sends.append(now)
        return len(self._sends) > SENDS

    async def write(self) -> None:
        """Send what is queued, in order, until cancelled."""
        while True:
            frame = await self._queue.get()
            text = frame.text() if isinstance(frame, Event) else frame
            with suppress(ConnectionError, RuntimeError):
                if self._deflate is None:
                    await self._ws.send_str(text)
                else:
                    packed = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
                    await self._ws.send_bytes(packed)
                if isinstance(frame, Event):
                    self._sent(frame)

    async def watch(self, missed: Callable[[], None]) -> None:
        """Close with 4009 when heartbeats stop. By real time, as the library beats from a thread of its own."""
        while True:
            await asyncio.sleep(self.interval / 4)
            if time.monotonic() - self.beat_at > self.interval * LATE:
                missed()
                await self.close(4009)
                return

    async def close(self, code: int) -> None:
        """Close with this code; 1006 breaks the connection without a word."""
        self.closed_by_us = self.closed_by_us or code
        if code == 1006:
            if self._request.transport is not None:
                self._request.transport.abort()
            return
        await self._drain()
        await self._ws.close(code=code)

    async def _drain(self) -> None:
        """Let what is queued go out first."""
        for _ in range(20):
            if self._queue.empty():
                break
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _put(self, frame: str | Event) -> None:
        if self.zombie or (self.deaf and isinstance(frame, Event)):
            self._withheld.append(frame)
        else:
            self._queue.put_nowait(frame)
