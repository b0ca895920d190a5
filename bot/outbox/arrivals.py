"""Messages on their way into the store: the first sign of life for each, and which question a turn answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from bot.core.address import Address
from bot.core.inbound import Inbound, Receipt, UserMessage
from bot.core.ports import CallKind, Receive
from bot.outbox.errands import Errands

ASKED_KEPT: Final = 2000

Sign = Callable[[Address], Coroutine[Any, Any, Any]]
Say = Callable[[UserMessage, str], Coroutine[Any, Any, Any]]


@dataclass(slots=True)
class _Arrival:
    """``answered``: something was shown meanwhile, so nobody waits any more."""

    over: asyncio.Event
    answered: bool = False


class Arrivals:
    """``sign`` shows that somebody is at work on an answer, ``say`` answers a message that was turned away."""

    def __init__(self, errands: Errands, sign: Sign, say: Say) -> None:
        self._errands, self._sign, self._say = errands, sign, say
        self._arriving: dict[Address, _Arrival] = {}
        self._asked: OrderedDict[str, UserMessage] = OrderedDict()

    async def take(self, inbound: Inbound, receive: Receive) -> Receipt:
        """Raises ``StoreError`` when the inbound could not be stored."""
        to = inbound.address
        arrival = self._arriving[to] = _Arrival(asyncio.Event())
        try:
            receipt = await receive(inbound)
            if isinstance(inbound, UserMessage) and not receipt.duplicate:
                self._taken(inbound, receipt, arrival)
            return receipt
        finally:
            arrival.over.set()
            if self._arriving.get(to) is arrival:
                del self._arriving[to]

    def _taken(self, message: UserMessage, receipt: Receipt, arrival: _Arrival) -> None:
        to = message.address
        if receipt.refused:
            self._errands.surely(to, CallKind.FINAL, lambda: self._say(message, receipt.refused))
        elif receipt.turn:
            self._asked[receipt.turn] = message
            if len(self._asked) > ASKED_KEPT:
                self._asked.popitem(last=False)
            if not arrival.answered:
                self._errands.typing(to, lambda: self._sign(to))

    async def showing(self, to: Address, *, known: bool) -> None:
        """Before the first words of an answer: its turn runs before ``take`` returns, and may be quicker. ``known``: it
        must know its question first (``question``)."""
        if arrival := self._arriving.get(to):
            arrival.answered = True
            if known:
                await arrival.over.wait()

    def question(self, turn: str) -> UserMessage | None:
        """What the turn answers, as far as this process took it in: after a restart an answer stands alone."""
        return self._asked.get(turn)
