"""The wire: one HTTP request to the Web API from the check of its token to its answer, with rates, faults and latency."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web

from tests.sim.slack.bodies import Params, read_params
from tests.sim.slack.faults import Fault, Faults, cut, html
from tests.sim.slack.methods import APP_SCOPE, CONNECT, METHODS, SCOPES
from tests.sim.slack.nouns import Call, Channel, Json, Refused
from tests.sim.slack.rates import Rates
from tests.sim.slack.tasks import Tasks
from tests.sim.slack.world import World

CHANGES = ("chat.update", "chat.appendStream", "chat.stopStream")
_BREACHES = (
    "msg_too_long no_text invalid_blocks invalid_blocks_format msg_blocks_too_long markdown_text_conflict"
    " invalid_arguments invalid_chunks invalid_metadata_format invalid_post_type invalid_json json_not_object"
    " invalid_form_data cant_update_message missing_recipient_team_id missing_recipient_user_id"
    " streaming_mode_mismatch streaming_state_conflict cannot_provide_both_markdown_text_and_chunks unknown_method"
    " message_not_owned_by_app cant_delete_message"
)
BREACHES = frozenset(_BREACHES.split())
"""Refusals that are the bot's own fault: noted as broken rules."""
UNKNOWN = frozenset(("not_authed", "invalid_auth", "not_allowed_token_type", "token_revoked"))
"""Refusals of tokens of which nothing more is said."""


