"""Socket Mode on the wire: tickets, open connections with pings at both layers, goodbyes, and what is sent over them."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from tests.sim.slack.nouns import APP, Json, Refused
from tests.sim.slack.tasks import Tasks

MOST_LINKS = 10
TICKET_SECONDS = 30.0
WARNING_SECONDS = 10.0
PING_SECONDS = 10.0
PINGS_MISSED = 3
HOST = "applink-sim"
REASONS = ("warning", "refresh_requested", "link_disabled", "too_many_websockets")


@dataclass(eq=False, slots=True)
class Link:
    """One WebSocket of the app. ``pings`` are what Slack sent since the app's last pong, from ``quiet_since`` on."""

    number: int
    request: web.Request
    ws: web.WebSocketResponse
    pings: int = 0
    quiet_since: float = 0.0
    leaving: bool = False

    @property
    def is_open(self) -> bool:
        return not self.ws.closed and self.request.transport is not None and not self.request.transport.is_closing()


class Sockets:
    """``heard`` gets every text the app sends. ``opened`` counts connections; a goodbye closes after ``warning_seconds``
    when it is only a warning, at once otherwise. ``deaf``: envelopes get lost on the way; ``silent``: so does everything."""

    def __init__(
        self,
        tasks: Tasks,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        note: Callable[[str], None],
        changed: Callable[[], None],
        seed: int,
    ) -> None:
        self._tasks, self._monotonic, self._sleep = tasks, monotonic, sleep
        self._note, self._changed = note, changed
        self._random = random.Random(seed)
        self._tickets: dict[str, float] = {}
        self.links: list[Link] = []
        self.opened = 0
        self.pongs = 0
        self.deaf = self.silent = False
        self.refusal = ""
        self.warning_seconds = WARNING_SECONDS
        self.ping_seconds = PING_SECONDS
        self.heard: Callable[[Link, str], None] = lambda link, text: None

    def ticket(self, base: str) -> str:
        """The URL of a new connection, good once and for ``TICKET_SECONDS``."""
        if self.refusal:
            raise Refused(self.refusal)
        ticket = uuid.uuid4().hex
        self._tickets[ticket] = self._monotonic()
        return f"{base.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP}"

    @property
    def open(self) -> list[Link]:
        return [link for link in self.links if link.is_open]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        born = self._tickets.pop(request.query.get("ticket", ""), None)
        if born is None or self._monotonic() - born > TICKET_SECONDS:
            return web.json_response({"ok": False, "error": "invalid_ticket"}, status=403)
        ws = web.WebSocketResponse(autoping=False, max_msg_size=2**22)
        await ws.prepare(request)
        self.opened += 1
        link = Link(self.opened, request, ws)
        crowded = len(self.open) >= MOST_LINKS
        self.links.append(link)
        try:
            await self._greet(link, crowded)
            await self._listen(link)
        finally:
            self.links.remove(link)
            self._changed()
        return ws

    async def _greet(self, link: Link, crowded: bool) -> None:
        if crowded:
            await self._goodbye(link, "too_many_websockets")
            return
        hello: Json = {
            "type": "hello",
            "num_connections": len(self.open),
            "connection_info": {"app_id": APP},
            "debug_info": {"host": HOST, "build_number": 1, "approximate_connection_time": 18060},
        }
        if not self.silent:
            await self.send(link, hello)
        self._tasks.start(self._ping(link))
        self._changed()

    async def _listen(self, link: Link) -> None:
        async for message in link.ws:
            if self.silent:
                continue
            if message.type is WSMsgType.TEXT:
                self.heard(link, message.data)
            elif message.type is WSMsgType.PING:
                with suppress(ConnectionError):
                    await link.ws.pong(message.data)
            elif message.type is WSMsgType.PONG:
                link.pings, self.pongs = 0, self.pongs + 1
            elif message.type is WSMsgType.BINARY:
                self._note("a binary message over Socket Mode")

    async def _ping(self, link: Link) -> None:
        """Slack pings too, and drops who does not answer."""
        while link.is_open:
            await self._sleep(self.ping_seconds)
            if self.silent or not link.is_open:
                continue
            if link.pings >= PINGS_MISSED and time.perf_counter() - link.quiet_since > 1.0:
                self._note(f"Slack's pings stayed unanswered on connection {link.number}")
                self.cut(link)
                return
            link.quiet_since = time.perf_counter() if not link.pings else link.quiet_since
            link.pings += 1
            with suppress(ConnectionError):
                await link.ws.ping(f"Ping from {HOST}".encode())

    def choose(self) -> Link | None:
        """Any of the open connections, at random. One that was told goodbye gets nothing new."""
        able = [link for link in self.open if not link.leaving]
        return self._random.choice(able) if able else None

    async def send(self, link: Link, body: Any) -> None:
        with suppress(ConnectionError):
            await link.ws.send_str(body if isinstance(body, str) else json.dumps(body))

    async def disconnect(self, reason: str) -> None:
        """Say goodbye on every open connection; each then closes."""
        if reason not in REASONS:
            raise ValueError(f"a reason is one of {', '.join(REASONS)}")
        for link in self.open:
            await self._goodbye(link, reason)

    async def _goodbye(self, link: Link, reason: str) -> None:
        link.leaving = reason != "warning"
        await self.send(link, {"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}})
        self._tasks.start(self._close(link, self.warning_seconds if reason == "warning" else 0.0))

    async def _close(self, link: Link, seconds: float) -> None:
        if seconds:
            await self._sleep(seconds)
        link.leaving = True
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(1):
                await link.ws.close()
        self._changed()

    async def drop(self) -> None:
        """Every connection breaks, without a goodbye."""
        for link in self.open:
            self.cut(link)
        await asyncio.sleep(0)

    def cut(self, link: Link) -> None:
        if link.request.transport is not None:
            link.request.transport.abort()
        self._changed()

    async def close(self) -> None:
        for link in self.open:
            self.cut(link)
