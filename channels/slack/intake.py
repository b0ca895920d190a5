"""From a raw payload to a stored inbound: read with what is known of people and threads, in order, each fault survived."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from bot.core.errors import ChannelError, StoreError
from bot.core.inbound import Inbound, Reaction, Receipt, UserMessage
from bot.core.ports import ChannelKit
from channels.slack.conversations import Conversations
from channels.slack.events import (
    COMMAND,
    Known,
    Left,
    Persona,
    Reader,
    Unreadable,
    inbound_of,
    people_of,
    place_of,
    written_at,
)
from channels.slack.order import Order
from channels.slack.past import Past
from channels.slack.people import LOOK_SECONDS, People
from channels.slack.wire import Me

log = logging.getLogger(__name__)

POISON_KEPT: Final = 20
POISON_CHARS: Final = 4000

Take = Callable[[Inbound], Awaitable[Receipt]]
ThreadOf = Callable[[str, str], str]
"""The thread in which a message of the bot's stands, by channel and ts: a reaction does not say it."""


class Intake:
    """``take`` returns once an inbound is stored, and raises ``StoreError`` when it could not be."""

    def __init__(
        self, kit: ChannelKit, me: Me, people: People, past: Past, conversations: Conversations, thread_of: ThreadOf
    ) -> None:
        self._kit, self._me, self._people, self._past = kit, me, people, past
        self._conversations, self._thread_of = conversations, thread_of
        self._order = Order(kit.clock)
        self._poisoned = 0

    async def taken(self, payload: Mapping[str, Any], take: Take) -> None:
        """Returns once there is nothing more to be done for this payload; ``StoreError``: it has to come again."""
        chat, thread = place_of(payload)
        self._people.begin(self._others_in(payload))
        deadline = self._kit.clock.monotonic() + LOOK_SECONDS
        if not chat:
            await self._surely(payload, False, deadline, take)
            return
        twin = (payload.get("event") or {}).get("type") == "app_mention"  # says less than the message itself
        async with self._order.turn(chat, (*written_at(payload), int(twin))):
            follows = bool(thread) and await self._conversations.opened(chat, thread)
            await self._surely(payload, follows, deadline, take)

    async def _surely(self, payload: Mapping[str, Any], follows: bool, deadline: float, take: Take) -> None:
        """What breaks something is kept and acknowledged: it would break the same thing again."""
        try:
            await self._one(payload, follows, deadline, take)
        except StoreError:
            raise
        except Unreadable as error:
            log.warning("an event cannot be read and is set aside: %s", error)
            await self._set_aside(str(error), payload)
        except Exception as error:
            log.exception("an event broke something and is set aside")
            await self._set_aside(type(error).__name__, payload)

    async def _one(self, payload: Mapping[str, Any], follows: bool, deadline: float, take: Take) -> None:
        people = await self._people.look_up(self._others_in(payload), deadline - self._kit.clock.monotonic())
        now, title = self._kit.clock.now(), await self._title(payload)
        known = Known({**people, self._me.user: Persona(self._me.name)}, follows, now, title)
        read = inbound_of(payload, self._me, self._kit.name, self._kit.account, known)
        if isinstance(read, Left):
            log.debug("an event is for nobody: %s", read.reason)
            return
        if isinstance(read, Reaction):
            thread = self._thread_of(read.address.chat, read.message_id)
            read = replace(read, address=replace(read.address, thread=thread))
        receipt = await take(read)
        if isinstance(read, UserMessage) and not read.id.startswith(COMMAND):
            await self._heard(read, receipt)

    async def _title(self, payload: Mapping[str, Any]) -> str:
        """Of the channel that the bot was added to."""
        event = payload.get("event")
        if not isinstance(event, Mapping) or event.get("user") != self._me.user:
            return ""
        if event.get("type") != "member_joined_channel":
            return ""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                return await self._past.title(place_of(payload)[0])
        except (ChannelError, TimeoutError) as error:
            log.info("what a channel is called is not known: %s", error)
            return ""

    async def _heard(self, message: UserMessage, receipt: Receipt) -> None:
        """Remembered before Slack is told that the message has arrived."""
        to = message.address
        if receipt.turn and not message.direct and to.thread == message.id:
            await self._conversations.open(to.chat, to.thread, message.sender.id)
        await self._conversations.heard(to, message.id, joined=bool(receipt.turn))
        if to.thread == message.id:
            await self._conversations.heard(replace(to, thread=""), message.id, joined=bool(receipt.turn))

    async def history(self, chat: str, thread: str, limit: int) -> list[UserMessage]:
        """The newest ``limit`` messages of a conversation, oldest first, the bot's own among them."""
        raws = await self._past.latest(chat, thread, limit)
        people = await self._people.look_up([id for raw in raws for id in self._others_in({"event": raw})])
        known = Known({**people, self._me.user: Persona(self._me.name)})
        reader = Reader(self._me, self._kit.name, self._kit.account, known, self._me.team)
        found = []
        for raw in raws:
            try:
                message = reader.message(raw, chat, mine=True)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
            if isinstance(message, UserMessage):
                found.append(message)
        return found

    def _others_in(self, payload: Mapping[str, Any]) -> list[str]:
        """Everybody but the bot itself."""
        return [id for id in people_of(payload) if id != self._me.user]

    async def _set_aside(self, fault: str, payload: Mapping[str, Any]) -> None:
        """Keep what it was, for whoever mends the fault; a store that is full must not stop the others."""
        told = json.dumps({"fault": fault, "raw": json.dumps(payload)[:POISON_CHARS]})
        self._poisoned += 1
        try:
            await self._kit.notes.write(f"set aside {self._poisoned % POISON_KEPT}", told)
        except StoreError as error:
            log.warning("an event is not kept: %s", error)
