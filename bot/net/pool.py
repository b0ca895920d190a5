"""The pool of connections: which request has left for its server, and which kept connection is dead."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import aiohttp

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

KEEP_SECONDS: Final = 50.0
"""How long an idle connection is kept: longer than a chat's pauses, shorter than the minute after which most servers
hang up. One that hung up earlier is found out before it is used."""


class Departure:
    """One request on its way. ``left``: it has been given a connection, so its bytes may have arrived."""

    __slots__ = ("_connection", "left")

    def __init__(self) -> None:
        self.left = False
        self._connection: asyncio.Transport | None = None

    def goes_by(self, connection: asyncio.Transport | None) -> None:
        self.left = self.left or connection is not None
        self._connection = connection

    def hang_up(self) -> None:
        """Throw away what has not gone out: an orderly close would wait for the server to take it."""
        if self._connection is not None:
            self._connection.abort()


_current: ContextVar[Departure] = ContextVar("departure")


@contextmanager
def departing() -> Iterator[Departure]:
    """The requests made in the block are one: the first of them that leaves makes it left."""
    departure = Departure()
    token = _current.set(departure)
    try:
        yield departure
    finally:
        _current.reset(token)


class Pool(aiohttp.TCPConnector):
    """A request never goes out on a connection that its server has closed: nothing of it would arrive, yet nobody could
    tell, and a message may not be sent twice. aiohttp itself notices only what its event loop has had time to read."""

    def __init__(self, connections: int, per_host: int) -> None:
        super().__init__(limit=connections, limit_per_host=per_host, keepalive_timeout=KEEP_SECONDS)
        self._served: WeakSet[ResponseHandler] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        departure = _current.get(None)
        if departure is not None:
            departure.goes_by(None)
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            assert protocol is not None
            if protocol in self._served and _is_dead(protocol):
                connection.close()
                continue
            self._served.add(protocol)
            if departure is not None:
                departure.goes_by(connection.transport)
            return connection


def _is_dead(protocol: ResponseHandler) -> bool:
    """An idle connection has nothing to say. Where there is something to read, it is the server's farewell."""
    transport = protocol.transport
    sock = transport.get_extra_info("socket") if transport is not None else None
    if sock is None or sock.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(sock.fileno(), select.POLLIN)
    return bool(poll.poll(0))
