"""Server-Sent Events, and what they share with the WebSocket: seats, catching up, and noticing that a client is gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.ports import ChannelKit
from bot.core.tasks import first_failure
from channels.web.events import Frame, Hub, Reader
from channels.web.refusal import Refused
from channels.web.story import opening

SEATS_PER_CLIENT: Final = 128
"""Pages, and streams of scripts, that one client may hold open; behind a proxy that does not tell its clients apart all
of them are one."""
SEATS: Final = 512
SEND_SECONDS: Final = 45.0
"""A reader that takes nothing for so long is cut off; it catches up when it comes back."""
HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
}


@dataclass(slots=True)
class Seats:
    """How many streams are open, in all and for each client."""

    taken: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def seat(self, connection: HTTPConnection) -> Iterator[None]:
        """Raises ``Refused`` (503) when there is none left."""
        client = client_of(connection)
        if self.taken[client] >= SEATS_PER_CLIENT or self.taken.total() >= SEATS:
            raise Refused(503, "too_many")
        self.taken[client] += 1
        try:
            yield
        finally:
            self.taken[client] -= 1
            if not self.taken[client]:
                del self.taken[client]


def client_of(connection: HTTPConnection) -> str:
    """The address of whoever is connected, as the last proxy saw it where there is one. Only people with the token come
    through a proxy, so nobody gains by a false header but a seat among the ``SEATS`` of all."""
    told = connection.headers.get("x-forwarded-for", "").split(",")[-1].strip() or connection.headers.get(
        "x-real-ip", ""
    )
    return told.strip()[:64] or (connection.client.host if connection.client else "")


def cursor_of(connection: HTTPConnection) -> int | None:
    """The last event the client has: ``Last-Event-ID``, or ``after`` where a header cannot be set."""
    text = connection.headers.get("last-event-id") or connection.query_params.get("after") or ""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Refused(400, "bad_after")
    return int(text)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a reader is given at once: frames of its chat, news from elsewhere, and whether a heartbeat is due."""

    frames: list[Frame]
    asides: list[Frame]
    beat: bool
    tip: int
    """The last event's id, once this batch is delivered."""


class Following:
    """One reader of one chat, from its cursor on."""

    def __init__(self, kit: ChannelKit, hub: Hub, address: Address, cursor: int | None, *, page: bool) -> None:
        self._kit, self._hub, self._address = kit, hub, address
        self._cursor, self._page = cursor, page

    async def run(self, deliver: Callable[[Batch], Awaitable[None]]) -> None:
        """Until the reader takes nothing for too long, or what it missed cannot be read: then it must come again.

        The first batch is delivered at once, even an empty one.
        """
        reader = self._hub.open(self._address.chat, self._cursor, page=self._page)
        try:
            while True:
                batch = await self._batch(reader)
                async with asyncio.timeout(SEND_SECONDS):
                    await deliver(batch)
                await reader.awake.wait()
        except (TimeoutError, StoreError):
            return
        finally:
            self._hub.close(self._address.chat, reader)

    async def _batch(self, reader: Reader) -> Batch:
        reader.awake.clear()
        frames = await opening(self._hub, self._kit, self._address, reader)
        asides, reader.asides = list(reader.asides.values()), {}
        beat, reader.beat = reader.beat, False
        return Batch(frames, asides, beat, reader.cursor or 0)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> bool:
    """Run ``work`` until it ends or the client is gone. True when it ended by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            worker = group.create_task(work)
            watcher = group.create_task(_gone(receive))
            await asyncio.wait({worker, watcher}, return_when=asyncio.FIRST_COMPLETED)
            finished = worker.done()
            worker.cancel()
            watcher.cancel()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None
    return finished


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """The answer to ``GET /v1/events``."""

    def __init__(self, following: Following, seats: Seats, connection: HTTPConnection) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._following, self._seats, self._connection = following, seats, connection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._seats.seat(self._connection):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                await while_connected(receive, self._following.run(_Writer(send)))
            await send({"type": "http.response.body", "body": b""})


class _Writer:
    def __init__(self, send: Send) -> None:
        self._send, self._opened = send, False

    async def __call__(self, batch: Batch) -> None:
        body = b"".join(frame.sse() for frame in (*batch.frames, *batch.asides))
        if not self._opened:
            self._opened = True
            # the tip's number comes last: a reader that is cut off before it must not believe that it has everything
            body = b": open\n\n%sid: %d\n\n" % (body, batch.tip)
        if batch.beat:
            body += b": beat\n\n"
        if body:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
