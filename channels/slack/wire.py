"""Calling the Web API: Slack's own library on the house's transport, and Slack's refusals in the house's words."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, TransportError, Unauthorised
from bot.core.http import Http, Timeouts
from bot.core.ports import Clock
from bot.core.texts import say
from channels.slack.permits import CONNECT, CONNECTIONS, Permits
from channels.slack.refusals import Hushed, Lost, TokenRefused, Unfit, retry_after, translated
from channels.slack.tiers import Waits

CALL_SECONDS: Final = 30.0
ANSWER_BYTES: Final = 16 * 1024 * 1024
FILE_BYTES: Final = 25 * 1024 * 1024
UPLOAD: Final = "upload"
SLOWEST_BYTES_PER_SECOND: Final = 100_000
_TIMEOUTS: Final = Timeouts(connect=10.0, silence=CALL_SECONDS, total=CALL_SECONDS + 10.0)

# the library writes every text that comes and goes into its log of details
logging.getLogger("slack_sdk").setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as ``auth.test`` tells."""

    user: str
    bot: str
    team: str
    name: str = ""
    place: str = ""


class HouseClient(AsyncWebClient):
    """The library's HTTP seam over ``bot.core.http.Http``: no session, proxy or retry of its own."""

    def __init__(self, http: Http, api_base: str, token: str) -> None:
        super().__init__(token=token, base_url=api_base, retry_handlers=[])
        self._http = http

    async def _request(self, *, http_verb: str, api_url: str, req_args: dict[str, Any]) -> dict[str, Any]:
        headers = {str(name): str(value) for name, value in req_args["headers"].items()}
        body: bytes | None = None
        if req_args.get("params"):
            api_url = f"{api_url}?{urlencode(req_args['params'])}"
        if req_args.get("json") is not None:
            body = json.dumps(req_args["json"]).encode()
        elif req_args.get("data"):
            body = urlencode(req_args["data"]).encode()
        try:
            answer = await self._http.fetch(
                http_verb, api_url, headers=headers, body=body, timeouts=_TIMEOUTS, limit_bytes=ANSWER_BYTES
            )
        except TransportError as error:
            raise Lost(sent=error.sent) from error
        return {"data": _read(answer.body, answer.status), "headers": answer.headers, "status_code": answer.status}


def _read(body: bytes, status: int) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict):
        return said
    if status == 429:
        return {"ok": False, "error": "ratelimited"}
    raise Lost(sent=True)


