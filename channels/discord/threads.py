"""Threads that the bot opens from questions asked in a channel: which question gets one, and what if Discord will have none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, TypeVar

import discord
from pydantic import TypeAdapter

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, ChatClosed, RateLimited, StoreError, Unauthorised
from bot.core.inbound import ButtonPress, MessageDeleted, MessageEdited, Receipt, UserMessage
from bot.core.ports import CallKind, ChannelKit
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.view import Button
from bot.inbox.commands import command_of
from bot.outbox.errands import Errands
from channels.discord.rest import Rest, ThreadExists
from channels.discord.titles import title

log = logging.getLogger(__name__)

NOTE: Final = "threads"
KEPT: Final = 500
OPEN_SECONDS: Final = 10.0
WORTH_SECONDS: Final = 10.0
"""Whoever would have to wait longer for a thread is answered in the channel."""
NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Opening:
    """The thread of a question, which has the question's id, in the channel ``chat``. ``title`` "" is one that was there.
    ``closed``: there will be none, and what would stand in it stands in the channel, with buttons of these ``ids``."""

    chat: str
    title: str
    closed: bool = False
    ids: tuple[str, ...] = ()


Told = TypeVar("Told", MessageEdited, MessageDeleted, ButtonPress)
_OPENINGS: Final = TypeAdapter(dict[str, Opening])


class Threads:
    """Since a thread has the id of its message and a message has no second one, the address of an answer is known before
    there is a thread: the question is stored under it first, and opening the thread may be tried as often as it takes.
    What was chosen for a question is written down before, so that no later delivery of it ends elsewhere.

    ``auto``: whether questions get threads. ``find`` is the channel of this id, as far as the library knows it.
    """

    def __init__(
        self, rest: Rest, errands: Errands, kit: ChannelKit, *, auto: bool, find: Callable[[int], Any]
    ) -> None:
        self._rest, self._errands, self._kit, self._auto, self._find = rest, errands, kit, auto, find
        self._known: dict[str, Opening] = {}
        self._buttons: dict[str, str] = {}
        self._open: set[str] = set()
        self._locks: dict[str, asyncio.Lock] = {}
        self._shut_until: dict[str, float] = {}
        self._lacking: dict[int, bool] = {}
        self._loaded = False
        self.seen = 0
        """What came up to this id has its place."""

    async def load(self) -> None:
        """Before anything is placed or found. Raises ``StoreError``."""
        told = "" if self._loaded else await self._kit.notes.read(NOTE)
        if self._loaded:  # two may have looked at once
            return
        try:
            known = _OPENINGS.validate_json(told or "{}")
        except ValueError:
            log.warning("the note of opened threads cannot be read")
            known = {}
        for number, opening in known.items():
            self._keep(number, opening)
        self._loaded = True

    # hearing

    async def placed(self, raw: discord.Message, message: UserMessage, me: discord.abc.User) -> UserMessage:
        """The message where it belongs: in a thread of its own if it gets one. Raises ``StoreError``."""
        if message.address.thread:
            return message
        if message.id not in self._known:
            if self._choice(raw, message, me) != "thread":
                return message
            name = "" if raw.thread is not None else title(message, str(self._kit.about().get("name", "")))
            self._keep(message.id, Opening(message.address.chat, name))
            try:
                await self._write()
            except StoreError:
                del self._known[message.id]
                raise
        return replace(message, address=replace(message.address, thread=message.id))

    def taken(self, raw: discord.Message, message: UserMessage, me: discord.abc.User, receipt: Receipt) -> None:
        """The message is stored: its thread opens while the answer is made. Never waits."""
        if not receipt.turn or receipt.duplicate:
            return
        if self._lacks(message.address):
            again = partial(self._opened, message.address)
            self._errands.surely(self._budget(message.address), CallKind.ANSWER, again, repeatable=True)
        elif not message.address.thread and self._choice(raw, message, me) == "forbidden":
            self._lacking.setdefault(raw.channel.id, False)

    def _choice(
        self, raw: discord.Message, message: UserMessage, me: discord.abc.User
    ) -> Literal["thread", "channel", "forbidden"]:
        """Only a mention opens a thread: a reply to the bot goes on where the bot's words stand, and so does a command."""
        channel = raw.channel
        if not (self._auto and message.addressed and isinstance(channel, discord.TextChannel)) or channel.is_news():
            return "channel"
        if raw.id <= self.seen or not (message.text or message.files or message.quote):
            return "channel"
        original = raw.reference.resolved if raw.reference else None
        if command_of(message.text) or (isinstance(original, discord.Message) and original.author.id == me.id):
            return "channel"
        if raw.thread is not None:
            return "channel" if raw.thread.locked else "thread"
        if self._shut_until.get(message.address.chat, 0.0) > self._kit.clock.monotonic():
            return "channel"
        return "thread" if _may_open(channel) else "forbidden"

    def owns(self, number: int) -> bool:
        """Whether this is a thread in which the bot is always meant; in those that people have begun it is not."""
        opening = self._known.get(str(number))
        return opening is not None and bool(opening.title) and not opening.closed

    def above(self, number: int) -> str:
        """The channel above this thread, where the bot opened it; else ""."""
        return self._known[str(number)].chat if str(number) in self._known else ""

    def home(self, told: Told) -> Told:
        """What is told of a question, or of a button that stands in place of its thread, as told of the thread."""
        if told.address.thread:
            return told
        if isinstance(told, ButtonPress):
            thread = self._buttons.get(_id_of(told.payload), "")
        else:
            thread = told.message_id if told.message_id in self._known else ""
        return replace(told, address=replace(told.address, thread=thread))

    # showing

    async def ready(self, to: Address) -> Address:
        """Where an answer is written, once that is there. Raises ``ChannelError``: it is to be tried again."""
        await self.load()
        if self._lacks(to):
            async with self._kit.governor.call(self._budget(to), CallKind.ANSWER):
                await self._opened(to)
        return self._place(to)

    async def found(self, to: Address) -> Address:
        """Where an answer stands."""
        await self.load()
        return self._place(to)

    def _place(self, to: Address) -> Address:
        opening = self._known.get(to.thread)
        return replace(to, thread="") if opening is not None and opening.closed else to

    def place_now(self, to: Address) -> Address:
        """Where something can be seen, although the thread may not be there yet."""
        return replace(to, thread="") if self._lacks(to) else self._place(to)

    def begins(self, to: Address) -> bool:
        """Whether nothing was said there before the bot opened it."""
        opening = self._known.get(to.thread)
        return opening is not None and bool(opening.title)

    async def stands_in(self, to: Address, buttons: Sequence[Button]) -> None:
        """These are about to stand in the channel in place of the thread."""
        opening = self._known.get(to.thread)
        ids = dict.fromkeys(_id_of(button.payload) for button in buttons)
        if opening is not None and opening.closed and (new := [one for one in ids if one not in opening.ids]):
            self._keep(to.thread, replace(opening, ids=(*opening.ids, *new)))
            await self._try_to_write()

    def trouble(self, language: str) -> str:
        """What is wrong and how to mend it; "" where every thread could be opened."""
        channels = [(self._find(number), refused) for number, refused in self._lacking.items()]
        known = [(one, refused) for one, refused in channels if isinstance(one, discord.TextChannel)]
        names = [f"#{clipped(one.name, 40)}" for one, refused in known if refused or not _may_open(one)]
        if not names:
            return ""
        more = f" +{len(names) - NAMED}" if len(names) > NAMED else ""
        return say("no_threads_discord", language, places=", ".join(names[:NAMED]) + more)

    # opening

    def _lacks(self, to: Address) -> bool:
        opening = self._known.get(to.thread)
        if opening is None or opening.closed or not opening.title or to.thread in self._open:
            return False
        return not isinstance(self._find(int(to.thread)), discord.Thread)

    def _budget(self, to: Address) -> Address:
        """What Discord says of opening threads holds for nothing else in the channel."""
        return replace(to, chat=f"threads of {to.chat}", thread="")

    async def _opened(self, to: Address) -> None:
        async with self._locks.setdefault(to.thread, asyncio.Lock()):
            if self._lacks(to):
                opening = self._known[to.thread]
                try:
                    await self._call(to.thread, opening)
                except (Unauthorised, ChannelUnreachable):
                    raise
                except RateLimited as limited:
                    if limited.everywhere or limited.retry_after <= WORTH_SECONDS:
                        raise
                    self._shut_until[opening.chat] = self._kit.clock.monotonic() + limited.retry_after
                    await self._close(to.thread, opening, limited)
                except ChannelError as error:
                    if isinstance(error, ChatClosed):
                        self._lacking[int(opening.chat)] = True
                    await self._close(to.thread, opening, error)
        self._locks.pop(to.thread, None)

    async def _call(self, number: str, opening: Opening) -> None:
        path = f"/channels/{opening.chat}/messages/{number}/threads"
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._rest.call("POST", path, {"name": opening.title}, bucket=f"threads {opening.chat}")
        except TimeoutError:
            raise ChannelUnreachable("Discord does not say whether it opened a thread.", maybe_done=False) from None
        except ChannelUnreachable as error:  # tried again, it is the same thread: no words are lost or doubled by it
            raise ChannelUnreachable(str(error), maybe_done=False) from None
        except ThreadExists:
            log.info("%s: the thread of %s is there", self._kit.name, number)
        self._open.add(number)
        self._lacking.pop(int(opening.chat), None)

    async def _close(self, number: str, opening: Opening, error: ChannelError) -> None:
        log.info("%s: %s is answered in the channel, since no thread can be opened: %s", self._kit.name, number, error)
        self._keep(number, replace(opening, closed=True))
        await self._try_to_write()

    def _keep(self, number: str, opening: Opening) -> None:
        self._known[number] = opening
        self._buttons |= dict.fromkeys(opening.ids, number)
        while len(self._known) > KEPT:
            oldest = next(iter(self._known))
            for one in self._known.pop(oldest).ids:
                self._buttons.pop(one, None)
            self._open.discard(oldest)

    async def _write(self) -> None:
        await self._kit.notes.write(NOTE, _OPENINGS.dump_json(self._known).decode())

    async def _try_to_write(self) -> None:
        try:
            await self._write()
        except StoreError as error:
            log.warning("a restart would not know what is answered outside its thread: %s", error)


def _id_of(payload: str) -> str:
    return payload.removeprefix("b:").partition(":")[0]


def _may_open(channel: discord.TextChannel) -> bool:
    me: discord.Member | None = getattr(channel.guild, "me", None)
    if me is None:  # of a guild that is not there at the moment
        return True
    may = channel.permissions_for(me)
    return may.create_public_threads and may.send_messages_in_threads
