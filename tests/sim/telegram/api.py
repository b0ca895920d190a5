"""The wire: one HTTP request to the Bot API from the check of its token to its answer, with rates, faults and latency."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from tests.sim.telegram.bodies import Params, read_params
from tests.sim.telegram.faults import Fault, Faults, cut, html
from tests.sim.telegram.methods import METHODS
from tests.sim.telegram.nouns import Call, Json, Refused, bad
from tests.sim.telegram.rates import Rates
from tests.sim.telegram.world import World

TOKEN = re.compile(r"(\d+):[A-Za-z0-9_-]+")
POLL = "getUpdates"
LIMITED = ("send", "edit", "deleteMessage", "setMessageReaction")


class BotApi:
    """Serves ``/bot<token>/<method>`` and ``/file/bot<token>/<path>``. ``latency`` is how long a call takes in seconds,
    ``latencies`` the same by method; ``calls`` and ``noted`` grow with every call and every broken rule."""

    def __init__(
        self,
        token: str,
        world: World,
        rates: Rates,
        noted: list[str],
        latency: float,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._token, self._world, self._sleep = token, world, sleep
        self.rates, self.faults = rates, Faults()
        self.latency, self.latencies = latency, dict[str, float]()
        self.calls: list[Call] = []
        self.noted = noted
        self.revoked = False
        self._editing: set[tuple[int | None, int]] = set()
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
        self._world.updates.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def serve(self, request: web.Request, token: str, name: str) -> web.Response:
        """One call. Whatever happens to it is in ``calls``."""
        proper = METHODS[name.lower()][0] if name.lower() in METHODS else POLL if name.lower() == POLL.lower() else name
        call = Call(proper, None, {}, self._world.monotonic())
        self.calls.append(call)
        try:
            self._let_in(token)
            params = await _read(request)
            call.params, call.chat_id = params, params.integer("chat_id") or None
            if proper != POLL and proper.lower() not in METHODS:
                raise Refused(404, "Not Found")
            return await self._answered(request, call, params)
        except Refused as refused:
            call.status, call.answer = refused.status, refused.description
            return refusal(refused)
        except Exception as error:
            self.noted.append(f"the simulator failed at {call.method}: {error!r}")
            raise
        finally:
            self._world.changed()

    def download(self, token: str, path: str) -> web.Response:
        content = self._world.files.content(path)
        if token != self._token or self.revoked or content is None:
            return refusal(Refused(404, "Not Found"))
        return web.Response(body=content, content_type="application/octet-stream")

    def _let_in(self, token: str) -> None:
        if TOKEN.fullmatch(token) is None:
            raise Refused(404, "Not Found")
        if token != self._token or self.revoked:
            raise Refused(401, "Unauthorized")

    async def _answered(self, request: web.Request, call: Call, params: Params) -> web.Response:
        chat = call.chat_id if call.method.startswith(LIMITED) else None
        try:
            self.rates.check(call.method, chat, group=(chat or 0) < 0)
        except Refused:
            await self._take(call.method)
            self.rates.told(call.method, chat)
            raise
        fault = self.faults.meeting(call.method, call.chat_id)
        with self._alone(call, params):
            if fault is not None and fault.effect == "none":
                await self._take(call.method)
                return await self._failed(request, call, chat, fault)
            result = await self._done(call, params)
            if fault is not None:
                return await self._failed(request, call, chat, fault)
        call.status = 200
        return json_answer({"ok": True, "result": result})

    @contextmanager
    def _alone(self, call: Call, params: Params) -> Iterator[None]:
        """Note an edit that begins while another of the same message is under way."""
        if not call.method.startswith("edit"):
            yield
            return
        edited = (call.chat_id, params.integer("message_id"))
        if edited in self._editing:
            self.noted.append(f"two edits at once of message {edited[1]} in {edited[0]}")
        self._editing.add(edited)
        try:
            yield
        finally:
            self._editing.discard(edited)

    async def _done(self, call: Call, params: Params) -> Any:
        """The call's effect. A call that arrived takes effect although its client has left; a poll ends with it."""
        if call.method == POLL:
            await self._take(call.method)
            return await self._world.updates.get(params)
        return await asyncio.shield(self.start(self._effect(call, params)))

    async def _effect(self, call: Call, params: Params) -> Any:
        await self._take(call.method)
        _, method = METHODS[call.method.lower()]
        try:
            return method(
                self._world, params, lambda text: self.noted.append(f"{call.method} in {call.chat_id}: {text}")
            )
        finally:
            self._world.changed()

    async def _failed(self, request: web.Request, call: Call, chat: int | None, fault: Fault) -> web.Response:
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
            self.rates.silence(call.method if chat is None else chat, fault.retry_after)
            self.rates.told(call.method, chat)
        raise fault.refusal()

    async def _take(self, method: str) -> None:
        seconds = self.latencies.get(method, self.latency)
        if seconds > 0:
            await self._sleep(seconds)


async def _read(request: web.Request) -> Params:
    try:
        return await read_params(request)
    except web.HTTPRequestEntityTooLarge:
        raise Refused(413, "Request Entity Too Large") from None
    except ValueError:
        raise bad("can't parse the body of the request") from None


def json_answer(body: Json) -> web.Response:
    return web.Response(body=json.dumps(body).encode(), content_type="application/json")


def refusal(refused: Refused) -> web.Response:
    return web.Response(
        status=refused.status, body=json.dumps(refused.body()).encode(), content_type="application/json"
    )