class Wire:
    """One bot's calls. Every method raises ``ChannelError`` and nothing else; after the token was refused once,
    nothing is called any more."""

    def __init__(
        self, http: Http, api_base: str, bot_token: str, app_token: str, clock: Clock, waits: Waits | None = None
    ) -> None:
        """``waits`` remembers what Slack asked for; without them nothing does. ``permits`` are what it said of this app."""
        self._http, self._base, self._waits = http, api_base, waits
        self._token, self._app_token = bot_token, app_token
        self._client = HouseClient(http, api_base, bot_token)
        self._refused: Unauthorised | None = None
        self.permits = Permits(clock)

    @property
    def client(self) -> AsyncWebClient:
        return self._client

    @property
    def is_refused(self) -> bool:
        return self._refused is not None

    async def call(self, method: str, /, **params: Any) -> Mapping[str, Any]:
        """The answer of a method, by Slack's name for it."""
        if self._refused is not None:
            raise self._refused
        channel = str(params.get("channel") or params.get("channel_id") or "")
        await self._waited(method, channel)
        try:
            answer = await getattr(self._client, method.replace(".", "_"))(**params)
        except (SlackApiError, Lost) as error:
            failure = translated(error)
            if isinstance(failure, RateLimited):
                await self._hushed(method, channel, failure.retry_after)
            if isinstance(error, SlackApiError) and method != CONNECT:
                self._scopes_told(error.response.headers)
            if isinstance(failure, Unauthorised) and method != CONNECT:
                self._refused = failure
            self.permits.refused(method, channel, failure)
            raise failure from None
        if method != CONNECT:
            self._scopes_told(answer.headers)
        self.permits.done(method, channel)
        data: Mapping[str, Any] = answer.data
        return data

    async def _waited(self, method: str, channel: str = "") -> None:
        if self._waits is not None and (left := await self._waits.left(method, channel)):
            raise Hushed(left)

    async def _hushed(self, method: str, channel: str, seconds: float) -> None:
        if self._waits is not None:
            await self._waits.keep(method, channel, seconds)

    def _scopes_told(self, headers: Mapping[str, Any]) -> None:
        if told := headers.get("x-oauth-scopes"):
            self.permits.told(frozenset(scope.strip() for scope in str(told).split(",")))

    async def ticket(self) -> str:
        """The address of a new socket, good for one connection within half a minute."""
        try:
            url = (await self.call(CONNECT, app_token=self._app_token)).get("url")
        except TokenRefused as refused:
            raise TokenRefused("Slack does not accept the app_token.", refused.code) from None
        except Unfit as unfit:
            if CONNECTIONS not in unfit.missing:
                raise
            raise Unfit(say("app_scope_slack", "en", scope=CONNECTIONS), unfit.missing) from None
        if not isinstance(url, str) or not url.startswith(("ws://", "wss://")):
            raise ChannelUnreachable("Slack did not say where to connect.", maybe_done=False)
        return url

    async def respond(self, url: str, text: str, blocks: Sequence[Any] = ()) -> None:
        """Tell whoever pressed or commanded, by the address that came with it. One that is over is no error."""
        if not self._is_slacks(url):
            raise ChannelError("The answer would leave Slack.")
        body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": False, "text": text}
        body |= {"blocks": blocks} if blocks else {}
        try:
            answer = await self._http.fetch(
                "POST",
                url,
                headers={"content-type": "application/json"},
                body=json.dumps(body).encode(),
                timeouts=_TIMEOUTS,
            )
        except TransportError as error:
            raise ChannelUnreachable("Slack could not be reached.", maybe_done=error.sent) from error
        if answer.status == 429:
            raise RateLimited("Slack asks to wait.", retry_after(answer.headers))
        if answer.status >= 500:
            raise ChannelUnreachable("Slack failed to answer.", maybe_done=True)

    async def download(self, file_id: str) -> bytes:
        """Raises ``ChannelError`` for a file that is gone, lies elsewhere or is larger than ``FILE_BYTES``."""
        told = (await self.call("files.info", file=file_id)).get("file")
        file: Mapping[str, Any] = told if isinstance(told, dict) else {}
        url = file.get("url_private_download") or file.get("url_private")
        if not isinstance(url, str) or not self._is_slacks(url):
            raise ChannelError("The file is gone, or does not lie at Slack.")
        if int(file.get("size") or 0) > FILE_BYTES:
            raise ChannelError("The file is too large.")
        try:
            answer = await self._http.fetch(
                "GET", url, headers={"authorization": f"Bearer {self._token}"}, limit_bytes=FILE_BYTES
            )
        except TransportError as error:
            raise ChannelUnreachable("The file could not be fetched.", maybe_done=False) from error
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if answer.status != 200 or (is_page and "html" not in str(file.get("mimetype"))):
            raise ChannelError("The file could not be fetched.")
        return answer.body

    async def upload(self, url: str, content: bytes) -> None:
        """Bring the bytes of a file to where Slack wants them. Nobody sees them yet: what is lost on the way is brought
        again, and the token stays here."""
        if not self._is_slacks(url):
            raise ChannelError("The file would leave Slack.")
        await self._waited(UPLOAD)
        seconds = CALL_SECONDS + len(content) / SLOWEST_BYTES_PER_SECOND
        try:
            answer = await self._http.fetch(
                "POST",
                url,
                headers={"content-type": "application/octet-stream"},
                body=content,
                timeouts=Timeouts(connect=10.0, silence=seconds, total=seconds + 10.0),
            )
        except TransportError as error:
            raise ChannelUnreachable("The file did not get to Slack.", maybe_done=False) from error
        if answer.status == 429:
            wait = retry_after(answer.headers)
            await self._hushed(UPLOAD, "", wait)
            raise RateLimited("Slack asks to wait.", wait)
        if answer.status >= 500:
            raise ChannelUnreachable("Slack failed to take the file.", maybe_done=False)
        if answer.status != 200:
            raise Unfit(f"Slack does not take the file (status {answer.status}).")

    def _is_slacks(self, url: str) -> bool:
        """The token, and what was said, go to Slack alone."""
        parts, base = urlsplit(url), urlsplit(self._base)
        if (parts.scheme, parts.netloc) == (base.scheme, base.netloc):
            return True
        return parts.scheme == "https" and bool(re.search(r"(^|\.)slack(-files|-gov)?\.com$", parts.hostname or ""))


async def who_am_i(wire: Wire) -> Me:
    """The bot behind the token, which this proves. Raises ``ChannelError``."""
    told = await wire.call("auth.test")
    try:
        return Me(
            str(told["user_id"]),
            str(told.get("bot_id") or ""),
            str(told.get("team_id") or ""),
            str(told.get("user") or ""),
            str(told.get("team") or ""),
        )
    except KeyError:
        raise ChannelUnreachable("The server did not say who the bot is.", maybe_done=False) from None
