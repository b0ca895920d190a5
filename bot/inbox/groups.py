"""Groups that the bot is added to or called in: it says hello once where it may answer, and elsewhere asks its owners."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, Joined, UserMessage
from bot.core.ports import Clock
from bot.core.text import clipped
from bot.core.texts import language_of, say
from bot.core.transcript import ReplyRow
from bot.inbox.announcements import Announcements
from bot.inbox.gate import Gate
from bot.store.store import Store

log = logging.getLogger(__name__)

TITLE_CHARS: Final = 60
ALLOW: Final = "allow"
NOTE: Final = "called"
DAY_SECONDS: Final = 86_400.0
CALLS_A_DAY: Final = 20
"""Anybody may add the bot to groups of their own and call it there: its owners are not asked without end."""

Title = Callable[[Address], Awaitable[str]]


async def _untitled(_: Address) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class _Wish:
    """What an owner is asked: whether the bot may answer in ``group``, called ``title``; ``here`` it would say hello.
    ``asks`` names the sentence."""

    here: Address
    group: str
    title: str
    sender: Sender
    asks: str


class Groups:
    """``name`` is what the assistant is called, ``language`` the configuration's, ``title`` what a group is called."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        announcements: Announcements,
        clock: Clock,
        name: str,
        language: str,
        title: Title = _untitled,
    ) -> None:
        self._store, self._gate, self._announcements, self._clock = store, gate, announcements, clock
        self._name, self._language, self._title = name, language, title
        self._notes = store.notes("groups")
        self._called: dict[str, float] = {}

    async def load(self) -> None:
        """Before anything is judged."""
        for channel, group in await self._store.groups.all():
            self._gate.allow(channel, group)
        self._called = _read(await self._notes.read(NOTE))

    async def joined(self, joined: Joined) -> str:
        """What was done about it, in a word. Where the bot may not answer it says nothing there."""
        here = joined.address
        if self._gate.serves(here.channel, here.chat, joined.group):
            await self._hello(here, joined.sender)
            return "said hello"
        named = joined.sender.name or joined.sender.id
        asks = "group_asks" if named else "group_asks_unnamed"
        asked = await self._ask_owners(_Wish(here, joined.group, joined.title, joined.sender, asks))
        return f"asked {asked} owners"

    async def called(self, message: UserMessage, language: str) -> str:
        """What to say where a person has called the bot and it may not answer; "" where that was said within a day. Its
        owners are asked."""
        here, now = replace(message.address, thread=""), self._clock.now()
        known = {place: at for place, at in self._called.items() if at > now - DAY_SECONDS}
        if str(here) in known or len(known) >= CALLS_A_DAY:
            return ""
        self._called = {**known, str(here): now}
        await self._notes.write(NOTE, json.dumps(self._called))  # before it is said: once at most
        wish = _Wish(here, here.chat, await self._title(here), message.sender, "group_called")
        says = "group_closed" if await self._ask_owners(wish) else "group_closed_unasked"
        return say(says, language, group=here.chat, channel=here.channel)

    async def _ask_owners(self, wish: _Wish) -> int:
        """How many could be asked."""
        asked, channel = 0, wish.here.channel
        for owner in self._gate.owners(channel):
            if (known := await self._store.inbox.last_direct(channel, owner)) is not None:
                await self._ask(*known, wish)
                asked += 1
        if not asked:
            log.warning(
                "%s is wanted in the group %s, which no owner has allowed: name it under channels.%s.access.groups",
                self._name,
                wish.group,
                channel,
            )
        return asked

    async def allow(self, press: ButtonPress, turn: str, language: str) -> str:
        """The answer to the press on an offer."""
        rows = await self._store.transcript.turn_rows(turn)
        offer = next((row.body.offer for row in rows if isinstance(row.body, ReplyRow) and row.body.offer), "")
        if not offer or rows[0].address != press.address:
            return say("press_unknown", language)
        if not self._gate.is_owner(press.sender):
            return say("press_not_yours", language)
        group = Address.parse(offer)
        new = await self._store.groups.allow(group.channel, group.chat, press.sender.identity, self._clock.now())
        self._gate.allow(group.channel, group.chat)
        if new and group.thread:
            await self._hello(Address(group.channel, group.account, group.thread), press.sender)
        return say("group_allowed" if new else "group_known", language)

    async def _hello(self, where: Address, whom: Sender) -> None:
        text = say("group_hello", language_of("", self._language), name=self._name)
        await self._announcements.tell(where, whom, text, direct=False)

    async def _ask(self, where: Address, owner: Sender, wish: _Wish) -> None:
        """The offer's thread is where the bot would say hello."""
        title, who, here = _plain(wish.title), _plain(wish.sender.name) or wish.sender.id, wish.here
        offer = str(Address(here.channel, here.account, wish.group, here.chat))
        language = language_of("", self._language if self._language != "auto" else owner.language or "en")
        text = say(wish.asks, language, title=title or wish.group, group=wish.group, who=who)
        await self._announcements.tell(where, owner, text, offer=offer)


def _plain(name: str) -> str:
    """On one line, and no Markdown."""
    return "".join(char for char in clipped(name, TITLE_CHARS) if char.isprintable() and char != "`")


def _read(told: str | None) -> dict[str, float]:
    try:
        return {str(place): float(at) for place, at in json.loads(told or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}
