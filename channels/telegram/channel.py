"""The Telegram channel: a bot's chats, whose messages it edits while the answers in them grow."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    MessageGone,
    RateLimited,
    StoreError,
    TooLong,
    Unauthorised,
)
from bot.core.inbound import ButtonPress, FileRef, Inbound, UserMessage
from bot.core.ports import CallKind, ChannelKit, Progress, Receive
from bot.core.tasks import first_failure
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.view import Limits, OutFile, Part, Ref, Rendered
from bot.net.http import Transport
from bot.outbox.arrivals import Arrivals
from bot.outbox.errands import Errands
from bot.outbox.governor import Rates
from bot.outbox.silences import Silences
from channels.telegram.cards import Cards, Waiting
from channels.telegram.config import Config
from channels.telegram.content import content_of, thread_of
from channels.telegram.drafts import SECONDS as DRAFT_SECONDS
from channels.telegram.drafts import Drafts
from channels.telegram.entities import Renderer
from channels.telegram.intake import Intake
from channels.telegram.menu import offer
from channels.telegram.moves import Moves, message_id, number_in
from channels.telegram.outgoing import ways_of
from channels.telegram.polling import Poller
from channels.telegram.updates import Me
from channels.telegram.webhook import Hook, secret_of
from channels.telegram.wire import Moved, NotModified, QuestionGone, Refused, Wire, who_am_i

log = logging.getLogger(__name__)

T = TypeVar("T")

SIZE: Final = 4096
CHAT_INTERVAL: Final = 1.05
"""Telegram bears about one message a second in a chat, and edits count; a little more for calls that catch up."""
GROUP_INTERVAL: Final = 3.1
GROUP_PER_MINUTE: Final = 20
PRESSED_CHARS: Final = 200
RECHECK_SECONDS: Final = 60.0
"""The Bot API tells of no deletion; an edit that changes nothing costs one call and finds out."""
TYPING_EVERY: Final = 4.5
"""Telegram shows it for five seconds."""
FIRST_BOT: Final = "bot"
"""The note of which bot the data folder has first belonged to."""


def build(config: Config, kit: ChannelKit) -> TelegramChannel:
    return TelegramChannel(config, kit)


async def probe(config: Config) -> str:
    """Prove the token for ``doctor --online``."""
    http = Transport()
    try:
        me = await who_am_i(Wire(http, config.api_base, config.token.get_secret_value()))
    finally:
        await http.aclose()
    said = f"the token is @{me.username}'s"
    return f"{said}; but {unheard}" if (unheard := config.unheard(me.reads_all)) else said


def is_group(address: Address) -> bool:
    """Telegram's ids of groups and channels are negative."""
    return address.chat.startswith("-")


