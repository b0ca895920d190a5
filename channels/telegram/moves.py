"""Groups that became supergroups: under which id each is found now, and which one it had."""

from __future__ import annotations

import logging

from bot.core.errors import StoreError
from bot.core.ports import Notes

log = logging.getLogger(__name__)


class Moves:
    """What is written down outlives the process; each group is read once."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._known: dict[str, str] = {}

    async def now(self, chat: str) -> str:
        """The id under which a group is called."""
        return await self._read(f"moved {chat}") or chat

    async def former(self, chat: str) -> str:
        """The id that a group had before, "" where it had none."""
        return await self._read(f"former {chat}")

    async def note(self, old: str, new: str) -> None:
        """Where that cannot be written, only this life knows; Telegram says it again."""
        log.info("the group %s is %s from now on", old, new)
        for key, value in ((f"moved {old}", new), (f"former {new}", old)):
            self._known[key] = value
            try:
                await self._notes.write(key, value)
            except StoreError as error:
                log.warning("a restart would forget where the group %s is: %s", old, error)

    async def _read(self, key: str) -> str:
        if key not in self._known:
            self._known[key] = await self._notes.read(key) or ""
        return self._known[key]
