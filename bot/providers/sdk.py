"""How the vendors' own libraries are kept to making requests: the house carries them, nothing comes from the environment."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from bot.core.http import FETCH_LIMIT_BYTES, Http, Reply, Timeouts

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS: Final = 10.0
ERROR_BYTES: Final = 64 * 1024
_REPLY: Final = "reply"
_KEPT_BACK: Final = frozenset(
    {"host", "accept-encoding", "connection", "content-length", "transfer-encoding", "cookie"}
)
"""Headers of the library's HTTP client that are the transport's to set, or nobody's."""
_CHATTY: Final = ("httpx", "httpx2", "httpcore", "httpcore2")
_HIDING: Final = threading.Lock()


def install_hint(package: str) -> str:
    """Why ``package`` cannot be used: "" when it is installed (it is not imported), else what to do."""
    if importlib.util.find_spec(package) is not None:
        return ""
    return f"The library {package} is not installed: pip install 'bowerbird[{package}]'."


@contextmanager
def clean_environment(*prefixes: str) -> Iterator[None]:
    """Hide variables by their beginnings, and those of proxies, while a library is imported and its client built.

    The libraries read keys, addresses, headers, log levels and tracing switches from them. Nothing in the block may
    wait: the environment belongs to the whole process, and only one thread at a time may hide parts of it.
    """
    with _HIDING:
        names = [name for name in os.environ if name.startswith(prefixes) or name.lower().endswith("_proxy")]
        hidden = {name: os.environ.pop(name) for name in names}
        try:
            yield
        finally:
            os.environ.update(hidden)


def hush(library: str) -> None:
    """Keep a vendor's library and its transport from logging requests, which hold addresses and prompts."""
    for name in (library, *_CHATTY):
        logging.getLogger(name).setLevel(logging.WARNING)


class Carrier:
    """The transport below a vendor's library, which asks it as it would ask one of httpx or httpx2: the library makes the
    request, the house's transport carries it.

    A good answer is handed over unread, under ``reply_of``, so that its bytes go around the library; of any other the
    beginning is read for the library to make its error of. Raises ``TransportError`` through the library.
    """

    def __init__(self, http: Http | Nowhere, read_seconds: float, response: Callable[..., Any]) -> None:
        """``response`` is the class of responses of the library's own HTTP library."""
        self._http, self._response = http, response
        self._timeouts = Timeouts(connect=CONNECT_SECONDS, silence=read_seconds)

    async def handle_async_request(self, request: Any) -> Any:
        reply = await self._http.open(
            request.method,
            str(request.url),
            headers={name: value for name, value in request.headers.items() if name not in _KEPT_BACK},
            body=await request.aread(),
            timeouts=self._timeouts,
        )
        if 200 <= reply.status < 300:
            return self._response(reply.status, headers=reply.headers, content=b"", extensions={_REPLY: reply})
        try:
            return self._response(reply.status, headers=reply.headers, content=await beginning_of(reply))
        finally:
            await reply.aclose()

    async def aclose(self) -> None:
        """The transport is the house's."""

    async def __aenter__(self) -> Carrier:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


def reply_of(response: Any) -> Reply:
    """The open answer behind a response of a ``Carrier``; it is for the caller to close."""
    reply: Reply = response.extensions[_REPLY]
    return reply


async def beginning_of(reply: Reply) -> bytes:
    """As much of an error's body as is worth reading."""
    body = bytearray()
    async for chunk in reply.aiter_bytes():
        body += chunk
        if len(body) > ERROR_BYTES:
            break
    return bytes(body[:ERROR_BYTES])


def carried(http: Http | Nowhere, read_seconds: float) -> httpx2.AsyncClient:
    """What the anthropic and openai libraries take for their HTTP client."""
    import httpx2

    carrier = cast("httpx2.AsyncBaseTransport", Carrier(http, read_seconds, httpx2.Response))
    return httpx2.AsyncClient(transport=carrier, timeout=read_seconds, trust_env=False, follow_redirects=False)


class _Unsaid:
    """The answer to a request that was never sent. Implements ``bot.core.http.Reply``."""

    status: Final = 200
    headers: Final[Mapping[str, str]] = {}

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for nothing in (b"",):
            yield nothing

    async def rest(self, seconds: float) -> None:
        pass

    async def read(self, limit_bytes: int = FETCH_LIMIT_BYTES) -> bytes:
        return b""

    async def aclose(self) -> None:
        pass


class Nowhere:
    """Carries a rehearsal: nothing leaves the process."""

    async def open(self, *_: object, **__: object) -> Reply:
        return _Unsaid()


def rehearse(request: Coroutine[Any, Any, Reply]) -> None:
    """Make a request over ``Nowhere``, in a thread: what a library does only at its first one is done then."""
    asyncio.run(request)
