"""Serving HTTP and WebSocket inside the daemon's own event loop: knows uvicorn, and how to stop it with streams open."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import logging
from collections.abc import Generator, Sequence
from socket import socket
from types import TracebackType
from typing import Any, Self

import uvicorn
from websockets.exceptions import InvalidState

from bot.core.ports import AsgiApp
from bot.web import listen
from bot.web.front import Front
from bot.web.health import Health
from bot.web.metrics import Metrics

log = logging.getLogger(__name__)

GRACE = 2
"""Seconds that requests in flight get to finish; the house rule is to close within 3."""
GOODBYE = 0.2
"""Seconds in which open sockets may take leave."""
FRAME_BYTES = 1_310_720
PING_INTERVAL = 20.0
PING_TIMEOUT = 20.0
KEEP_ALIVE = 20


class _Uvicorn(uvicorn.Server):
    """Without signal handlers (the daemon has its own) and without ten wake-ups a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopping = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0) and not self.stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self.stopping.wait()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        try:
            await super().shutdown(sockets)
        except InvalidState:  # a socket that is closing already stops uvicorn on its way through the others
            for connection in list(self.server_state.connections):
                with contextlib.suppress(InvalidState):
                    connection.shutdown()
            await asyncio.sleep(GOODBYE)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class AsgiServer(abc.ABC):
    """Serves one ASGI app on sockets that are already listening; ``async with`` opens and closes it.

    Leaving ends every open stream: each request that waits for its client is told ``http.disconnect``.
    """

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._sockets: list[socket] = []
        self._closing = asyncio.Event()
        self._group = asyncio.TaskGroup()
        self._served: asyncio.Task[None] | None = None
        self._server: _Uvicorn | None = None

    @abc.abstractmethod
    async def _open(self) -> list[socket]:
        """Listening sockets, or a ``BowerbirdError`` that says what to do."""

    async def __aenter__(self) -> Self:
        self._sockets = await self._open()
        config = uvicorn.Config(
            self._serve_one,
            interface="asgi3",
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws_max_size=FRAME_BYTES,
            ws_ping_interval=PING_INTERVAL,
            ws_ping_timeout=PING_TIMEOUT,
            ws_per_message_deflate=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
        )
        self._server = _Uvicorn(config)
        await self._group.__aenter__()
        self._served = self._group.create_task(self._server.serve(sockets=self._sockets))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        assert self._served is not None
        self._closing.set()
        self._server.stopping.set()
        try:
            async with asyncio.timeout(GRACE + 0.8):
                await asyncio.wait({self._served})
        except TimeoutError:
            log.warning("the HTTP server did not close in time")
            self._served.cancel()
        finally:
            for one in self._sockets:
                one.close()
            self._released()
        await self._group.__aexit__(None, None, None)

    @abc.abstractmethod
    def _released(self) -> None:
        """Called once the sockets are closed."""

    async def run(self) -> None:
        """Serve until cancelled."""
        async with self:
            await asyncio.Event().wait()

    async def _serve_one(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        whole = False

        async def hear() -> Any:
            nonlocal whole
            if not whole:
                message = await receive()
                whole = message["type"] == "http.request" and not message.get("more_body", False)
                return message
            return await self._unless_closing(receive)

        await self._app(scope, hear, send)

    async def _unless_closing(self, receive: Any) -> Any:
        async with asyncio.TaskGroup() as group:
            heard = group.create_task(receive())
            closed = group.create_task(self._closing.wait())
            await asyncio.wait({heard, closed}, return_when=asyncio.FIRST_COMPLETED)
            message = heard.result() if heard.done() else {"type": "http.disconnect"}
            heard.cancel()
            closed.cancel()
        return message


class PortServer(AsgiServer):
    """An app on a TCP port. Implements ``bot.core.ports.Serve``, for channels that have a port of their own."""

    def __init__(self, app: AsgiApp, host: str, port: int, key: str) -> None:
        super().__init__(app)
        self._host, self._wanted_port, self._key = host, port, key

    async def _open(self) -> list[socket]:
        """Raises ``ConfigError`` with the reason and what to do when the port cannot be had."""
        return await listen.tcp(self._host, self._wanted_port, self._key)

    def _released(self) -> None:
        log.debug("the HTTP port of %s is closed", self._key)

    @property
    def port(self) -> int:
        """The port that is really open, which differs from the one asked for when that was 0."""
        return int(self._sockets[0].getsockname()[1])


class WebServer(PortServer):
    """The daemon's HTTP port: health and metrics, and every path they do not own goes to the mounted channels."""

    def __init__(
        self,
        host: str,
        port: int,
        mounts: Sequence[AsgiApp],
        health: Health,
        metrics: Metrics,
        *,
        key: str = "channels.web",
    ) -> None:
        super().__init__(Front(mounts, health, metrics), host, port, key)

    @property
    def url(self) -> str:
        """Where a person on this machine finds the page."""
        host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self._host, self._host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}/"
