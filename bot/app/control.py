"""The daemon's own small HTTP application, served on the control socket to the command line."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from socket import socket

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from bot.app.lock import FolderLock
from bot.app.records import ALL_ROWS, Records, row_json, rows_of
from bot.app.socket_path import ControlSocket
from bot.core.errors import BowerbirdError
from bot.core.ports import AsgiApp, Control
from bot.core.transcript import Row
from bot.web.server import AsgiServer

log = logging.getLogger(__name__)


def control_app(
    control: Control, records: Records, terminal: AsgiApp | None = None, more: Sequence[BaseRoute] = ()
) -> Starlette:
    """``GET /status``, ``GET /trace/{address or turn}?last=N`` and, where the terminal channel is on, ``WS /terminal?chat=…``.

    Who may connect is decided by the socket file (0600), not here. ``terminal`` is the channel's own ASGI handler,
    ``more`` what other rooms answer.
    """

    async def status(request: Request) -> Response:
        return JSONResponse(dict(await control.status()))

    async def trace(request: Request) -> Response:
        try:
            last = int(request.query_params.get("last", ALL_ROWS))
        except ValueError:
            return JSONResponse({"error": "last must be a whole number"}, status_code=400)
        rows = await rows_of(records, request.path_params["target"], max(1, min(last, ALL_ROWS)))
        return StreamingResponse(_lines(rows), media_type="application/x-ndjson")

    routes: list[BaseRoute] = [Route("/status", status), Route("/trace/{target:path}", trace), *more]
    if terminal is not None:
        routes.append(WebSocketRoute("/terminal", _delegate(terminal)))
    return Starlette(routes=routes, exception_handlers={BowerbirdError: _refused})


class ControlServer(AsgiServer):
    """Serves the control app for the owner of the data folder's lock; ``async with`` opens and removes the socket."""

    def __init__(self, lock: FolderLock, app: AsgiApp) -> None:
        super().__init__(app)
        self._place = ControlSocket(lock)

    @property
    def path(self) -> Path:
        """Where the command line finds it, once it is open."""
        return self._place.path

    async def _open(self) -> list[socket]:
        """Raises ``StoreError`` when there is no place for the socket."""
        return [self._place.open()]

    def _released(self) -> None:
        self._place.remove()


def _delegate(app: AsgiApp) -> Callable[[WebSocket], Awaitable[None]]:
    async def endpoint(websocket: WebSocket) -> None:
        await app(websocket.scope, websocket.receive, websocket.send)

    return endpoint


async def _lines(rows: Sequence[Row]) -> AsyncIterator[bytes]:
    for row in rows:
        yield row_json(row).encode("utf-8", "replace") + b"\n"


async def _refused(request: Request, error: Exception) -> Response:
    log.warning("the control socket could not answer %s: %s", request.url.path, error)
    return JSONResponse({"error": str(error)}, status_code=503)
