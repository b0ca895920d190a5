"""Groups that became supergroups. Each keeps its first id in the house; here is under which one it is found now.

Messages are numbered anew in a supergroup. So where a group has moved, the ids of those in its new place are written
``chat/number``; a number alone is one from before, or of a chat that never moved.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from bot.core.errors import StoreError
from bot.core.inbound import Inbound, MessageEdited, Reaction, UserMessage
from bot.core.ports import Notes

log = logging.getLogger(__name__)


def message_id(number: int | str, chat: str, first: str) -> str:
    """The id of a message in ``chat`` of the group whose first id is ``first``."""
    return str(number) if chat == first else f"{chat}/{number}"


def number_in(id_: str, chat: str, first: str) -> int | None:
    """The number of a message in ``chat``; None where the message stands, or stood, in another place of the group."""
    place, _, number = id_.rpartition("/")
    return int(number) if (place or first) == chat else None


def as_before(inbound: Inbound, first: str) -> Inbound:
    """What comes from the new place of a group, at the address that the group has always had."""
    chat, address = inbound.address.chat, replace(inbound.address, chat=first)
    match inbound:
        case UserMessage(id=id_, quote=quote):
            if quote is not None and quote.message_id:
                quote = replace(quote, message_id=message_id(quote.message_id, chat, first))
            return replace(inbound, address=address, id=message_id(id_, chat, first), quote=quote, places=(chat,))
        case MessageEdited(id=id_, message_id=edited):
            edited = message_id(edited, chat, first)
            return replace(inbound, address=address, id=message_id(id_, chat, first), message_id=edited)
        case Reaction(id=id_, message_id=liked):
            liked = message_id(liked, chat, first)
            return replace(inbound, address=address, id=message_id(id_, chat, first), message_id=liked)
    return replace(inbound, address=address)


class Moves:
    """What is written down outlives the process; each group is read once. ``moved`` is told the first id of a group when
    it turns out to have moved."""

    def __init__(self, notes: Notes, moved: Callable[[str], None] = lambda first: None) -> None:
        self._notes, self._moved = notes, moved
        self._known: dict[str, str] = {}

    async def now(self, chat: str) -> str:
        """The id under which a group is called."""
        return await self._read(f"moved {chat}") or chat

    async def former(self, chat: str) -> str:
        """The id that a group had before, "" where it had none."""
        return await self._read(f"former {chat}")

    async def note(self, old: str, new: str) -> None:
        """Telegram says it more than once. Where it cannot be written, only this life knows."""
        if self._known.get(f"moved {old}") == new:
            return
        log.info("the group %s is %s from now on", old, new)
        for key, value in ((f"moved {old}", new), (f"former {new}", old)):
            self._known[key] = value
            try:
                await self._notes.write(key, value)
            except StoreError as error:
                log.warning("a restart would forget where the group %s is: %s", old, error)
        self._moved(old)

    async def _read(self, key: str) -> str:
        if key not in self._known:
            self._known[key] = await self._notes.read(key) or ""
        return self._known[key]
