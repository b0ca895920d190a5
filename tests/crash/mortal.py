"""The store and any channel, each able to take the process with it at one of its actions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, TypeVar

from bot.core.address import Address
from bot.core.inbound import ButtonPress, FileRef, Inbound
from bot.core.ports import Channel, Receive
from bot.core.view import Limits, Part, Ref, Rendered
from bot.store.database import Database, Statement
from tests.crash.death import Reaper

T = TypeVar("T")


class MortalDatabase(Database):
    """A write is named by the method that asks for it. Set ``reaper`` before the first one."""

    reaper: Reaper
    _written: list[tuple[str, int]]

    def watched_by(self, reaper: Reaper) -> None:
        self.reaper, self._written = reaper, []

    async def write(self, statement: Statement[T], *, durable: bool = False) -> T:
        action = statement.__qualname__.partition(".<locals>")[0]
        nth = self.reaper.count("commit", action)

        def mortal(db: sqlite3.Connection) -> T:
            value = statement(db)
            self.reaper.strike("commit", action, nth, "before")
            self._written.append((action, nth))
            return value

        return await super().write(mortal, durable=durable)

    def _commit_waiting(self, db: sqlite3.Connection) -> None:
        self._written.clear()
        super()._commit_waiting(db)
        for action, nth in self._written:
            self.reaper.strike("commit", action, nth, "after")


class MortalChannel:
    """Implements ``bot.core.ports.Channel`` around another. Shows are named after what they do and what they show."""

    def __init__(self, inner: Channel, reaper: Reaper) -> None:
        self._inner, self._reaper = inner, reaper
        self.name = inner.name

    def __getattr__(self, name: str) -> Any:
        """What the daemon looks for beyond the port: ``rates``, ``limits_for``, ``app``."""
        return getattr(self._inner, name)

    @property
    def limits(self) -> Limits:
        return self._inner.limits

    @property
    def connected(self) -> bool:
        return self._inner.connected

    def render(self, markdown: str) -> Rendered:
        return self._inner.render(markdown)

    async def run(self, receive: Receive) -> None:
        await self._inner.run(receive)

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        action = f"{'edit' if ref else 'send'}-{_shown(part)}"
        nth = self._reaper.count("show", action)
        self._reaper.strike("show", action, nth, "before")
        shown = await self._inner.show(to, ref, part)
        self._reaper.strike("show", action, nth, "after")
        return shown

    async def remove(self, to: Address, ref: Ref) -> None:
        nth = self._reaper.count("show", "remove")
        self._reaper.strike("show", "remove", nth, "before")
        await self._inner.remove(to, ref)
        self._reaper.strike("show", "remove", nth, "after")

    async def answer(self, press: ButtonPress, notice: str) -> None:
        nth = self._reaper.count("show", "answer")
        self._reaper.strike("show", "answer", nth, "before")
        await self._inner.answer(press, notice)
        self._reaper.strike("show", "answer", nth, "after")

    async def fetch(self, file: FileRef) -> bytes:
        return await self._inner.fetch(file)

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        return await self._inner.history(of, limit)


def _shown(part: Part) -> str:
    if part.view.final and part.last:
        return "final"
    if any(not card.decision for card in part.view.cards):
        return "card"
    return "text" if part.last else "sealed"