class WebApi:
    """Serves ``/api/<method>``. ``latency`` is how long a call takes in seconds, ``latencies`` the same by method;
    ``calls`` and ``noted`` grow with every call and every broken rule."""

    def __init__(
        self,
        tokens: tuple[str, str],
        world: World,
        rates: Rates,
        tasks: Tasks,
        noted: list[str],
        latency: float,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self.bot_token, self._app_token = tokens
        self._world, self._tasks, self._sleep = world, tasks, sleep
        self.rates, self.faults = rates, Faults()
        self.latency, self.latencies = latency, dict[str, float]()
        self.calls: list[Call] = []
        self.noted = noted
        self.scopes, self.app_scopes = set(SCOPES), {APP_SCOPE}
        self.revoked = False
        self.connect: Callable[[], Json] = dict
        self._changing: set[tuple[str | None, str]] = set()

    async def serve(self, request: web.Request, name: str) -> web.StreamResponse:
        """One call. Whatever happens to it is in ``calls``."""
        call = self.call(name)
        try:
            params = await read_params(request)
            call.params = {key: value for key, value in params.items() if key != "token"}
            if name != CONNECT and name not in METHODS:
                raise Refused("unknown_method", req_method=name)
            self._let_in(request, params, app=name == CONNECT)
            channel = self._channel(name, params)
            call.channel = channel.id if channel else params.text(_place(name)) or None
            return await self._answered(request, call, params, channel)
        except Refused as refused:
            return self._refuse(call, refused)
        except web.HTTPRequestEntityTooLarge:
            return self._refuse(call, Refused("request_too_large", status=413))
        except Exception as error:
            self.noted.append(f"the simulator failed at {name}: {error!r}")
            raise
        finally:
            self._world.changed()

    def call(self, name: str, channel: str | None = None) -> Call:
        call = Call(name, channel, {}, self._world.monotonic())
        self.calls.append(call)
        return call

    def _refuse(self, call: Call, refused: Refused) -> web.Response:
        call.status, call.error = refused.status, refused.error
        if refused.error in BREACHES:
            why = "; ".join(refused.fields.get("response_metadata", {}).get("messages", ()))
            self.noted.append(f"{call.method} in {call.channel}: {refused.error}{f' ({why})' if why else ''}")
        told = self._told(call.method) if refused.error not in UNKNOWN else {}
        return refusal(refused, told)

    def _told(self, method: str) -> dict[str, str]:
        """What Slack says of the token with every answer to it."""
        return {"X-OAuth-Scopes": ",".join(sorted(self.app_scopes if method == CONNECT else self.scopes))}

    def bearer(self, request: web.Request, params: Params | None = None) -> str:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else params.text("token") if params else ""

    def _let_in(self, request: web.Request, params: Params, *, app: bool) -> None:
        token = self.bearer(request, params)
        if not token:
            raise Refused("not_authed")
        right, other = (self._app_token, self.bot_token) if app else (self.bot_token, self._app_token)
        if token == other and token != right:
            raise Refused("not_allowed_token_type")
        if token != right:
            raise Refused("invalid_auth")
        if self.revoked:
            raise Refused("token_revoked")

    def _channel(self, name: str, params: Params) -> Channel | None:
        """The channel that the call names, when there is one; a person's id means their DM."""
        if not (id := params.text(_place(name))):
            return None
        return self._world.channels.get(id) or self._world.channels.get(f"D{id[1:]}" if id[0] == "U" else "")

    def _permit_app(self) -> None:
        if APP_SCOPE not in self.app_scopes:
            raise Refused("missing_scope", needed=APP_SCOPE, provided=",".join(sorted(self.app_scopes)))

    def _permit(self, name: str, channel: Channel | None, params: Params) -> None:
        needed = METHODS[name].needs(channel, params) if name in METHODS else ""
        if needed and needed not in self.scopes:
            raise Refused("missing_scope", needed=needed, provided=",".join(sorted(self.scopes)))

    async def _answered(
        self, request: web.Request, call: Call, params: Params, channel: Channel | None
    ) -> web.StreamResponse:
        try:
            self.rates.check(call.method, call.channel)
        except Refused:
            await self._take(call.method)
            self.rates.told(call.method, call.channel)
            raise
        fault = self.faults.meeting(call.method, call.channel)
        with self._alone(call, params):
            if fault is not None and fault.effect == "none":
                await self._take(call.method)
                return await self.failed(request, call, fault)
            result = await asyncio.shield(self._tasks.start(self._effect(call, params, channel)))
            if fault is not None:
                return await self.failed(request, call, fault)
        call.status, call.ok = 200, True
        return json_answer({"ok": True, **result}, self._told(call.method))

    @contextmanager
    def _alone(self, call: Call, params: Params) -> Iterator[None]:
        """Note a change that begins while another of the same message is under way."""
        if call.method not in CHANGES:
            yield
            return
        changed = (call.channel, params.text("ts"))
        if changed in self._changing:
            self.noted.append(f"two changes at once of message {changed[1]} in {changed[0]}")
        self._changing.add(changed)
        try:
            yield
        finally:
            self._changing.discard(changed)

    async def _effect(self, call: Call, params: Params, channel: Channel | None) -> Json:
        """A call that arrived takes effect although its client has left."""
        await self._take(call.method)
        try:
            if call.method == CONNECT:
                self._permit_app()
                return self.connect()
            self._permit(call.method, channel, params)
            return METHODS[call.method].run(self._world, params)
        finally:
            self._world.changed()

    async def failed(self, request: web.Request, call: Call, fault: Fault) -> web.StreamResponse:
        """What a scripted fault answers, if anything."""
        call.error = f"fault: {fault.action}"
        self._world.changed()
        if fault.action in ("drop", "reset"):
            return cut(request, reset=fault.action == "reset")
        if fault.action == "hang":
            await self._tasks.closing.wait()
            return cut(request, reset=False)
        if fault.is_html:
            call.status = fault.status
            return html(fault.status)
        if fault.status == 429:
            self.rates.silence(call.method, call.channel, fault.retry_after)
            self.rates.told(call.method, call.channel)
        refused = fault.refusal()
        call.status, call.error = refused.status, refused.error
        return refusal(refused)

    async def _take(self, method: str) -> None:
        seconds = self.latencies.get(method, self.latency)
        if seconds > 0:
            await self._sleep(seconds)

    async def beside(
        self, request: web.Request, name: str, channel: str | None, run: Callable[[], web.StreamResponse]
    ) -> web.StreamResponse:
        """A request that is no method's (an upload, a download, a response): counted, faulted and slowed like a call."""
        call = self.call(name, channel)
        fault = self.faults.meeting(name, channel)
        await self._take(name)
        try:
            if fault is not None and fault.effect == "none":
                return await self.failed(request, call, fault)
            answer = run()
            if fault is not None:
                return await self.failed(request, call, fault)
            call.status, call.ok = answer.status, answer.status == 200
            return answer
        except Refused as refused:
            return self._refuse(call, refused)
        finally:
            self._world.changed()


def _place(name: str) -> str:
    """The parameter that names the channel."""
    return METHODS[name].place if name in METHODS else ""


def json_answer(body: Json, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=json.dumps(body).encode(), content_type="application/json", charset="utf-8", headers=headers
    )


def refusal(refused: Refused, told: dict[str, str] | None = None) -> web.Response:
    headers = {**(told or {}), **({"Retry-After": str(refused.retry_after)} if refused.status == 429 else {})}
    return web.Response(
        status=refused.status,
        body=json.dumps(refused.body()).encode(),
        content_type="application/json",
        charset="utf-8",
        headers=headers,
    )
