"""How the command line talks to the daemon that owns a data folder: HTTP and WebSocket over its control socket."""

from __future__ import annotations

import errno
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from bot.app.lock import holder
from bot.app.socket_path import socket_of
from bot.core.errors import TransportError, TransportTimeout

_URL = "http://bowerbird"
"""The host name is never looked up: the connector only knows one socket."""

FRAME_BYTES = 64 * 1024 * 1024


class NoDaemon(TransportError):
    """Nothing listens for this data folder."""


class TerminalOff(TransportError):
    """The daemon runs, but without its terminal channel."""


class TerminalLink:
    """One attached connection. ``refusal`` is why the channel closed it for good ("" when it may be opened again)."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self.refusal = ""

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Raises ``TransportError`` when the connection is gone."""
        try:
            await self._socket.send_str(json.dumps(frame, ensure_ascii=False))
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError("The connection broke off.") from error

    async def frames(self) -> AsyncIterator[dict[str, Any]]:
        """What the channel sends, until the connection ends."""
        while True:
            message = await self._socket.receive()
            if message.type is aiohttp.WSMsgType.TEXT:
                yield json.loads(message.data)
                continue
            if message.type is aiohttp.WSMsgType.CLOSE and message.data in range(4000, 5000):
                self.refusal = message.extra or f"closed with code {message.data}"
            return


class ControlClient:
    """An async context manager. Every call raises ``NoDaemon``, ``TransportTimeout`` or ``TransportError``.

    ``timeout`` (seconds) bounds the wait for an answer to begin, not the life of a terminal connection.
    """

    def __init__(self, data_dir: Path, *, timeout: float = 10.0) -> None:
        self._data_dir = data_dir
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.UnixConnector(path=str(socket_of(self._data_dir)))
        limits = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout, sock_read=self._timeout)
        self._session = aiohttp.ClientSession(connector=connector, timeout=limits)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def status(self) -> Mapping[str, Any]:
        return await self._object("GET", "/status")

    async def routes(self) -> Mapping[str, Any]:
        """How the routes did: see ``bot.app.compared``."""
        return await self._object("GET", "/routes")

    async def pair(self) -> Mapping[str, Any]:
        """Who waits with a code, and who may talk: ``bot.inbox.pairing.Listing`` as plain values."""
        return await self._object("GET", "/pair")

    async def approve(self, code: str) -> Mapping[str, Any]:
        """``kind`` and ``person`` of a ``bot.store.people.Ruling`` as plain values."""
        return await self._object("POST", "/pair/approve", {"code": code})

    async def revoke(self, identity: str) -> Mapping[str, Any]:
        """The same for ``channel:id``."""
        return await self._object("POST", "/pair/revoke", {"identity": identity})

    async def trace(self, target: str, last: int | None = None) -> AsyncIterator[dict[str, Any]]:
        """The rows of an address or a turn as ``bot.app.records.row_json`` writes them, oldest first."""
        params = {} if last is None else {"last": str(last)}
        with self._translated():
            async with self._open.get(f"{_URL}/trace/{quote(target, safe='')}", params=params) as answer:
                await self._checked(answer)
                rest = b""
                async for chunk in answer.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        yield json.loads(line)

    @asynccontextmanager
    async def terminal(self, chat: str) -> AsyncIterator[TerminalLink]:
        """Attach to a chat of the terminal channel. Raises ``TerminalOff`` when the daemon runs without it."""
        with self._translated():
            socket = await self._open.ws_connect(
                f"{_URL}/terminal", params={"chat": chat}, heartbeat=30.0, max_msg_size=FRAME_BYTES
            )
        async with socket:
            yield TerminalLink(socket)

    async def _object(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        with self._translated():
            async with self._open.request(method, _URL + path, json=body) as answer:
                await self._checked(answer)
                found: Mapping[str, Any] = await answer.json()
                return found

    @property
    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("use ControlClient as an async context manager")
        return self._session

    async def _checked(self, answer: aiohttp.ClientResponse) -> None:
        if answer.status == 200:
            return
        try:
            reason = str((await answer.json())["error"])
        except (aiohttp.ContentTypeError, ValueError, KeyError, TypeError):
            reason = f"status {answer.status}; its log says why."
        raise TransportError(f"The running Bowerbird could not answer: {reason}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._translate(error) from error

    def _translate(self, error: Exception) -> TransportError:
        owner = holder(self._data_dir)
        who = f"Bowerbird (process {owner})" if owner else "Bowerbird"
        match error:
            case TimeoutError():
                return TransportTimeout(f"{who} does not answer on its control socket. See its log, or restart it.")
            case aiohttp.WSServerHandshakeError(status=403 | 404):
                return TerminalOff(
                    f"{who} runs without its terminal channel. Write `terminal: {{}}` under `channels:` and restart it."
                )
            case OSError(errno=errno.EACCES | errno.EPERM):
                return TransportError(f"The control socket in {self._data_dir} belongs to another user.")
            case aiohttp.ClientConnectorError():
                return NoDaemon(
                    f"Bowerbird is not running with the data folder {self._data_dir}. Start it with `bowerbird run`."
                )
            case _:
                return TransportError(f"The connection to {who} broke off.")
