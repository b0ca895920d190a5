"""Commands to which Discord was told that an answer will come: written down, so that the next life keeps the promise."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.inbound import UserMessage
from bot.core.ports import Archive, Clock, Notes
from bot.core.transcript import UserRow

log = logging.getLogger(__name__)

NOTE: Final = "promises"
SECONDS: Final = 14 * 60.0
"""Discord takes an answer for 15 minutes; what comes later is an ordinary message."""
WRITE_SECONDS: Final = 0.5
"""Discord waits for its first word no longer than three seconds: a store that is slow is not waited for."""
ROWS: Final = 50
KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class Promise:
    """``at`` in Unix time."""

    handle: str
    command: UserMessage
    at: float


_PROMISES: Final = TypeAdapter(dict[str, Promise])


class Promises:
    """By the command's id, for as long as Discord would take the answer: whether one is kept, the parts of its turn tell."""

    def __init__(self, notes: Notes, archive: Archive, clock: Clock) -> None:
        self._notes, self._archive, self._clock = notes, archive, clock
        self._made: dict[str, Promise] = {}
        self._inherited: dict[str, Promise] | None = None

    async def inherited(self) -> Mapping[str, Promise]:
        """What an earlier life promised and may still keep. Raises ``StoreError``."""
        if self._inherited is None:
            told = self._valid(_read(await self._notes.read(NOTE)))
            if self._inherited is None:  # two may have looked at once
                self._inherited = told
        return self._inherited

    async def make(self, handle: str, command: UserMessage) -> None:
        """Before it is given. Where that cannot be written at once, only this life keeps it."""
        self._made[command.id] = Promise(handle, command, self._clock.now())
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                self._made = self._valid({**await self.inherited(), **self._made})
                await self._notes.write(NOTE, _PROMISES.dump_json(self._made).decode())
        except (StoreError, TimeoutError) as error:
            log.warning("a restart would not know what was promised: %s", error or "the store is slow")

    async def question(self, turn: str, at: Address) -> UserMessage | None:
        """The command that this turn answers, where an earlier life took it in."""
        waiting = {
            one.command.id: one.command for one in (await self.inherited()).values() if one.command.address == at
        }
        if not waiting:
            return None
        rows = [row for row in await self._archive.rows(at, ROWS) if row.turn == turn]
        return next((waiting.get(row.body.message_id) for row in rows if isinstance(row.body, UserRow)), None)

    def _valid(self, promises: Mapping[str, Promise]) -> dict[str, Promise]:
        since = self._clock.now() - SECONDS
        return dict([(number, one) for number, one in promises.items() if one.at > since][-KEPT:])


def _read(told: str | None) -> dict[str, Promise]:
    try:
        return _PROMISES.validate_json(told or "{}")
    except ValueError:
        log.warning("the note of promised answers cannot be read; they will be ordinary messages")
        return {}
