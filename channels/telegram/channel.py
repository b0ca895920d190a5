"""The Telegram channel: a bot's chats, whose messages it edits while the answers in them grow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    MessageGone,
    RateLimited,
    StoreError,
    Unauthorised,
)
from bot.core.inbound import ButtonPress, FileRef, Inbound, UserMessage
from bot.core.ports import CallKind, ChannelKit, Progress, Receive
from bot.core.tasks import first_failure
from bot.core.text import clipped
from bot.core.view import Button, Limits, Part, Ref, Rendered
from bot.net.http import Transport
from bot.outbox.arrivals import Arrivals
from bot.outbox.errands import Errands
from bot.outbox.governor import Rates
from bot.outbox.silences import Silences
from bot.outbox.styled.spans import is_blank
from channels.telegram.config import Config
from channels.telegram.entities import Renderer, shown_text
from channels.telegram.menu import offer
from channels.telegram.moves import Moves
from channels.telegram.polling import STALE_AFTER, Poller
from channels.telegram.updates import Me
from channels.telegram.wire import Moved, NotModified, Wire, who_am_i

log = logging.getLogger(__name__)

T = TypeVar("T")

SIZE: Final = 4096
CHAT_INTERVAL: Final = 1.05
"""Telegram bears about one message a second in a chat, and edits count; a little more for calls that catch up."""
GROUP_INTERVAL: Final = 3.1
GROUP_PER_MINUTE: Final = 20
PRESSED_CHARS: Final = 200
ROW_BUTTONS: Final = 2
TYPING_EVERY: Final = 4.5
"""Telegram shows it for five seconds."""
NOTHING: Final = "…"
"""Stands for an answer of invisible characters alone, which Telegram would refuse."""
NO_PREVIEW: Final = {"is_disabled": True}
"""Given with every call, so that a link's preview neither comes nor goes while the text grows."""


def build(config: Config, kit: ChannelKit) -> TelegramChannel:
    return TelegramChannel(config, kit)


async def probe(config: Config) -> str:
    """Prove the token for ``doctor --online``."""
    http = Transport()
    try:
        me = await who_am_i(Wire(http, config.api_base, config.token.get_secret_value()))
    finally:
        await http.aclose()
    return f"the token is @{me.username}'s"


def is_group(address: Address) -> bool:
    """Telegram's ids of groups and channels are negative."""
    return address.chat.startswith("-")


class TelegramChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self._kit = kit
        self._wire = Wire(kit.http, config.api_base, config.token.get_secret_value() or "0:none")
        self._errands = Errands(kit.governor, kit.clock, TYPING_EVERY)
        self._arrivals = Arrivals(self._errands, self._sign, self._say)
        self._silences = Silences(kit.notes, kit.clock)
        self._renderer = Renderer()
        self._renderer.render("*warm*")  # the first rendering builds the parser; that must not delay the first answer
        self._me: Me | None = None
        self._poller: Poller | None = None
        self._moves = Moves(kit.notes)
        live = config.streaming != "off"
        self._private = Limits(size=SIZE, unit="utf16", pace=CHAT_INTERVAL, previews=live)
        self._group = Limits(size=SIZE, unit="utf16", pace=GROUP_INTERVAL, previews=live)
        self.rates = Rates(CHAT_INTERVAL, GROUP_PER_MINUTE, config.calls_per_second, is_group)
        if config.streaming == "draft":
            log.info("%s: answers are shown by edits; drafts are not built into this version", kit.name)
        if config.transport == "webhook":
            log.warning("%s: messages are fetched by polling; webhooks are not built into this version", kit.name)

    @property
    def limits(self) -> Limits:
        return self._private

    def limits_for(self, address: Address) -> Limits:
        return self._group if is_group(address) else self._private

    @property
    def connected(self) -> bool:
        """A poll that is still open does not know yet that the token was refused elsewhere."""
        return self._poller is not None and self._poller.connected and not self._wire.is_refused

    @property
    def progress(self) -> Progress | None:
        """Implements ``bot.core.ports.Progressing``: polls that begin and end, whatever they bring."""
        return Progress(self._poller.heard_at, STALE_AFTER) if self._poller else None

    def render(self, markdown: str) -> Rendered:
        return self._renderer.render(markdown)

    async def run(self, receive: Receive) -> None:
        """Raises ``Unauthorised`` when the token is refused, ``ChannelUnreachable`` when Telegram stays away."""
        me = await self._proven()
        poller = self._poller = Poller(
            self._wire, self._kit.notes, self._moves, self._kit.clock, me, self.name, self._kit.account
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._errands.run())
                group.create_task(self._menu())
                group.create_task(poller.run(lambda inbound: self._take(inbound, receive)))
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            self._poller = None

    async def _proven(self) -> Me:
        """Who the bot is, asked once: the token is good, and these are the names under which it is meant."""
        if self._me is None:
            self._me = await self._patiently(lambda: who_am_i(self._wire))
            log.info("%s is @%s", self.name, self._me.username)
        return self._me

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """For calls that no governor lets through: Telegram's flood waits hold for them as well."""
        while True:
            try:
                return await call()
            except RateLimited as limited:
                log.warning("%s waits %g s, as Telegram asks", self.name, limited.retry_after)
                await self._kit.clock.sleep(limited.retry_after)

    async def _take(self, inbound: Inbound, receive: Receive) -> None:
        receipt = await self._arrivals.take(inbound, receive)
        if isinstance(inbound, ButtonPress) and receipt.duplicate:
            self._answer(inbound, "")  # whoever took it may have died before the answer: the button must not wait

    async def _sign(self, to: Address) -> None:
        await self._call(to, "sendChatAction", action="typing", **_thread(to))

    async def _say(self, message: UserMessage, text: str) -> None:
        await self._send(message.address, {"text": text})

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        if ref is None:
            await self._arrivals.showing(to, known=is_group(to))
        async with self._kit.governor.call(
            to, CallKind.FINAL if part.final else CallKind.PREVIEW, edit=ref is not None
        ):
            self._errands.seen(to)
            text = part.rendered.text if part.rendered.entities else shown_text(part.rendered.text)
            text = NOTHING if is_blank(text) else text
            params: dict[str, Any] = {"text": text, "link_preview_options": NO_PREVIEW}
            if part.rendered.entities:
                params["entities"] = [
                    _entity(entity.type, entity.offset, entity.length, entity.value)
                    for entity in part.rendered.entities
                ]
            if part.buttons:
                params["reply_markup"] = {"inline_keyboard": _rows(part.buttons)}
            if ref is not None:
                return await self._edit(to, ref, params)
            question = self._arrivals.question(part.turn) if part.index == 0 and is_group(to) else None
            if question is not None:
                params["reply_parameters"] = {"message_id": int(question.id), "allow_sending_without_reply": True}
            return await self._send(to, params)

    async def _edit(self, to: Address, ref: Ref, params: dict[str, Any]) -> Ref:
        try:
            await self._call(to, "editMessageText", message_id=int(ref.message_id), **params)
        except NotModified:
            pass
        return ref

    async def _send(self, to: Address, params: dict[str, Any]) -> Ref:
        sent = await self._call(to, "sendMessage", **_thread(to), **params)
        if not isinstance(sent, dict) or not isinstance(sent.get("message_id"), int):
            raise ChannelUnreachable("Telegram did not say which message it sent.", maybe_done=True)
        return Ref(str(sent["message_id"]))

    async def remove(self, to: Address, ref: Ref) -> None:
        try:
            async with self._kit.governor.call(to, CallKind.FINAL):
                await self._call(to, "deleteMessage", message_id=int(ref.message_id))
        except MessageGone:
            pass

    async def answer(self, press: ButtonPress, notice: str) -> None:
        """Returns at once: the poll that brought the press must not wait for the answer to it."""
        self._answer(press, notice)

    def _answer(self, press: ButtonPress, notice: str) -> None:
        params: dict[str, Any] = {"callback_query_id": press.token}
        if notice:
            params["text"] = clipped(notice, PRESSED_CHARS)
        self._errands.surely(
            press.address,
            CallKind.ANSWER,
            lambda: self._wire.call("answerCallbackQuery", **params),
            repeatable=True,
        )

    async def fetch(self, file: FileRef) -> bytes:
        return await self._wire.download(file.id)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        """The Bot API tells nothing of the past."""
        return ()

    async def _call(self, to: Address, method: str, **params: Any) -> Any:
        """One call for a chat, where it is now: a group that became a supergroup has another id. A flood wait that an
        earlier process was told of still holds."""
        if left := await self._silences.left(to.chat):
            raise RateLimited("Telegram asked to wait before this start.", left)
        try:
            chat = await self._moves.now(to.chat) if is_group(to) else to.chat
            return await self._wire.call(method, chat_id=int(chat), **params)
        except RateLimited as limited:
            await self._silences.keep(to.chat, limited.retry_after)
            raise
        except Moved as moved:
            await self._moves.note(to.chat, moved.chat)
            return await self._wire.call(method, chat_id=int(moved.chat), **params)

    async def _menu(self) -> None:
        try:
            await offer(
                self._kit.notes,
                lambda params: self._patiently(lambda: self._wire.call("setMyCommands", **params)),
            )
        except Unauthorised:
            raise
        except (ChannelError, StoreError) as error:
            log.warning("the menu of commands waits for the next start: %s", error)


def _thread(to: Address) -> dict[str, int]:
    return {"message_thread_id": int(to.thread)} if to.thread else {}


def _entity(type_: str, offset: int, length: int, value: str) -> dict[str, Any]:
    entity: dict[str, Any] = {"type": type_, "offset": offset, "length": length}
    if value and type_ == "pre":
        entity["language"] = value
    elif value and type_ == "text_link":
        entity["url"] = value
    return entity


def _rows(buttons: Sequence[Button]) -> list[list[dict[str, str]]]:
    """The verbs of a card in pairs, so that a phone shows them whole; Stop on a row of its own. Styles as Telegram has
    them."""
    rows: list[list[dict[str, str]]] = []
    last = None
    for button in buttons:
        target = button.payload.rpartition(":")[0]
        made = {"text": button.label, "callback_data": button.payload}
        if button.style != "plain":
            made["style"] = button.style
        if target != last or len(rows[-1]) >= ROW_BUTTONS:
            rows.append([])
            last = target
        rows[-1].append(made)
    return rows
