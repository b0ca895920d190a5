"""The one HTTP transport: pooled, bounded, deaf to the environment; what aiohttp raises is translated here, once."""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from bot.core.errors import TransportError, TransportTimeout
from bot.core.http import DEFAULT_TIMEOUTS, FETCH_LIMIT_BYTES, Fetched, Timeouts
from bot.net.pool import Pool, departing
from bot.net.trust import trust

CONNECTIONS: Final = 1024
PER_HOST: Final = 512
"""Twice the 256 model streams that may run at once, and far above what a platform's rate lets be under way; two busy
hosts cannot take each other's places."""
READ_BYTES: Final = 64 * 1024
AT_ONCE_BYTES: Final = 256 * 1024
SURELY_SENT_BYTES: Final = 64 * 1024
SLOWEST_BYTES_PER_SECOND: Final = 16 * 1024
_BROKEN: Final = (aiohttp.ClientError, OSError)
"""All that aiohttp raises for what the network does; its timeouts are TimeoutErrors, and those are OSErrors."""


class Reply:
    """Implements ``bot.core.http.Reply``."""

    def __init__(self, response: aiohttp.ClientResponse, host: str) -> None:
        self._response, self._host = response, host
        self.status: int = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        content = self._response.content
        while True:
            try:
                chunk = await content.readany()
            except _BROKEN as error:
                raise _translated(error, self._host, sent=True) from None
            if not chunk:
                return
            yield chunk

    async def rest(self, seconds: float) -> None:
        connection = self._response.connection
        transport = connection.transport if connection is not None else None
        if not isinstance(transport, asyncio.ReadTransport) or self._response.content.is_eof():
            return
        transport.pause_reading()
        try:
            await asyncio.sleep(seconds)
        finally:
            transport.resume_reading()

    async def read(self, limit_bytes: int = FETCH_LIMIT_BYTES) -> bytes:
        body = bytearray()
        async for chunk in self.aiter_bytes():
            body += chunk
            if len(body) > limit_bytes:
                raise TransportError(f"{self._host} sent more than {limit_bytes} bytes.")
        return bytes(body)

    async def aclose(self) -> None:
        if self._response.content.is_eof():
            self._response.release()
        else:
            self._response.close()


class Transport:
    """Implements ``bot.core.http.Http``. No proxy, cookie or key comes from the environment or from files; nothing is
    compressed, so that the limits on sizes mean what they say. Usable from the event loop that first asks it for
    something."""

    def __init__(
        self,
        *,
        connections: int = CONNECTIONS,
        per_host: int = PER_HOST,
        slowest_bytes_per_second: float = SLOWEST_BYTES_PER_SECOND,
        trusted: ssl.SSLContext | bool | None = None,
    ) -> None:
        """A body may take as long to leave as at ``slowest_bytes_per_second``, and no longer. ``trusted`` is what
        ``trust`` gives, and None asks it."""
        self._connections, self._per_host = connections, per_host
        self._slowest = slowest_bytes_per_second
        self._session: aiohttp.ClientSession | None = None
        self._trust = trusted
        self._closed = False

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
        host, session = _host_of(url), self._opened()
        with departing() as departure:
            try:
                async with asyncio.timeout(self._sending_seconds(body, timeouts)):
                    response = await session.request(
                        method,
                        url,
                        headers={"Accept-Encoding": "identity", **(headers or {})},
                        data=_pieces(body),
                        allow_redirects=redirects > 0,
                        max_redirects=max(redirects, 1),
                        timeout=_limits(timeouts),
                        ssl=self._trusted(),
                    )
            except asyncio.CancelledError:
                departure.hang_up()
                raise
            except _BROKEN as error:
                departure.hang_up()
                raise _translated(error, host, sent=departure.left) from None
        reply = Reply(response, host)
        if url.startswith("https:") and any(step.url.scheme == "http" for step in (*response.history, response)):
            await reply.aclose()
            raise TransportError(f"{host} led to an address that is not encrypted.")
        return reply

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        redirects: int = 0,
    ) -> AsyncIterator[Reply]:
        reply = await self.open(method, url, headers=headers, body=body, timeouts=timeouts, redirects=redirects)
        try:
            yield reply
        finally:
            await reply.aclose()

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
        reply = await self.open(method, url, headers=headers, body=body, timeouts=timeouts)
        try:
            return Fetched(reply.status, reply.headers, await reply.read(limit_bytes))
        finally:
            await reply.aclose()

    async def aclose(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> aiohttp.ClientSession:
        if self._closed:
            raise TransportError("The transport is closed.", sent=False)
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=Pool(self._connections, self._per_host),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                read_bufsize=READ_BYTES,
            )
        return self._session

    def _sending_seconds(self, body: bytes | None, timeouts: Timeouts) -> float | None:
        """A limit for bodies that a socket's buffer may not take whole: aiohttp listens for silence only behind them,
        and a server that reads no further would hold them up for ever."""
        if body is None or len(body) <= SURELY_SENT_BYTES:
            return None
        return timeouts.connect + timeouts.silence + len(body) / self._slowest

    def _trusted(self) -> ssl.SSLContext | bool:
        if self._trust is None:
            self._trust = trust()
        return self._trust


def _pieces(body: bytes | None) -> bytes | io.BytesIO | None:
    """A large body leaves in pieces, so that it does not hold up everything else."""
    return io.BytesIO(body) if body is not None and len(body) > AT_ONCE_BYTES else body


@lru_cache(maxsize=64)
def _limits(timeouts: Timeouts) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=timeouts.total,
        connect=timeouts.connect,
        sock_connect=timeouts.connect,
        sock_read=timeouts.silence,
    )


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the server"
    except ValueError:
        raise TransportError("That is not a web address.", sent=False) from None


def _translated(error: Exception, host: str, *, sent: bool) -> TransportError:
    """aiohttp's errors in the words of the house. They name the host and nothing else: an address may hold a key, and
    so do aiohttp's own errors, which is why none of them is kept as a cause."""
    if isinstance(error, TimeoutError):
        return TransportTimeout(f"{host} did not answer in time.", sent=sent)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return TransportError(f"{host} cannot be reached safely: its certificate is not accepted.", sent=sent)
    if isinstance(error, aiohttp.ClientConnectorError):
        return TransportError(f"{host} cannot be reached.", sent=sent)
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return TransportError("That is not a web address.", sent=sent)
    if isinstance(error, aiohttp.TooManyRedirects):
        return TransportError(f"{host} redirects too often.", sent=sent)
    return TransportError(f"The connection to {host} was lost.", sent=sent)
