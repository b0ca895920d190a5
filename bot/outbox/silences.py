"""Flood waits that outlive the process: a platform goes on counting them while the bot is started again."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Final

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.ports import Clock, Governor, Notes

log = logging.getLogger(__name__)

NOTE: Final = "silences"
WORTH_SECONDS: Final = 2.0
"""A wait below this is over before a new process could break it."""


class Silences:
    """Until when, in Unix time, nothing may be called in a chat. Within one life the governor keeps that; here it is
    written down, and read once by the next life. One note holds all that are still to come; ``of`` is whom they were said
    to, where a channel may have more than one account."""

    def __init__(self, notes: Notes, clock: Clock, of: str = "") -> None:
        self._notes, self._clock, self._note = notes, clock, f"{NOTE} {of}".rstrip()
        self._known: dict[str, float] | None = None
        self._inherited: dict[str, float] = {}
        self._handed_over = False

    async def hand_over(self, governor: Governor, address: Callable[[str], Address]) -> None:
        """Give what an earlier life was told of and is still to come to the governor, once and before the first call;
        ``address`` is that of a chat."""
        known = await self._looked_up()
        if self._handed_over:
            return
        self._handed_over = True
        for chat, until in known.items():
            if (left := until - self._clock.now()) > 0:
                governor.silence(address(chat), left)

    async def left(self, chat: str) -> float:
        """The seconds that are left of a wait that an earlier life was told of; 0 where there is none."""
        await self._looked_up()
        if chat not in self._inherited:
            return 0.0
        left = self._inherited[chat] - self._clock.now()
        if left <= 0:
            del self._inherited[chat]
        return max(0.0, left)

    async def keep(self, chat: str, seconds: float) -> None:
        """Write down a wait that was just asked for. Where that cannot be done, only this life keeps it."""
        if seconds < WORTH_SECONDS:
            return
        now = self._clock.now()
        known = {other: until for other, until in (await self._looked_up()).items() if until > now}
        self._known = known | {chat: max(now + seconds, known.get(chat, 0.0))}
        try:
            await self._notes.write(self._note, json.dumps(self._known))
        except StoreError as error:
            log.warning("a restart would forget the silence in %s: %s", chat, error)

    async def _looked_up(self) -> dict[str, float]:
        if self._known is None:
            told = _read(await self._notes.read(self._note))
            if self._known is None:  # two may have looked at once
                self._known, self._inherited = told, dict(told)
        return self._known


def _read(told: str | None) -> dict[str, float]:
    try:
        return {str(chat): float(until) for chat, until in json.loads(told or "{}").items()}
    except (ValueError, AttributeError, TypeError):
        return {}
