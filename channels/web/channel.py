"""The web channel: what the house shows goes to the pages of a chat, or to the API request that asked for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute

from bot.core.address import Address
from bot.core.errors import ChannelError, ChatClosed, StoreError
from bot.core.inbound import ButtonPress, FileRef, Inbound
from bot.core.ports import AsgiApp, CallKind, ChannelKit, Receive
from bot.core.transcript import UserRow
from bot.core.view import Limits, Part, Phase, Ref, Rendered
from bot.inbox.access import Access
from channels.web.api import Api, about
from channels.web.assets import Pages
from channels.web.bodies import json_answer, language_of
from channels.web.desk import API_PREFIX, Desk
from channels.web.events import ChatLog, Hub
from channels.web.gate import SECURITY_HEADERS, Gate, is_loopback_host
from channels.web.openai import Exchanges, OpenAi
from channels.web.refusal import Refused
from channels.web.render import blocks
from channels.web.socket import Socket
from channels.web.story import restored
from channels.web.stream import Seats
from channels.web.words import phrase, unstored

log = logging.getLogger(__name__)

FRAME_SECONDS: Final = 0.016
"""A page paints sixty times a second: more often would not be seen."""
LIMITS: Final = Limits(size=50_000_000, pace=FRAME_SECONDS, idempotent=True, structured=True)
STREAMED: Final = Limits(size=50_000_000, pace=FRAME_SECONDS, idempotent=True, can_edit=False, structured=True)
AT_ONCE: Final = Limits(size=50_000_000, pace=0.5, idempotent=True, structured=True)
BEAT_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 1.0
SWEEP_SECONDS: Final = 300.0
RECENT_ROWS: Final = 100
AWAY_SECONDS: Final = 5.0
"""How long a chat may be without a page before ``on_disconnect: stop`` stops its turn: a reload takes less."""


class Config(BaseModel):
    """``token`` lets in whoever brings it. Without one, only a direct visit on a loopback address is let in.

    ``loopback: token`` makes that visit bring the token too: for a proxy on this machine that adds no forwarding header.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8717
    token: SecretStr = SecretStr("")
    loopback: Literal["open", "token"] = "open"
    on_disconnect: Literal["finish", "stop"] = "finish"
    access: Access = Access()


def build(config: Config, kit: ChannelKit) -> WebChannel:
    return WebChannel(config, kit)


