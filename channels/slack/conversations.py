"""Which conversations the bot is part of, how far each was read, and which threads its answers opened; kept in notes."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.ports import Clock, Notes
from channels.slack.events import stamp

log = logging.getLogger(__name__)

NOTE: Final = "conversations"
KEPT: Final = 200
THREADS_KEPT: Final = 500
"""Of each channel: whoever writes in an older one mentions the bot again."""
WRITE_EVERY: Final = 20.0
"""What is newer is read again after a crash, and found to be known."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """``read`` is the ts of the newest message that was taken in."""

    chat: str
    thread: str
    read: str


class Conversations:
    def __init__(self, notes: Notes, clock: Clock) -> None:
        self._notes, self._clock = notes, clock
        self._read: OrderedDict[Key, str] | None = None
        self._floors: dict[Key, str] = {}
        self._opened: dict[str, OrderedDict[str, str]] = {}
        self._written_at = float("-inf")

    async def load(self) -> None:
        if self._read is None:
            told = _listed(await self._notes.read(NOTE))
            if self._read is None:
                entries = (one for one in told if isinstance(one, list) and len(one) == 3)
                self._read = OrderedDict(((str(chat), str(thread)), str(ts)) for chat, thread, ts in entries)

    def snapshot(self, most: int = KEPT) -> Sequence[Conversation]:
        """The latest ``most``, as of now. Until ``caught_up`` a restart would begin where each stands now."""
        held = self._read or OrderedDict()
        keys = list(reversed(held))[:most]
        self._floors |= {key: min(held[key], self._floors.get(key, held[key]), key=stamp) for key in keys}
        return [Conversation(*key, self._floors[key]) for key in keys]

    def caught_up(self, one: Conversation) -> None:
        self._floors.pop((one.chat, one.thread), None)

    async def heard(self, to: Address, ts: str, *, joined: bool) -> None:
        """A message was taken in. A conversation is kept once the bot has ``joined`` it."""
        await self.load()
        assert self._read is not None
        key = (to.chat, to.thread)
        is_new = key not in self._read
        if is_new and not joined:
            return
        self._read[key] = max(ts, self._read.get(key, ts), key=stamp)
        self._read.move_to_end(key)
        if len(self._read) > KEPT:
            self._read.popitem(last=False)
        if is_new or self._clock.monotonic() - self._written_at >= WRITE_EVERY:
            self._written_at = self._clock.monotonic()
            rows = [[*key, self._floors.get(key, ts)] for key, ts in self._read.items()]
            await self._write(NOTE, rows)

    async def opened(self, chat: str, thread: str) -> bool:
        """Whether an answer of the bot's opened this thread."""
        return thread in await self._threads(chat)

    async def opened_by(self, chat: str, person: str) -> str:
        """The newest thread that the bot opened to answer this person; "" where there is none."""
        threads = await self._threads(chat)
        return next((thread for thread, asker in reversed(threads.items()) if asker == person), "")

    async def open(self, chat: str, thread: str, person: str) -> None:
        threads = await self._threads(chat)
        if thread in threads:
            return
        threads[thread] = person
        if len(threads) > THREADS_KEPT:
            threads.popitem(last=False)
        await self._write(f"threads {chat}", list(threads.items()))

    async def _threads(self, chat: str) -> OrderedDict[str, str]:
        """Who asked for each, oldest first."""
        if chat not in self._opened:
            told = _listed(await self._notes.read(f"threads {chat}"))
            pairs = (one if isinstance(one, list) and len(one) == 2 else (one, "") for one in told)
            self._opened.setdefault(chat, OrderedDict((str(thread), str(person)) for thread, person in pairs))
        return self._opened[chat]

    async def _write(self, key: str, value: Any) -> None:
        try:
            await self._notes.write(key, json.dumps(value))
        except StoreError as error:
            log.warning("a restart would not know of the latest conversations: %s", error)


def _listed(told: str | None) -> list[Any]:
    try:
        value = json.loads(told or "[]")
    except ValueError:
        return []
    return value if isinstance(value, list) else []
