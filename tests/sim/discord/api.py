"""The wire: one HTTP request to the API from the check of its token to its answer, with rates, faults and latency."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.sim.discord.asked import Asked, Done
from tests.sim.discord.bodies import read_body
from tests.sim.discord.faults import Fault, Faults, cut, html
from tests.sim.discord.nouns import Call
from tests.sim.discord.rates import Rates
from tests.sim.discord.refusals import BLAMED, Refused, plain, refused
from tests.sim.discord.routes import Route, find
from tests.sim.discord.world import World

PREFIX = re.compile(r"/api(?:/v(\d+))?(/.*)")
VIA = {"Via": "1.1 google"}
"""Answers that come from Discord itself carry it; those of Cloudflare do not."""


class Api:
    """Serves ``/api/v10/…``. ``latency`` is how long a call takes in seconds, ``latencies`` the same by route; ``calls``
    and ``noted`` grow with every call and every broken rule."""

    def __init__(
        self,
        token: str,
        world: World,
        rates: Rates,
        noted: list[str],
        latency: float,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.token, self._world, self._sleep = token, world, sleep
        self.rates, self.faults = rates, Faults()
        self.latency, self.latencies = latency, dict[str, float]()
        self.calls: list[Call] = []
        self.noted = noted
        self.revoked = False
        self._editing: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = asyncio.Event()

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something until it ends or the simulator does."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        self._closing.set()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def serve(self, request: web.Request) -> web.Response:
        """One call. Whatever happens to it is in ``calls``."""
        if self.rates.banned:
            return html(429)
        match = PREFIX.fullmatch(request.rel_url.raw_path)
        path = match[2] if match is not None else request.rel_url.raw_path
        route, words, known = find(request.method, path)
        name = route.name if route is not None else f"{request.method} {path}"
        call = Call(request.method, name, path, self._channel_of(words), {}, self._world.monotonic())
        self.calls.append(call)
        major = words.get("channel") or words.get("token") or words.get("guild") or ""
        refusal: Refused | None = None
        try:
            self._let_in(request, match, route, known)
            assert route is not None
            done = await self._answered(request, call, route, words, major)
            if isinstance(done, web.Response):
                return done
            call.status = done[0]
        except Refused as error:
            refusal, call.status, call.answer = error, error.status, str(error.body.get("message", ""))
            done = error.status, error.body
        except Exception as error:
            self.noted.append(f"the simulator failed at {name}: {error!r}")
            raise
        finally:
            self._world.changed()
        self.rates.answered(name, major, path, refusal, call.status)
        return answer(done, VIA | (self.rates.headers(name, major, refusal) if done[0] != 401 and route else {}))

    def _channel_of(self, words: dict[str, str]) -> int | None:
        """The channel in the path, or that of the interaction whose token is there."""
        if (one := self._world.interactions.by_token.get(words.get("token", ""))) is not None:
            return one.channel.id
        channel = words.get("channel", "")
        return int(channel) if channel.isdecimal() else None

    def _let_in(self, request: web.Request, match: re.Match[str] | None, route: Route | None, known: bool) -> None:
        if match is None or match[1] not in (None, "9", "10"):
            raise plain(404, "Not Found") if match is None else refused(50041)
        needs_token = route is None or not route.open
        if needs_token and (self.revoked or request.headers.get("Authorization") != f"Bot {self.token}"):
            raise plain(401, "Unauthorized")
        if route is None:
            raise plain(405, "Method Not Allowed") if known else plain(404, "Not Found")

    async def _answered(
        self, request: web.Request, call: Call, route: Route, words: dict[str, str], major: str
    ) -> Done | web.Response:
        try:
            call.body, uploads = await read_body(request)
            self.rates.check(route.name, major, call.path)
        except Refused as refusal:
            await self._take(route.name)
            self._blame(call, refusal)
            raise
        asked = Asked(self._world, self.rates, call, words, dict(request.query), call.body, uploads)
        fault = self.faults.meeting(route.name, call.channel_id)
        with self._alone(call):
            if fault is not None and fault.effect == "none":
                await self._take(route.name)
                return await self._failed(request, call, major, fault)
            done = await asyncio.shield(self.start(self._effect(asked, route)))
            return done if fault is None else await self._failed(request, call, major, fault)

    @contextmanager
    def _alone(self, call: Call) -> Iterator[None]:
        """Note an edit that begins while another of the same message is under way."""
        if call.method != "PATCH" or "/messages/" not in call.path:
            yield
            return
        if call.path in self._editing:
            self.noted.append(f"two edits at once: {call.path}")
        self._editing.add(call.path)
        try:
            yield
        finally:
            self._editing.discard(call.path)

    async def _effect(self, asked: Asked, route: Route) -> Done:
        """A call that arrived takes effect although its client has left."""
        await self._take(route.name)
        try:
            return route.handler(asked)
        except Refused as refusal:
            self._blame(asked.call, refusal)
            raise
        finally:
            self._world.changed()

    def _blame(self, call: Call, refusal: Refused) -> None:
        """Note what a careful app would not have asked for."""
        if refusal.code in BLAMED:
            self.noted.append(f"refused, {refusal.why()}: {call.method} {call.path}")

    async def _failed(self, request: web.Request, call: Call, major: str, fault: Fault) -> web.Response:
        call.answer = f"fault: {fault.action}"
        self._world.changed()
        if fault.action in ("drop", "reset"):
            return cut(request, reset=fault.action == "reset")
        if fault.action == "hang":
            await self._closing.wait()
            return cut(request, reset=False)
        if fault.action == "garbage":
            call.status = fault.status
            return html(fault.status)
        if fault.retry_after:
            self.rates.silence(call.route, major, fault.retry_after, fault.scope)
        raise fault.refusal()

    async def _take(self, route: str) -> None:
        seconds = self.latencies.get(route, self.latency)
        if seconds > 0:
            await self._sleep(seconds)


def answer(done: Done, headers: dict[str, str]) -> web.Response:
    """``Content-Type`` is exactly application/json, as the library wants it."""
    status, body = done
    if body is None:
        return web.Response(status=status, headers=headers)
    text = json.dumps(body, ensure_ascii=False).encode()
    return web.Response(status=status, body=text, headers={"Content-Type": "application/json", **headers})