class WebChannel:
    """Implements ``bot.core.ports.Channel`` and ``bot.core.ports.Mounted``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self._config, self._kit = config, kit
        self._hub = Hub(kit.clock)
        self._desk = Desk(kit, self._hub)
        self._exchanges = Exchanges()
        self._desk.chat_of_other_card = self._exchanges.chat_of_card
        self._hub.on_last_reader_gone = self._reader_gone
        self._errands: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        gate = Gate(config.token.get_secret_value().strip(), config.loopback)
        if not gate.token and not is_loopback_host(config.host):
            log.warning("%s listens on %s without a token: only visits from this machine get in", kit.name, config.host)
        blocks("*warm*")  # the first rendering builds the parser; that must not delay the first answer
        self._app = _application(self._desk, gate, self._exchanges, kit)

    @property
    def limits(self) -> Limits:
        return LIMITS

    def limits_for(self, address: Address) -> Limits:
        """An API client that streams cannot take back what it was sent; one that waits for the whole answer can."""
        if not address.chat.startswith(API_PREFIX):
            return LIMITS
        exchange = self._exchanges.get(address)
        return AT_ONCE if exchange is not None and not exchange.asked.stream else STREAMED

    @property
    def connected(self) -> bool:
        return self._desk.receive is not None

    @property
    def app(self) -> AsgiApp:
        return self._app

    def render(self, markdown: str) -> Rendered:
        """The page gets Markdown and its HTML by other ways; nothing here is ever too long."""
        return Rendered(markdown, len(markdown))

    async def run(self, receive: Receive) -> None:
        self._desk.receive = receive
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beat())
                group.create_task(self._look())
                group.create_task(self._sweep())
                while True:
                    errand = await self._errands.get()
                    group.create_task(_kept(errand))
        except asyncio.CancelledError:
            self._desk.stops = True
            raise
        finally:
            self._desk.receive = None

    async def _beat(self) -> None:
        while True:
            await self._kit.clock.sleep(BEAT_SECONDS)
            self._hub.beat()

    async def _look(self) -> None:
        """Tell the pages when what the daemon says of itself changes: the model is fetched, loaded, ready."""
        told = about(self._kit.about())
        while True:
            await self._kit.clock.sleep(LOOK_SECONDS)
            if self._hub.is_read and (now := about(self._kit.about())) != told:
                told = now
                self._hub.tell_all("about", now)

    async def _sweep(self) -> None:
        """Uploads that no message came for are removed."""
        while True:
            await self._kit.clock.sleep(SWEEP_SECONDS)
            try:
                await self._desk.uploads.sweep()
            except (StoreError, OSError) as error:
                log.warning("uploads could not be looked through: %s", error)

    def _reader_gone(self, chat: str) -> None:
        if self._config.on_disconnect == "stop" and self.connected:
            self._errands.put_nowait(lambda: self._stop_if_away(chat))

    async def _stop_if_away(self, chat: str) -> None:
        await self._kit.clock.sleep(AWAY_SECONDS)
        chat_log = self._hub.log(chat)
        if not chat_log.readers and chat_log.live:
            await self._desk.stop(self._desk.place(chat), "")

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        """Raises ``ChatClosed`` for an API request that nobody waits for any more; its turn is stopped as well."""
        async with self._kit.governor.call(to, CallKind.FINAL if part.final else CallKind.PREVIEW):
            if to.chat.startswith(API_PREFIX):
                self._show_caller(to, part)
            else:
                self._show_pages(to, part)
        return Ref(part.nonce)

    def _show_caller(self, to: Address, part: Part) -> None:
        exchange = self._exchanges.get(to)
        if exchange is None:
            if not part.final and self.connected:
                self._errands.put_nowait(lambda: self._stop_orphan(to))
            raise ChatClosed(phrase("gone"))
        exchange.show(part)

    async def _stop_orphan(self, to: Address) -> None:
        await self._desk.stop(to, "", "closed")

    def _show_pages(self, to: Address, part: Part) -> None:
        chat_log = self._hub.log(to.chat)
        before = chat_log.live
        was_behind = chat_log.screen(part.turn).behind is not None
        chat_log.show(part)
        if not was_behind and (rest := chat_log.screen(part.turn).behind) is not None and self.connected:
            self._errands.put_nowait(lambda: self._catch_up(chat_log, part.turn, rest))
        if chat_log.live != before:
            self._hub.tell_all("chats", {"chat": to.chat, "live": chat_log.live})
        if part.view.phase is not Phase.THINKING and self.connected and chat_log.screen(part.turn).seeks_question():
            self._errands.put_nowait(lambda: self._recall(chat_log, part.turn))
        if chat_log.waiting and part.view.phase is not Phase.WRITING and self.connected:
            self._errands.put_nowait(lambda: self._rejoin(to, part.turn))

    async def _catch_up(self, chat_log: ChatLog, turn: str, rest: float) -> None:
        await self._kit.clock.sleep(rest)
        chat_log.catch_up(turn)

    async def _recall(self, chat_log: ChatLog, turn: str) -> None:
        """A turn that an earlier process was asked for: whoever came before it had written down the question has not got it."""
        rows = await self._kit.archive.turn_rows(turn)
        told = await asyncio.to_thread(restored, rows, self._kit.clock, self._kit.shelf) if rows else None
        for said in told.said if told and turn in chat_log.screens else ():
            chat_log.say(turn, said)

    async def _rejoin(self, to: Address, turn: str) -> None:
        """Between two steps a running turn takes in what was said meanwhile; the transcript knows which messages."""
        for row in await self._kit.archive.rows(to, RECENT_ROWS):
            if row.turn == turn and isinstance(row.body, UserRow) and row.body.steered:
                self._hub.log(to.chat).join(turn, row.body.message_id)

    async def remove(self, to: Address, ref: Ref) -> None:
        if not to.chat.startswith(API_PREFIX):
            self._hub.log(to.chat).remove(ref.message_id.rpartition(".")[0])

    async def answer(self, press: ButtonPress, notice: str) -> None:
        self._desk.answered(press, notice)

    async def fetch(self, file: FileRef) -> bytes:
        """``file.id`` is the path under which the message's file is kept."""
        content = await self._kit.shelf.read(file.id)
        if content is None:
            raise ChannelError(phrase("no_file"))
        return content

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        """The page has no memory of its own: the transcript is the only one."""
        return ()


async def _kept(errand: Callable[[], Awaitable[None]]) -> None:
    try:
        await errand()
    except (StoreError, Refused) as error:
        log.warning("an errand of the web channel failed: %s", error)


def _application(desk: Desk, gate: Gate, exchanges: Exchanges, kit: ChannelKit) -> AsgiApp:
    seats = Seats()

    def answer(request: Request, status: int, word: str, **values: object) -> Response:
        return json_answer({"error": phrase(word, language_of(request, kit.language), **values)}, status)

    async def unrouted(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        word = "not_allowed" if error.status_code == 405 else "not_found"
        return answer(request, error.status_code, word, method=request.method)

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return answer(request, error.status, error.word, **error.values)

    async def not_stored(request: Request, error: Exception) -> Response:
        assert isinstance(error, StoreError)
        return answer(request, 503, unstored(error))

    async def broken(request: Request, error: Exception) -> Response:
        return answer(request, 500, "broke")

    app = Starlette(
        routes=[
            *Pages(gate, kit.language).routes,
            *Api(desk, gate, seats).routes,
            *OpenAi(desk, gate, seats, exchanges).routes,
            WebSocketRoute("/v1/ws", Socket(desk, gate, seats).endpoint),
        ],
        exception_handlers={HTTPException: unrouted, Refused: refused, StoreError: not_stored, Exception: broken},
    )
    headers = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS]

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def adding(message: Any) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        await app(scope, receive, adding)

    return guarded
