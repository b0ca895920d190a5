"""A chat platform on loopback that forgives nothing: a call made twice is done twice, unless it knows nonces."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

POLL_SECONDS = 20.0
LATENCY_SECONDS = 0.003
"""How long a call is under way, so that two calls at once are seen as such."""

HANG_SECONDS = 60.0


@dataclass(slots=True)
class Posted:
    """One message of the bot. ``buttons`` are label and payload; ``gone`` once it was removed."""

    id: str
    chat: str
    text: str
    buttons: dict[str, str]
    gone: bool = False

    def payload(self, verb: str) -> str:
        """The payload of its button with this verb, "" when it has none."""
        return next((payload for payload in self.buttons.values() if payload.endswith(f":{verb}")), "")


@dataclass(frozen=True, slots=True)
class Call:
    action: Literal["send", "edit", "remove", "answer"]
    message: str
    text: str = ""
    buttons: int = 0


@dataclass
class PlatformSim:
    """``async with PlatformSim() as platform:`` serves until the end of the block, at ``url``.

    To the bot: ``GET /updates?after=N`` (an update stays until a poll confirms it), ``POST /send``, ``/edit``,
    ``/remove``, ``/answer``. ``size`` is the longest text. ``violations`` is what a real platform would punish: two calls
    at once in one chat (answers to presses apart), a text that is blank or too long. Where it ``knows_nonces``, a repeated
    send returns the message as it stands, with its old text. While it ``hangs``, calls are taken and nothing comes back.
    """

    size: int = 4096
    knows_nonces: bool = False
    hangs: bool = False
    url: str = ""
    messages: dict[str, Posted] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    polls: int = 0
    _updates: dict[int, dict[str, Any]] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _nonces: dict[str, str] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/updates", self._poll)
        for action in (self._send, self._edit, self._remove, self._answer):
            app.router.add_post(f"/{action.__name__[1:]}", self._once_at_a_time(action))
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None, "never entered"
        await self._runner.cleanup()

    # what a person does

    async def say(self, text: str, id_: str) -> None:
        """A person writes; the same ``id_`` again is what a platform does that is not sure it was heard."""
        await self._deliver({"kind": "message", "id": id_, "text": text})

    async def press(self, payload: str) -> str:
        """A person presses a button; the id of the press, by which the bot answers it."""
        press = f"press-{next(self._ids)}"
        await self._deliver({"kind": "press", "id": press, "payload": payload})
        return press

    @property
    def standing(self) -> list[Posted]:
        """What the person sees, oldest first."""
        return [message for message in self.messages.values() if not message.gone]

    @property
    def unheard(self) -> int:
        """Updates that no poll has confirmed yet."""
        return len(self._updates)

    async def until(self, holds: Callable[[Self], Any], timeout: float = 15.0) -> None:
        """Return once ``holds(platform)`` is true, looked at whenever something changes; TimeoutError otherwise."""
        async with asyncio.timeout(timeout), self._changed:
            await self._changed.wait_for(lambda: bool(holds(self)))

    # what the bot does

    async def _poll(self, request: web.Request) -> web.Response:
        after = int(request.query["after"])
        async with self._changed:
            for number in [number for number in self._updates if number <= after]:
                del self._updates[number]
            self.polls += 1
            self._changed.notify_all()
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._changed.wait_for(lambda: self._updates)
            except TimeoutError:
                return web.json_response([])
            return web.json_response([{"update": number, **update} for number, update in self._updates.items()])

    def _once_at_a_time(self, action: Callable[[dict[str, Any]], web.Response]) -> Callable[..., Any]:
        async def handler(request: web.Request) -> web.Response:
            body = await request.json()
            place = "answers" if request.path == "/answer" else body["chat"]
            if place in self._busy:
                self.violations.append(f"two calls at once: {request.path}")
            self._busy.add(place)
            try:
                await asyncio.sleep(HANG_SECONDS if self.hangs else LATENCY_SECONDS)
                answer = action(body)
                async with self._changed:
                    self._changed.notify_all()
                return answer
            finally:
                self._busy.discard(place)

        return handler

    def _send(self, body: dict[str, Any]) -> web.Response:
        self._look_at(body["text"])
        nonce = body["nonce"] if self.knows_nonces else ""
        if nonce in self._nonces:
            known = self.messages[self._nonces[nonce]]
            return web.json_response({"id": known.id, "text": known.text, "buttons": known.buttons})
        id_ = f"m{next(self._ids)}"
        if nonce:
            self._nonces[nonce] = id_
        self.messages[id_] = Posted(id_, body["chat"], body["text"], body["buttons"])
        self.calls.append(Call("send", id_, body["text"], len(body["buttons"])))
        return web.json_response({"id": id_, "text": body["text"], "buttons": body["buttons"]})

    def _edit(self, body: dict[str, Any]) -> web.Response:
        self._look_at(body["text"])
        message = self.messages.get(body["id"])
        if message is None or message.gone:
            return web.json_response({"error": "gone"}, status=404)
        if (message.text, message.buttons) == (body["text"], body["buttons"]):
            return web.json_response({"error": "unchanged"}, status=400)
        message.text, message.buttons = body["text"], body["buttons"]
        self.calls.append(Call("edit", message.id, message.text, len(message.buttons)))
        return web.json_response({})

    def _remove(self, body: dict[str, Any]) -> web.Response:
        message = self.messages.get(body["id"])
        if message is None or message.gone:
            return web.json_response({"error": "gone"}, status=404)
        message.gone = True
        self.calls.append(Call("remove", message.id))
        return web.json_response({})

    def _answer(self, body: dict[str, Any]) -> web.Response:
        self.answers.append((body["press"], body["text"]))
        self.calls.append(Call("answer", body["press"], body["text"]))
        return web.json_response({})

    def _look_at(self, text: str) -> None:
        if not text.strip():
            self.violations.append("a blank text")
        if len(text) > self.size:
            self.violations.append(f"a text of {len(text)} characters")

    async def _deliver(self, update: dict[str, Any]) -> None:
        async with self._changed:
            self._updates[next(self._ids)] = update
            self._changed.notify_all()
