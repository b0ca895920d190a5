"""Calling the Bot API: python-telegram-bot on the house's own transport, and Telegram's refusals in the house's words."""

from __future__ import annotations

import json
import logging
import re
import warnings
from typing import Any, Final

from telegram import Bot, InputFile
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)
from telegram.request import BaseRequest, RequestData
from telegram.warnings import PTBDeprecationWarning, PTBUserWarning

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
from bot.core.http import Http, Timeouts
from bot.net.multipart import FormFile, multipart
from channels.telegram.updates import Me

CALL_SECONDS: Final = 30.0
"""A call that is not answered within this time is given up; Telegram answers most within 200 ms."""
ANSWER_BYTES: Final = 32 * 1024 * 1024
"""A hundred updates with long texts stay far below."""
FILE_BYTES: Final = 20 * 1024 * 1024
"""The Bot API's own limit for downloads."""
PROOF: Final = "getMe"
UNNAMED_WAIT: Final = 5
LONGEST_WAIT: Final = 86_400.0

# the library writes every text that comes and goes into its log of details
logging.getLogger("telegram").setLevel(logging.WARNING)
# ``do_api_request`` is the library's documented way to a raw answer; it warns at every call that there are typed ones,
# and reading ``retry_after`` warns that it will be a time span one day, which is taken here as well
warnings.filterwarnings("ignore", message="Please use 'Bot\\.", category=PTBUserWarning)
warnings.filterwarnings("ignore", message=".*retry_after", category=PTBDeprecationWarning)


class NotModified(ChannelError):
    """The message already is what it should become."""


class Moved(ChannelError):
    """The group became a supergroup and has another id now."""

    def __init__(self, chat: str) -> None:
        super().__init__("The group has moved.")
        self.chat = chat


class QuestionGone(ChannelError):
    """What the message was to reply to no longer exists."""


class UnknownCall(ChannelUnreachable):
    """The server knows no such call, or no such bot."""


class Refused(ChannelError):
    """Telegram does not take the call, for a reason that no other class stands for; ``str()`` names it."""


class Displaced(ChannelError):
    """Somebody else fetches this bot's updates: another program, or a webhook (``webhook``)."""

    def __init__(self, *, webhook: bool) -> None:
        super().__init__("Another program fetches the messages of this bot.")
        self.webhook = webhook


class _Lost(NetworkError):
    """``sent``: the request may have reached the server."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class _Unknown(NetworkError):
    """404: no such bot, or no such method. The library takes both for a refused token."""


class HouseRequest(BaseRequest):
    """The library's HTTP seam over ``bot.core.http.Http``."""

    def __init__(self, http: Http) -> None:
        self._http = http

    @property
    def read_timeout(self) -> float:
        return CALL_SECONDS

    async def initialize(self) -> None:
        """The transport belongs to the daemon."""

    async def shutdown(self) -> None:
        """The transport belongs to the daemon."""

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        seconds = float(read_timeout) if isinstance(read_timeout, int | float) else CALL_SECONDS
        body, kind = _form(request_data) if request_data else (b"{}", "application/json")
        try:
            answer = await self._http.fetch(
                method,
                url,
                headers={"content-type": kind} if method == "POST" else None,
                body=body if method == "POST" else None,
                timeouts=Timeouts(connect=10.0, silence=seconds, total=seconds + 10.0),
                limit_bytes=ANSWER_BYTES,
            )
        except TransportError as error:
            raise _Lost(str(error), sent=error.sent) from error
        if answer.status != 200 and not answer.body.lstrip().startswith(b"{"):
            if answer.status == 429:
                raise RetryAfter(UNNAMED_WAIT)
            raise _Lost(f"The answer came from something else, with status {answer.status}.", sent=True)
        if answer.status == 404:
            raise _Unknown("Not Found")
        return answer.status, answer.body

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """As the library's, but what was not JSON is written into no log."""
        try:
            parsed = json.loads(payload)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict) or ("result" not in parsed and parsed.get("ok") is not False):
            raise _Lost("The answer was not one of the Bot API's.", sent=True)
        return parsed


def _form(data: RequestData) -> tuple[bytes, str]:
    """The body of a request and its content type."""
    if not data.contains_files:
        return data.json_payload, "application/json"
    files = []
    for field, (name, content, kind) in (data.multipart_data or {}).items():
        assert isinstance(content, bytes), "files are given as bytes"
        files.append(FormFile(field, name, kind, content))
    return multipart(data.json_parameters, files)


def attached(name: str, content: bytes) -> InputFile:
    """A file as the value of a parameter."""
    return InputFile(content, filename=name)


