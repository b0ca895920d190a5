"""The store, the transport and any channel, each able to take the process with it at one of its actions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from bot.core.address import Address
from bot.core.http import DEFAULT_TIMEOUTS, FETCH_LIMIT_BYTES, Fetched, Timeouts
from bot.core.inbound import ButtonPress, Inbound, Receipt
from bot.core.ports import Channel, Receive
from bot.core.view import Limits, Part, Ref
from bot.net.http import Transport
from bot.outbox.governor import Rates
from bot.store.database import Database, Statement
from tests.crash.death import Reaper
from tests.crash.deeds import deed

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


class MortalTransport(Transport):
    """A call of a platform is named by what it does (``deed``); models are asked by ``open`` and do not count."""

    def __init__(self, reaper: Reaper) -> None:
        super().__init__()
        self._reaper = reaper

    async def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        limit_bytes: int = FETCH_LIMIT_BYTES,
    ) -> Fetched:
        action = deed(method, url, (body or b"").decode())
        nth = self._reaper.count("wire", action)
        self._reaper.strike("wire", action, nth, "before")
        fetched = await super().fetch(
            method, url, headers=headers, body=body, timeouts=timeouts, limit_bytes=limit_bytes
        )
        self._reaper.strike("wire", action, nth, "after")
        return fetched


class MortalChannel:
    """``bot.core.ports.Channel`` around another. What is heard is named by its noun, a show after what it does and what it
    shows.

    Where ``size`` and ``pace`` are not 0, it is on a platform with so short messages that bears so many calls.
    """

    def __init__(self, inner: Channel, reaper: Reaper, size: int, pace: float) -> None:
        self._inner, self._reaper = inner, reaper
        self._size, self._pace = size, pace

    def __getattr__(self, name: str) -> Any:
        """All that is not an action is the other's own."""
        return getattr(self._inner, name)

    @property
    def limits(self) -> Limits:
        return self._bent(self._inner.limits)

    def limits_for(self, address: Address) -> Limits:
        own = getattr(self._inner, "limits_for", None)
        return self._bent(own(address)) if own else self.limits

    @property
    def rates(self) -> Rates:
        rates: Rates = getattr(self._inner, "rates", Rates(chat_interval=self._inner.limits.pace))
        return Rates(chat_interval=self._pace) if self._pace else rates

    async def run(self, receive: Receive) -> None:
        async def heard(inbound: Inbound) -> Receipt:
            action = type(inbound).__name__
            nth = self._reaper.count("hear", action)
            self._reaper.strike("hear", action, nth, "before")
            receipt = await receive(inbound)
            self._reaper.strike("hear", action, nth, "after")
            return receipt

        await self._inner.run(heard)

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

    def _bent(self, limits: Limits) -> Limits:
        return replace(limits, size=self._size or limits.size, pace=self._pace or limits.pace)


def _shown(part: Part) -> str:
    if part.view.final and part.last:
        return "final"
    if any(not card.decision for card in part.view.cards):
        return "card"
    return "text" if part.last else "sealed"
