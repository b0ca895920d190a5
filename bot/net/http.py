"""The one HTTP transport for servers without a client library of their own: pooled, bounded, deaf to the environment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from bot.core.errors import TransportError, TransportTimeout

FETCH_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""The largest body that is read whole unless the caller says otherwise."""
READ_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. ``connect`` covers waiting for a place in the pool, the name look-up and the handshake; ``silence`` the
    time between two pieces of an answer, its first included; ``total`` the whole exchange (None: without end)."""

    connect: float = 10.0
    silence: float = 60.0
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer that was read whole. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Reply:
    """An open answer. Leave the block it came from, or ``aclose``, to give the connection back."""

    def __init__(self, response: aiohttp.ClientResponse, host: str) -> None:
        self._response, self._host = response, host
        self.status: int = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives; ``TransportError`` when it breaks off before its announced end."""
        while True:
            with _translated(self._host):
                chunk = await self._response.content.readany()
            if not chunk:
                return
            yield chunk

    async def read(self, limit_bytes: int = FETCH_LIMIT_BYTES) -> bytes:
        """The whole body; ``TransportError`` when it is longer than ``limit_bytes``."""
        body = bytearray()
        async for chunk in self.aiter_bytes():
            body += chunk
            if len(body) > limit_bytes:
                raise TransportError(f"{self._host} sent more than {limit_bytes} bytes.")
        return bytes(body)

    async def aclose(self) -> None:
        """An answer that was not read to its end takes its connection with it, which tells the server to stop."""
        if self._response.content.is_eof():
            self._response.release()
        else:
            self._response.close()


class Transport:
    """A pool of connections. No proxy, cookie or key comes from the environment or from files; nothing is compressed,
    so that the limits on sizes mean what they say. Usable from the event loop that first asks it for something."""

    def __init__(self, *, connections: int = 64, per_host: int = 16) -> None:
        self._connections, self._per_host = connections, per_host
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = Timeouts(),
        redirects: int = 0,
    ) -> AsyncIterator[Reply]:
        """The answer, with its headers read. Raises ``TransportError`` or ``TransportTimeout``, never for a status.

        ``redirects`` is how many are followed; one from https to http is refused. Leaving the block closes the answer.
        """
        host = _host_of(url)
        with _translated(host):
            response = await self._open().request(
                method,
                url,
                headers={"Accept-Encoding": "identity", **(headers or {})},
                data=body,
                allow_redirects=redirects > 0,
                max_redirects=max(redirects, 1),
                timeout=aiohttp.ClientTimeout(
                    total=timeouts.total,
                    connect=timeouts.connect,
                    sock_connect=timeouts.connect,
                    sock_read=timeouts.silence,
                ),
            )
        reply = Reply(response, host)
        try:
            if url.startswith("https:") and any(step.url.scheme == "http" for step in (*response.history, response)):
                raise TransportError(f"{host} led to an address that is not encrypted.")
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
        timeouts: Timeouts = Timeouts(),
        limit_bytes: int = FETCH_LIMIT_BYTES,
    ) -> Fetched:
        """A whole answer of at most ``limit_bytes``."""
        async with self.request(method, url, headers=headers, body=body, timeouts=timeouts) as reply:
            return Fetched(reply.status, reply.headers, await reply.read(limit_bytes))

    async def aclose(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise TransportError("The transport is closed.")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections, limit_per_host=self._per_host),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                read_bufsize=READ_BYTES,
            )
        return self._session


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the server"
    except ValueError:
        raise TransportError("That is not a web address.") from None


@contextmanager
def _translated(host: str) -> Iterator[None]:
    """aiohttp's errors in the words of the house; they name the host and nothing else of the address."""
    try:
        yield
    except TimeoutError as error:  # aiohttp's timeouts are TimeoutErrors too
        raise TransportTimeout(f"{host} did not answer in time.") from error
    except aiohttp.ClientConnectorError as error:
        raise TransportError(f"{host} cannot be reached.") from error
    except aiohttp.InvalidURL as error:
        raise TransportError("That is not a web address.") from error
    except aiohttp.TooManyRedirects as error:
        raise TransportError(f"{host} redirects too often.") from error
    except (aiohttp.ClientError, OSError) as error:
        raise TransportError(f"The connection to {host} was lost.") from error
