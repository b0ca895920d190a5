"""Where a request goes: methods, sockets, uploads, downloads, response URLs, and the control API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from aiohttp import web

from tests.sim.slack.api import WebApi, json_answer, refusal
from tests.sim.slack.bodies import Params, read_params
from tests.sim.slack.faults import html
from tests.sim.slack.nouns import Refused
from tests.sim.slack.responses import Responses
from tests.sim.slack.sockets import Sockets
from tests.sim.slack.world import World

LOGIN = "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to Slack</body></html>"


class _Control(Protocol):
    async def serve(self, request: web.Request, name: str) -> web.Response: ...


class Roads:
    def __init__(self, world: World, api: WebApi, sockets: Sockets, responses: Responses, control: _Control) -> None:
        self._world, self._api, self._sockets = world, api, sockets
        self._responses, self._control = responses, control

    async def serve(self, request: web.Request) -> web.StreamResponse:
        _, head, *rest = request.path.split("/")
        roads: dict[str, Callable[[web.Request, list[str]], Awaitable[web.StreamResponse]]] = {
            "link": self._link,
            "upload": self._upload,
            "files-pri": self._download,
            "actions": self._respond,
        }
        if head == "api" and rest:
            return await self._api.serve(request, "/".join(rest))
        if head == "_sim" and rest:
            return await self._control.serve(request, rest[0])
        if head in roads:
            return await roads[head](request, rest)
        return html(404)

    async def _link(self, request: web.Request, rest: list[str]) -> web.StreamResponse:
        fault = self._api.faults.meeting("link", None)
        if fault is not None and fault.effect == "none":
            return await self._api.failed(request, self._api.call("link"), fault)
        return await self._sockets.serve(request)

    async def _upload(self, request: web.Request, rest: list[str]) -> web.StreamResponse:
        """The bytes as the body, or as the one file of a form. Whoever knows the address may send them: a token is none of
        that place's business."""
        if "Authorization" in request.headers:
            self._api.noted.append("a token went along with an upload")
        if request.content_type == "multipart/form-data":
            files = [value for value in (await read_params(request)).values() if isinstance(value, bytes)]
            content = files[0] if files else b""
        else:
            content = await request.read()

        def take() -> web.Response:
            if wrong := self._world.files.receive(rest[-1], content):
                self._api.noted.append(f"an upload that is not as announced: {wrong}")
                return web.Response(status=400, text=wrong)
            return web.Response(text=f"OK - {len(content)}")

        return await self._api.beside(request, "upload", None, take)

    async def _download(self, request: web.Request, rest: list[str]) -> web.StreamResponse:
        """Without the bot's token and its scope Slack shows its sign-in page, with status 200."""

        def give() -> web.Response:
            known = self._api.bearer(request) == self._api.bot_token and not self._api.revoked
            if not known or "files:read" not in self._api.scopes:
                return web.Response(text=LOGIN, content_type="text/html")
            content = self._world.files.content(rest[0].rpartition("-")[2])
            if content is None:
                return html(404)
            return web.Response(body=content, content_type="application/octet-stream")

        return await self._api.beside(request, "download", None, give)

    async def _respond(self, request: web.Request, rest: list[str]) -> web.StreamResponse:
        key = rest[-1]
        try:
            params: Params = await read_params(request)
        except Refused as refused:
            return refusal(refused)

        def take() -> web.Response:
            self._responses.take(key, params)
            return json_answer({"ok": True})

        return await self._api.beside(request, "response_url", self._responses.channel(key), take)