class Wire:
    """One bot's calls. Every method raises ``ChannelError`` and nothing else; after the token was refused once,
    nothing is called any more. ``is_doubted``: a call was not known there, and the token was not proven since."""

    def __init__(self, http: Http, api_base: str, token: str) -> None:
        self._http, self._files = http, f"{api_base}/file/bot{token}"
        self._token = token
        request = HouseRequest(http)
        self._bot = Bot(token, base_url=f"{api_base}/bot", request=request, get_updates_request=request)
        self._refused: Unauthorised | None = None
        self.is_doubted = False

    @property
    def bot(self) -> str:
        """The id of the bot, with which Telegram's tokens begin; "" where a server of one's own gives out others."""
        number, colon, _ = self._token.partition(":")
        return number if colon and number.isdigit() else ""

    @property
    def is_refused(self) -> bool:
        return self._refused is not None

    async def call(self, method: str, /, *, seconds: float = CALL_SECONDS, **params: Any) -> Any:
        """The ``result`` of the answer. ``seconds`` is how long the server may be silent."""
        if self._refused is not None:
            raise self._refused
        try:
            result = await self._bot.do_api_request(method, api_kwargs=params, read_timeout=seconds)
        except TelegramError as error:
            failure = translated(error, method)
            if isinstance(failure, Unauthorised):
                self._refused = failure
            self.is_doubted = self.is_doubted or isinstance(error, _Unknown)
            raise failure from None
        if method == PROOF:
            self.is_doubted = False
        return result

    async def download(self, file_id: str) -> bytes:
        """Raises ``ChannelError`` for a file that is gone or larger than ``FILE_BYTES``."""
        found = await self.call("getFile", file_id=file_id)
        path = found.get("file_path") if isinstance(found, dict) else None
        if not isinstance(path, str) or int(found.get("file_size") or 0) > FILE_BYTES:
            raise ChannelError("The file is gone or too large.")
        try:
            answer = await self._http.fetch("GET", f"{self._files}/{path}", limit_bytes=FILE_BYTES)
        except TransportError as error:
            raise ChannelUnreachable("The file could not be fetched.", maybe_done=False) from error
        if answer.status != 200:
            raise ChannelError("The file could not be fetched.")
        return answer.body


async def who_am_i(wire: Wire) -> Me:
    """The bot behind the token, which this proves. Raises ``ChannelError``."""
    told = await wire.call(PROOF)
    try:
        return Me(int(told["id"]), str(told.get("username") or ""), bool(told.get("can_read_all_group_messages")))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ChannelUnreachable("The server did not say who the bot is.", maybe_done=False) from None


_GONE = re.compile(r"message to (edit|delete) not found|message can't be (edited|deleted)|message_id_invalid", re.I)
_LONG = re.compile(r"message(_| is )too(_| )long|text is too long", re.I)
_FORMAT = re.compile(r"can't parse|entit(y|ies)|entity_|button_|reply_markup|reply markup|text_link|url.*invalid", re.I)
_CLOSED = re.compile(
    r"chat not found|chat_.*forbidden|not enough rights|have no rights|need administrator rights|peer_id_invalid"
    r"|user_is_blocked|topic_closed|topic_deleted|thread not found|chat_restricted|user is deactivated"
    r"|group chat was deactivated|channel_private",
    re.I,
)
_UNQUOTED = re.compile(r"message to be replied not found|reply message not found|reply_message_id_invalid", re.I)
_NAME = re.compile(r"(?:[A-Za-z_ ,/-]|(?<=[a-z])'(?=[a-z])){0,60}")
"""How a refusal begins: Telegram's own words, up to where it quotes or counts."""
_STALE = re.compile(r"query is too old|query id is invalid|query_id_invalid", re.I)


def translated(error: TelegramError, method: str) -> ChannelError:
    """What the library raised at ``method``, as an error of the house. Nothing that Telegram may quote gets into it."""
    match error:
        case RetryAfter():
            wait = error.retry_after
            return RateLimited("Telegram asks to wait.", _seconds(wait))
        case ChatMigrated():
            return Moved(str(error.new_chat_id))
        case InvalidToken():
            return Unauthorised("Telegram does not accept the bot's token.")
        case _Unknown() if method == PROOF:
            return Unauthorised("Telegram does not know this bot: its token is incomplete, or api_base is wrong.")
        case _Unknown():
            return UnknownCall(f"Telegram does not know the call {method}.", maybe_done=False)
        case Forbidden():
            return ChatClosed("The bot may not write in this chat.")
        case Conflict():
            return Displaced(webhook="webhook" in error.message.lower())
        case BadRequest():
            return _bad_request(error.message, method)
        case _Lost():
            return ChannelUnreachable("Telegram could not be reached.", maybe_done=error.sent)
        case NetworkError() if "entity too large" in error.message.lower():
            return TooLong("The file is too large.")
        case NetworkError() if "too many requests" in error.message.lower():
            return RateLimited("Telegram asks to wait.", UNNAMED_WAIT)
    return ChannelUnreachable("Telegram failed to answer.", maybe_done=True)


def _bad_request(said: str, method: str) -> ChannelError:
    if "not modified" in said.lower():
        return NotModified("Nothing to change.")
    if _UNQUOTED.search(said):
        return QuestionGone("What the message replies to no longer exists.")
    if _GONE.search(said):
        return MessageGone("The message no longer exists.")
    if _LONG.search(said):
        return TooLong("The message is too long.")
    if _CLOSED.search(said):
        return ChatClosed("The bot may not write in this chat.")
    if _FORMAT.search(said):
        return FormatRefused("The formatting was refused.")
    if _STALE.search(said):
        return ChannelError("The press is too old to be answered.")
    named = _NAME.match(said)
    return Refused(
        f"Telegram refused {method}: {named[0].strip() if named and named[0].strip() else 'it does not say why'}."
    )


def _seconds(wait: Any) -> float:
    """The library gives whole seconds, or a time span where the environment asks for one."""
    seconds = wait.total_seconds() if hasattr(wait, "total_seconds") else float(wait)
    return min(max(seconds, 0.0), LONGEST_WAIT)
