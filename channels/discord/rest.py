"""Calling Discord's REST API over the house's transport: its buckets kept by what it says of them, its refusals in the
house's words. The library's own calls sleep inside while a bucket fills and let raw errors of its transport through."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FormatRefused,
    MessageGone,
    RateLimited,
    TooLong,
    TransportError,
    Unauthorised,
)
from bot.core.http import Fetched, Http, Timeouts
from bot.core.ports import Clock
from bot.net.multipart import FormFile, multipart

log = logging.getLogger(__name__)

CALL_SECONDS: Final = 30.0
FILE_BYTES: Final = 25 * 1024 * 1024
LONGEST_WAIT: Final = 86_400.0
UNNAMED_WAIT: Final = 5.0
USER_AGENT: Final = "DiscordBot (https://github.com/bowerbird, 0.1)"
SLOWEST_BYTES_PER_SECOND: Final = 100_000
_BUCKETS_KEPT: Final = 4096
_TIMEOUTS: Final = Timeouts(connect=10.0, silence=CALL_SECONDS, total=CALL_SECONDS + 10.0)

GONE: Final = frozenset({10008, 10015, 10062, 50027})
"""Unknown message, webhook or interaction; a token that is over."""
CLOSED: Final = frozenset({10003, 10004, 50001, 50007, 50013, 50083, 160005, 40333})
"""No such channel, no access, no direct messages, no permission, an archived or locked thread, a blocked request."""


NO_REPLY: Final = 160002
"""Whoever may not read the history of a channel may not reply in it."""
THREAD_EXISTS: Final = 160004
"""A message has one thread, for ever."""


class Invalid(FormatRefused):
    """The message was refused for its form."""


class ReplyRefused(ChannelError):
    """The message may not refer to another one there."""


class ThreadExists(ChannelError):
    """The message has its thread."""


class Rest:
    """One bot's calls. Every method raises ``ChannelError`` and nothing else; after the token was refused once, nothing
    is called any more."""

    def __init__(self, http: Http, api_base: str, token: str, clock: Clock) -> None:
        self._http, self._base, self._clock = http, api_base, clock
        self._headers = {"authorization": f"Bot {token}", "user-agent": USER_AGENT}
        self._free_at: dict[tuple[str, str], float] = {}
        self._refused: Unauthorised | None = None

    @property
    def is_refused(self) -> bool:
        return self._refused is not None

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | list[Any] | None = None,
        *,
        bucket: str = "",
        files: Sequence[FormFile] = (),
    ) -> Any:
        """The answer's JSON, None where it has none. Calls with the same ``bucket`` and method share a rate at Discord: one
        that would be refused is not made. ``files`` go along in a form, whose fields are ``files[0]`` and so on."""
        if self._refused is not None:
            raise self._refused
        key = (method, bucket)
        if (left := self._free_at.get(key, 0.0) - self._clock.monotonic()) > 0:
            raise RateLimited("Discord bears no more such calls for now.", left)
        headers, content, timeouts = dict(self._headers), None, _TIMEOUTS
        if files:
            content, headers["content-type"] = multipart({"payload_json": json.dumps(body)}, files)
            timeouts = replace(_TIMEOUTS, total=CALL_SECONDS + len(content) / SLOWEST_BYTES_PER_SECOND)
        elif body is not None:
            content, headers["content-type"] = json.dumps(body).encode(), "application/json"
        try:
            answer = await self._http.fetch(
                method,
                f"{self._base}{path}",
                headers=headers,
                body=content,
                timeouts=timeouts,
            )
        except TransportError as error:
            raise ChannelUnreachable("Discord could not be reached.", maybe_done=error.sent) from error
        if bucket:
            self._note(key, answer.headers)
        if 200 <= answer.status < 300:
            return _read(answer.body) if answer.body else None
        failure = refusal(answer)
        if isinstance(failure, Unauthorised):
            self._refused = failure
        raise failure

    async def gateway(self) -> str:
        """Where the bot listens."""
        told = await self.call("GET", "/gateway")
        url = told.get("url") if isinstance(told, dict) else None
        if not isinstance(url, str):
            raise ChannelUnreachable("Discord did not say where its gateway is.", maybe_done=False)
        return url

    async def download(self, url: str) -> bytes:
        """A file of Discord's CDN. Raises ``ChannelError`` for one that is gone or larger than ``FILE_BYTES``."""
        try:
            answer = await self._http.fetch("GET", url, limit_bytes=FILE_BYTES)
        except TransportError as error:
            raise ChannelUnreachable("The file could not be fetched.", maybe_done=False) from error
        if answer.status != 200:
            raise ChannelError("The file could not be fetched.")
        return answer.body

    def _note(self, key: tuple[str, str], headers: Mapping[str, str]) -> None:
        """A bucket that is empty says how long it takes to have room again."""
        if headers.get("x-ratelimit-remaining") != "0":
            return
        now = self._clock.monotonic()
        if len(self._free_at) >= _BUCKETS_KEPT:
            self._free_at = {key: at for key, at in self._free_at.items() if at > now}
        self._free_at[key] = now + _seconds(headers.get("x-ratelimit-reset-after"), 0.0)


def refusal(answer: Fetched) -> ChannelError:
    """What Discord answered, as an error of the house. No text of Discord's gets into it: it may quote ours."""
    said = _read(answer.body)
    said = said if isinstance(said, dict) else {}
    code = said.get("code") if isinstance(said.get("code"), int) else 0
    match answer.status:
        case 429:
            scope = answer.headers.get("x-ratelimit-scope", "")
            wait = _seconds(said.get("retry_after"), _seconds(answer.headers.get("retry-after"), UNNAMED_WAIT))
            everywhere = bool(said.get("global")) or scope == "global" or not said
            return RateLimited("Discord asks to wait.", wait, everywhere=everywhere)
        case 401 | 404 if code in GONE:
            return MessageGone("The message no longer exists.")
        case 401:
            return Unauthorised("Discord does not accept the bot's token.")
        case 400 if code == 50035:
            return _form(said)
        case 400 | 403 if code == NO_REPLY:
            return ReplyRefused("The bot may not reply in this chat.")
        case 400 if code == THREAD_EXISTS:
            return ThreadExists("The message has a thread.")
        case 400 | 403 | 404 if code in CLOSED:
            return ChatClosed("The bot may not write in this chat.")
        case 413:
            return TooLong("The file is too large.")
        case 400 if code == 50006:
            return FormatRefused("The message was empty.")
        case status if status >= 500 or status in (408, 425):
            return ChannelUnreachable("Discord failed to answer.", maybe_done=True)
    return ChannelError(f"Discord refused the call ({answer.status}, {code}).")


def _form(said: Mapping[str, Any]) -> ChannelError:
    errors = said.get("errors")
    told = json.dumps(errors) if isinstance(errors, dict) else ""
    if isinstance(errors, dict) and "content" in errors and "BASE_TYPE_MAX_LENGTH" in told:
        return TooLong("The message is too long.")
    return Invalid("The form of the message was refused.")


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _seconds(told: Any, otherwise: float) -> float:
    try:
        return min(max(float(told), 0.0), LONGEST_WAIT)
    except (TypeError, ValueError):
        return otherwise
