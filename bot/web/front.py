"""Which part of the house answers a path: health and metrics here, everything else in the mounted channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.core.ports import AsgiApp
from bot.web.health import Health
from bot.web.metrics import CONTENT_TYPE, Metrics

PLAIN = "text/plain; charset=utf-8"
NOTHING_HERE = (
    "Nothing answers at this address. The chat page is off; /healthz, /readyz and /metrics are always there.\n"
)


class Front:
    """An ASGI app. Several mounts are asked in order; one that says 404 passes the request on to the next."""

    def __init__(self, mounts: Sequence[AsgiApp], health: Health, metrics: Metrics) -> None:
        self._mounts, self._health, self._metrics = tuple(mounts), health, metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        own = self._own(scope["path"]) if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else None
        if own is not None:
            await _answer(send, *own)
            return
        for mount in self._mounts[:-1]:
            if await _taken(mount, scope, receive, send):
                return
        if self._mounts:
            await self._mounts[-1](scope, receive, send)
        elif scope["type"] == "http":
            await _answer(send, 404, PLAIN, NOTHING_HERE)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _own(self, path: str) -> tuple[int, str, str] | None:
        if path == "/healthz":
            return 200, PLAIN, "ok\n"
        if path == "/readyz":
            status, body = self._health.ready()
            return status, "application/json", body
        if path == "/metrics":
            return 200, CONTENT_TYPE, self._metrics.text()
        return None


async def _taken(mount: AsgiApp, scope: Any, receive: Any, send: Any) -> bool:
    """False when the mount said 404 (or closed an unopened socket); then nothing of its answer has been sent."""
    begun = refused = False

    async def pass_on(message: Any) -> None:
        nonlocal begun, refused
        if not begun:
            begun = True
            refused = message.get("status") == 404 or message["type"] == "websocket.close"
        if not refused:
            await send(message)

    await mount(scope, receive, pass_on)
    return not refused


async def _answer(send: Any, status: int, content_type: str, body: str) -> None:
    raw = body.encode()
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", str(len(raw)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})
