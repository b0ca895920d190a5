"""Flood waits that outlive the process: a platform goes on counting them while the bot is started again."""

from __future__ import annotations

import json
import logging
from typing import Final

from bot.core.errors import StoreError
from bot.core.ports import Clock, Notes

log = logging.getLogger(__name__)

NOTE: Final = "silences"
WORTH_SECONDS: Final = 2.0
"""A wait below this is over before a new process could break it."""


class Silences:
    """Until when, in Unix time, nothing may be called in a chat. Within one life the governor keeps that; here it is
    written down, and read once by the next life. One note holds all that are still to come."""

    def __init__(self, notes: Notes, clock: Clock) -> None:
        self._notes, self._clock = notes, clock
        self._known: dict[str, float] | None = None
        self._inherited: dict[str, float] = {}

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
            await self._notes.write(NOTE, json.dumps(self._known))
        except StoreError as error:
            log.warning("a restart would forget the silence in %s: %s", chat, error)

    async def _looked_up(self) -> dict[str, float]:
        if self._known is None:
            told = _read(await self._notes.read(NOTE))
            if self._known is None:  # two may have looked at once
                self._known, self._inherited = told, dict(told)
        return self._known


def _read(told: str | None) -> dict[str, float]:
    try:
        return {str(chat): float(until) for chat, until in json.loads(told or "{}").items()}
    except (ValueError, AttributeError, TypeError):
        return {}
