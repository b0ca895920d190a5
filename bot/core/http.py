"""The one HTTP transport as everything above `bot.net` sees it: its nouns, and the port that channels and providers ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

FETCH_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""The largest body that is read whole unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. ``connect`` covers waiting for a place in the pool, the name look-up and the handshake; ``silence`` the
    time between two pieces of an answer, its first included; ``total`` the whole exchange (None: without end)."""

    connect: float = 10.0
    silence: float = 60.0
    total: float | None = None


DEFAULT_TIMEOUTS: Final = Timeouts()


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer that was read whole. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Reply(Protocol):
    """An open answer. Header names are in lower case. Closing it, at any time and more than once, gives the connection
    back; where the body was not read to its end it ends the connection, which tells the server to stop."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives; ``TransportError`` when it breaks off before its announced end."""
        ...

    async def rest(self, seconds: float) -> None:
        """Let what the server sends gather outside the process for so long: one waking then brings it all."""
        ...

    async def read(self, limit_bytes: int = FETCH_LIMIT_BYTES) -> bytes:
        """The whole body; ``TransportError`` when it is longer than ``limit_bytes``."""
        ...

    async def aclose(self) -> None: ...


class Http(Protocol):
    """One pool of connections for the whole daemon.

    Raises ``TransportError`` or ``TransportTimeout``, never for a status. Their ``sent`` is True when the request may
    have reached the server. A request that is not idempotent goes out once at most; ``GET`` and its like may go out a
    second time when the server had closed a kept connection.
    """

    async def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        redirects: int = 0,
    ) -> Reply:
        """The answer, with its headers read; the caller closes it. ``redirects`` is how many are followed; one from
        https to http is refused."""
        ...

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        redirects: int = 0,
    ) -> AbstractAsyncContextManager[Reply]:
        """``open`` for a block, at whose end the answer is closed."""
        ...

    async def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        limit_bytes: int = FETCH_LIMIT_BYTES,
    ) -> Fetched:
        """A whole answer of at most ``limit_bytes``."""
        ...
