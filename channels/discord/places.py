"""Which channels the bot has been spoken to in, and how far it has heard: what to catch up on after a silence."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable
from dataclasses import asdict
from typing import Final

from bot.core.errors import StoreError
from bot.core.ports import Notes
from channels.discord.messages import Place

log = logging.getLogger(__name__)

CHANNELS_NOTE: Final = "channels"
SEEN_NOTE: Final = "seen"
KEPT: Final = 2000
EPOCH_MS: Final = 1_420_070_400_000
"""The first second of 2015, from which Discord's ids count (discord.com/developers/docs/reference, snowflakes)."""
OVERLAP_SECONDS: Final = 60.0
"""Messages of several channels arrive in no common order; what comes again is recognised by its id."""
OLDEST_SECONDS: Final = 86_400.0
"""What is older is no longer answered; Telegram keeps messages as long."""


class Places:
    """Channels by their id, the newest spoken to last. Every message up to the id ``seen`` is in the store, as far as it
    will ever be; ``newest`` is the newest that was heard, which may be ahead while some channels are ``behind``."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._known: dict[int, Place] = {}
        self._behind: dict[int, None] = {}
        self._fallen = asyncio.Event()
        self._seen = self._newest = self._written = 0
        self._loaded = False

    async def load(self) -> None:
        """Once, before anything else. Raises ``StoreError``."""
        if self._loaded:
            return
        try:
            told = json.loads(await self._notes.read(CHANNELS_NOTE) or "{}")
            self._known = {int(number): Place(**place) for number, place in told.items()}
        except (ValueError, TypeError, AttributeError):
            log.warning("the note of known channels cannot be read; only new ones are caught up on")
        seen = await self._notes.read(SEEN_NOTE) or "0"
        self._seen = self._newest = self._written = int(seen) if seen.isdigit() else 0
        self._loaded = True

    @property
    def seen(self) -> int:
        return self._seen

    @property
    def direct(self) -> list[int]:
        """The channels of direct messages, the newest spoken to first: nobody tells what was said there."""
        return [number for number, place in reversed(self._known.items()) if not place.guild]

    @property
    def guilds(self) -> set[str]:
        """Where the bot was spoken to, and perhaps may answer by a word of its owner's."""
        return {place.guild for place in self._known.values() if place.guild}

    def find(self, number: int) -> Place | None:
        return self._known.get(number)

    def since(self, now: float) -> int | None:
        """The id after which messages may be missing; None where the bot listens for the first time: what was said before
        is not for it."""
        if not self._seen:
            self._seen = self._newest = snowflake(now)
            return None
        return max(self._seen - _span(OVERLAP_SECONDS), snowflake(now - OLDEST_SECONDS))

    def fall_behind(self, numbers: Iterable[int]) -> None:
        """In these channels something may have been missed: until they are caught up with, ``seen`` stays where it is."""
        self._behind |= dict.fromkeys(numbers)
        if self._behind:
            self._fallen.set()

    async def behind(self) -> int:
        """A channel to catch up with; waits for one."""
        while not self._behind:
            self._fallen.clear()
            await self._fallen.wait()
        return next(iter(self._behind))

    def is_behind(self, number: int) -> bool:
        return number in self._behind

    def put_off(self, number: int) -> None:
        """It could not be caught up with: the others go first."""
        self._behind[number] = self._behind.pop(number)

    def caught_up(self, number: int) -> None:
        self._behind.pop(number, None)
        self.saw(0)

    async def spoken(self, number: int, place: Place) -> None:
        """The bot is spoken to there. Where that cannot be written, only this life knows."""
        before = self._known.pop(number, None)
        self._known[number] = place
        if before == place:
            return
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        await self._write(CHANNELS_NOTE, json.dumps({one: asdict(where) for one, where in self._known.items()}))

    def saw(self, message_id: int) -> None:
        self._newest = max(self._newest, message_id)
        if not self._behind:
            self._seen = self._newest

    async def keep(self) -> None:
        """Write down how far the bot has heard, if that has changed."""
        if self._seen != self._written and await self._write(SEEN_NOTE, str(self._seen)):
            self._written = self._seen

    async def _write(self, key: str, value: str) -> bool:
        try:
            await self._notes.write(key, value)
        except StoreError as error:
            log.warning("a restart would not know what it missed: %s", error)
            return False
        return True


def snowflake(at: float) -> int:
    """The lowest id of that moment, in Unix time."""
    return max(0, int(at * 1000) - EPOCH_MS) << 22


def _span(seconds: float) -> int:
    return int(seconds * 1000) << 22