class TelegramChannel:
    """Implements ``bot.core.ports.Channel``."""

    def __init__(self, config: Config, kit: ChannelKit) -> None:
        self.name = kit.name
        self._config, self._kit = config, kit
        self._wire = Wire(kit.http, config.api_base, config.token.get_secret_value() or "0:none")
        self._errands = Errands(kit.governor, kit.clock, TYPING_EVERY)
        self._arrivals = Arrivals(self._errands, self._sign, self._say)
        self._silences = Silences(kit.notes, kit.clock, self._wire.bot)
        self._renderer = Renderer()
        self._renderer.render("*warm*")  # the first rendering builds the parser; that must not delay the first answer
        self._me: Me | None = None
        self._ear: Poller | Hook | None = None
        self._account: str | None = None
        self._cards = Cards(kit.notes)
        self._moves = Moves(kit.notes, self._moved)
        self._unquoted: set[str] = set()
        self._drafts = Drafts(kit.name, on=config.streaming == "draft")
        live = config.streaming != "off"
        limits = Limits(size=SIZE, unit="utf16", previews=live, recheck=RECHECK_SECONDS)
        self._private, self._group = replace(limits, pace=CHAT_INTERVAL), replace(limits, pace=GROUP_INTERVAL)
        self.rates = Rates(CHAT_INTERVAL, GROUP_PER_MINUTE, config.calls_per_second, is_group)

    @property
    def limits(self) -> Limits:
        """Of private chats."""
        return replace(self._private, fleeting=DRAFT_SECONDS) if self._drafts.on else self._private

    def limits_for(self, address: Address) -> Limits:
        return self._group if is_group(address) else self.limits

    @property
    def connected(self) -> bool:
        """A poll that is still open does not know yet that the token was refused elsewhere."""
        return self._ear is not None and self._ear.connected and not self._wire.is_refused

    @property
    def progress(self) -> Progress | None:
        """Implements ``bot.core.ports.Progressing``: polls that begin and end, whatever they bring; or looks at the
        webhook."""
        return Progress(self._ear.heard_at, self._ear.stale_after) if self._ear else None

    def trouble(self, language: str) -> str:
        """Implements ``bot.core.ports.Troubled``."""
        unheard = self._me is not None and self._config.unheard(self._me.reads_all)
        return say("deaf_telegram", language) if unheard else ""

    def render(self, markdown: str) -> Rendered:
        return self._renderer.render(markdown)

    async def run(self, receive: Receive) -> None:
        """Raises ``Unauthorised`` when the token is refused, ``ChannelUnreachable`` when Telegram stays away."""
        account = await self._own()
        me = await self._proven()
        intake = Intake(
            *(self._kit.notes, self._moves, me, self.name, account), lambda inbound: self._take(inbound, receive)
        )
        ear = self._ear = self._listening(intake)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._errands.run())
                group.create_task(self._menu())
                group.create_task(ear.run())
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        finally:
            self._ear = None

    def _listening(self, intake: Intake) -> Poller | Hook:
        kit, config = self._kit, self._config
        if config.transport == "polling":
            return Poller(self._wire, intake, kit.clock, self.name)
        secret = secret_of(config.webhook, config.token.get_secret_value())
        return Hook(self._wire, kit.notes, kit.clock, intake, config.webhook, secret, kit.serve, self.name)

    async def _own(self) -> str:
        """Before the first call: the account of this bot's chats, and the waits that an earlier life was told of. The
        bot that a data folder has first belonged to has the daemon's own account, any other one its id."""
        if self._account is None:
            first = await self._kit.notes.read(FIRST_BOT)
            is_first = first in (None, self._wire.bot) or not self._wire.bot
            self._account = self._kit.account if is_first else self._wire.bot
        account = self._account
        await self._silences.hand_over(self._kit.governor, lambda chat: Address(self.name, account, chat))
        return account

    async def _proven(self) -> Me:
        """Who the bot is, asked once: the token is good, and these are the names under which it is meant."""
        if self._me is not None:
            return self._me
        me = await self._patiently(lambda: who_am_i(self._wire))
        log.info("%s is @%s", self.name, me.username)
        if unheard := self._config.unheard(me.reads_all):
            log.warning("%s: %s", self.name, unheard)
        if self._wire.bot and await self._kit.notes.read(FIRST_BOT) is None:
            await self._kit.notes.write(FIRST_BOT, self._wire.bot)
        if self._account != self._kit.account:
            log.info(
                "%s is another bot than the first one of this data folder: its chats are %s:%s:…",
                *(self.name, self.name, self._account),
            )
        self._me = me
        return me

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
        await self._call(to, "sendChatAction", action="typing", **thread_of(to))

    async def _say(self, message: UserMessage, text: str) -> None:
        await self._send(message.address, {"text": text})

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        await self._admit(to)
        if ref is None:
            await self._arrivals.showing(to, known=is_group(to))
        async with self._kit.governor.call(
            to, CallKind.FINAL if part.final else CallKind.PREVIEW, edit=ref is not None
        ):
            self._errands.seen(to)
            if part.fleeting:
                return await self._drafts.push(part, partial(self._call, to, **thread_of(to)))
            if ref is not None:
                shown = await self._edit(to, await self._standing(to, ref), part)
            else:
                shown = await self._first(to, part)
        if is_group(to):
            await self._cards.shown(to, ref, shown, part)
        return shown

    async def _edit(self, to: Address, ref: Ref, part: Part) -> Ref:
        try:
            await self._call(to, "editMessageText", message=ref.message_id, **content_of(part))
        except NotModified:
            pass
        except MessageGone:
            self._cards.gone(part)
            raise
        return ref

    async def _first(self, to: Address, part: Part) -> Ref:
        """In a group the beginning of an answer says to what; what cannot be replied to is answered all the same."""
        question = self._arrivals.question(part.turn) if part.index == 0 and is_group(to) else None
        if question is None or part.turn in self._unquoted:
            self._unquoted.discard(part.turn)
            return await self._send(to, content_of(part))
        try:
            return await self._send(to, content_of(part), question.id)
        except QuestionGone:
            return await self._send(to, content_of(part))
        except Refused:
            self._unquoted.add(part.turn)
            raise

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        """Implements ``bot.core.ports.Sending``. What is refused as a photo may do as a document."""
        await self._admit(to)
        ways = await ways_of(file)
        async with self._kit.governor.call(to, CallKind.FINAL):
            for method, params in ways[:-1]:
                try:
                    return await self._send(to, params, method=method)
                except (Refused, TooLong) as error:
                    log.info("%s: %s; sent as it is", self.name, error)
            method, params = ways[-1]
            return await self._send(to, params, method=method)

    async def _send(
        self, to: Address, content: dict[str, Any], question: str = "", *, method: str = "sendMessage"
    ) -> Ref:
        number = number_in(question, await self._now(to), to.chat) if question else None
        if number is not None:
            content = content | {"reply_parameters": {"message_id": number, "allow_sending_without_reply": True}}
        sent = await self._call(to, method, **thread_of(to), **content)
        if not isinstance(sent, dict) or not isinstance(sent.get("message_id"), int):
            raise ChannelUnreachable("Telegram did not say which message it sent.", maybe_done=True)
        return Ref(message_id(sent["message_id"], await self._now(to), to.chat))

    async def remove(self, to: Address, ref: Ref) -> None:
        await self._admit(to)
        try:
            async with self._kit.governor.call(to, CallKind.FINAL):
                await self._call(to, "deleteMessage", message=(await self._standing(to, ref)).message_id)
        except MessageGone:
            pass

    async def unbutton(self, to: Address, ref: Ref, part: Part) -> None:
        """Implements ``bot.core.ports.Unbuttoning``."""
        await self._admit(to)
        try:
            async with self._kit.governor.call(to, CallKind.TYPING, edit=True):
                await self._call(to, "editMessageReplyMarkup", message=(await self._standing(to, ref)).message_id)
        except (MessageGone, NotModified):
            pass

    async def title(self, of: Address) -> str:
        """Implements ``bot.core.ports.Titled``."""
        await self._admit(of)
        async with self._kit.governor.call(of, CallKind.ANSWER):
            told = await self._call(of, "getChat")
        return str(told.get("title") or "") if isinstance(told, dict) else ""

    def _moved(self, group: str) -> None:
        """What waits for a person is shown again in the new place; anything else that is not complete follows with its
        next change."""
        for waiting in self._cards.left_in(group):
            self._errands.surely(waiting.to, CallKind.FINAL, partial(self._again, waiting))

    async def _again(self, waiting: Waiting) -> None:
        if self._cards.waits(waiting):
            await self._cards.sent_again(waiting, await self._send(waiting.to, content_of(waiting.part)))

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

    async def _standing(self, to: Address, ref: Ref) -> Ref:
        return await self._cards.now(to, ref) if is_group(to) else ref

    async def _admit(self, to: Address) -> None:
        """The chats of another bot wait until there is its token again."""
        if to.account != await self._own():
            raise Unauthorised("This chat is another bot's.")

    async def _now(self, to: Address) -> str:
        """The id under which the chat is found."""
        return await self._moves.now(to.chat) if is_group(to) else to.chat

    async def _call(self, to: Address, method: str, *, message: str = "", **params: Any) -> Any:
        """One call for a chat, where it is now, or for a ``message`` there: a group that became a supergroup has another
        id, and what was said in it before is out of reach."""
        chat = await self._now(to)
        if message:
            if (number := number_in(message, chat, to.chat)) is None:
                raise MessageGone("The group has moved, and left the message behind.")
            params["message_id"] = number
        try:
            return await self._wire.call(method, chat_id=int(chat), **params)
        except RateLimited as limited:
            await self._silences.keep(to.chat, limited.retry_after)
            raise
        except Moved as moved:
            await self._moves.note(to.chat, moved.chat)
            if message:
                raise MessageGone("The group has moved, and left the message behind.") from None
            params.pop("reply_parameters", None)
            return await self._wire.call(method, chat_id=int(moved.chat), **params)

    async def _menu(self) -> None:
        try:
            await offer(
                self._kit.notes,
                self._wire.bot,
                lambda params: self._patiently(lambda: self._wire.call("setMyCommands", **params)),
            )
        except Unauthorised:
            raise
        except (ChannelError, StoreError) as error:
            log.warning("the menu of commands waits for the next start: %s", error)
