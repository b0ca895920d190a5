"""Updates on their way into the house: read once, stored one by one; what breaks something is kept and stops nothing."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from bot.core.errors import StoreError
from bot.core.inbound import Inbound, Joined, UserMessage
from bot.core.ports import Notes
from channels.telegram.fragments import Fragments
from channels.telegram.moves import Moves, as_before
from channels.telegram.updates import Left, Me, Moving, Unreadable, inbound_of

log = logging.getLogger(__name__)

POISON_KEPT: Final = 20
POISON_CHARS: Final = 4000

Take = Callable[[Inbound], Awaitable[None]]


class Intake:
    """``take`` returns once an inbound is stored. What it raises as ``StoreError`` is to be delivered again; anything else
    it raises is a defect, and the update is set aside."""

    def __init__(self, notes: Notes, moves: Moves, me: Me, channel: str, account: str, take: Take) -> None:
        self._notes, self._moves, self._me = notes, moves, me
        self._channel, self._account, self._take = channel, account, take
        self._fragments = Fragments()

    async def take(self, update: Any) -> None:
        """All that one update brings. Raises ``StoreError``."""
        if self.number(update) is not None:
            for inbound in await self.read(update):
                await self.store(update, inbound)

    def number(self, update: Any) -> int | None:
        """None for what is no update."""
        number = update.get("update_id") if isinstance(update, Mapping) else None
        if isinstance(number, int):
            return number
        log.warning("%s sent an update without a number, which is skipped", self._channel)
        return None

    async def read(self, update: Mapping[str, Any]) -> Sequence[Inbound]:
        """What it brings, in order; nothing where it is for nobody."""
        number: int = update["update_id"]
        try:
            read = inbound_of(update, self._me, self._channel, self._account)
        except Unreadable as error:
            log.warning("update %d cannot be read and is set aside: %s", number, error)
            await self._set_aside(str(error), update)
            return ()
        match read:
            case Left(reason=reason):
                log.info("update %d is for nobody: %s", number, reason)
                return ()
            case Moving(old=old, new=new):
                await self._moves.note(old, new)
                return ()
        inbounds = [await self._placed(one) for one in (read if isinstance(read, tuple) else (read,))]
        return [
            self._fragments.named(one, update["message"]) if isinstance(one, UserMessage) else one
            for one in inbounds
            if one is not None
        ]

    async def _placed(self, read: Inbound) -> Inbound | None:
        """At the address that its chat has always had. A group that moved takes the bot along: that is no joining."""
        former = await self._moves.former(read.address.chat) if read.address.chat.startswith("-") else ""
        if not former:
            return read
        return None if isinstance(read, Joined) else as_before(read, former)

    async def store(self, update: Mapping[str, Any], inbound: Inbound) -> None:
        """Raises ``StoreError``."""
        try:
            await self._take(inbound)
        except StoreError:
            raise
        except Exception as error:
            log.exception("update %d broke something and is set aside", update["update_id"])
            await self._set_aside(type(error).__name__, update)

    async def _set_aside(self, fault: str, update: Mapping[str, Any]) -> None:
        """Keep what it was, for whoever mends the fault; a store that is full must not stop the others."""
        number: int = update["update_id"]
        told = json.dumps({"update": number, "fault": fault, "raw": json.dumps(update)[:POISON_CHARS]})
        try:
            await self._notes.write(f"set aside {number % POISON_KEPT}", told)
        except StoreError as error:
            log.warning("update %d is not kept: %s", number, error)
