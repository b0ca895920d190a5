"""Groups that the bot is added to: it says hello once where it may answer, and elsewhere asks its owners."""

from __future__ import annotations

import logging
from typing import Final

from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, Joined
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


class Groups:
    """``name`` is what the assistant is called, ``language`` the configuration's."""

    def __init__(
        self, store: Store, gate: Gate, announcements: Announcements, clock: Clock, name: str, language: str
    ) -> None:
        self._store, self._gate, self._announcements, self._clock = store, gate, announcements, clock
        self._name, self._language = name, language

    async def load(self) -> None:
        """Before anything is judged."""
        for channel, group in await self._store.groups.all():
            self._gate.allow(channel, group)

    async def joined(self, joined: Joined) -> str:
        """What was done about it, in a word. Where the bot may not answer it says nothing there."""
        here = joined.address
        if self._gate.serves(here.channel, here.chat, joined.group):
            await self._hello(here, joined.sender)
            return "said hello"
        asked = 0
        for owner in self._gate.owners(here.channel):
            if (known := await self._store.inbox.last_direct(here.channel, owner)) is not None:
                await self._ask(*known, joined)
                asked += 1
        if not asked:
            log.warning(
                "%s was added to the group %s, which no owner has allowed: name it under channels.%s.access.groups",
                self._name,
                joined.group,
                here.channel,
            )
        return f"asked {asked} owners"

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

    async def _ask(self, where: Address, owner: Sender, joined: Joined) -> None:
        """The offer's thread is where the bot would say hello."""
        title = "".join(char for char in clipped(joined.title, TITLE_CHARS) if char.isprintable() and char != "`")
        who = "".join(char for char in clipped(joined.sender.name, TITLE_CHARS) if char.isprintable() and char != "`")
        here = joined.address
        offer = str(Address(here.channel, here.account, joined.group, here.chat))
        language = language_of("", self._language if self._language != "auto" else owner.language or "en")
        who = who or joined.sender.id
        asks = "group_asks" if who else "group_asks_unnamed"
        text = say(asks, language, title=title or joined.group, group=joined.group, who=who)
        await self._announcements.tell(where, owner, text, offer=offer)
