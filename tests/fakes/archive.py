"""An archive in memory: the past as a test wrote it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.ports import ChatSummary
from bot.core.text import clipped
from bot.core.transcript import Body, Row, UserRow


class MemoryArchive:
    """Implements ``bot.core.ports.Archive``. ``broken`` makes every reading fail."""

    def __init__(self) -> None:
        self.all: list[Row] = []
        self.broken = False
        self._ids = itertools.count(1)

    def append(self, address: Address, turn: str, at: float, *bodies: Body) -> None:
        self.all += [Row(next(self._ids), address, turn, at, body) for body in bodies]

    async def chats(self, channel: str, account: str, limit: int) -> Sequence[ChatSummary]:
        self._check()
        found: dict[Address, ChatSummary] = {}
        for row in self.all:
            if (row.address.channel, row.address.account) != (channel, account):
                continue
            known = found.get(row.address)
            title = known.title if known else ""
            if not title and isinstance(row.body, UserRow):
                title = clipped(row.body.text, 60)
            found[row.address] = ChatSummary(row.address, title, row.at)
        return sorted(found.values(), key=lambda summary: -summary.last_at)[:limit]

    async def rows(self, address: Address, limit: int) -> Sequence[Row]:
        self._check()
        return [row for row in self.all if row.address == address][-limit:]

    async def turn_rows(self, turn: str) -> Sequence[Row]:
        self._check()
        return [row for row in self.all if row.turn == turn]

    def _check(self) -> None:
        if self.broken:
            raise StoreError("the store cannot be read")
