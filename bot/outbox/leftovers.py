"""Buttons below answers that something newer has overtaken: which message has one, and when it is taken away."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from bot.core.address import Address
from bot.core.errors import BowerbirdError
from bot.core.ports import CallKind, Clock, Governor
from bot.core.tasks import first_of
from bot.core.view import Part, Ref

log = logging.getLogger(__name__)

KEPT: Final = 500
WAITING: Final = 50
WORTH_SECONDS: Final = 120.0
"""Longer than a life's first minute, in which groups are told nothing that can wait (``Rates``). In a chat that has no
rest for so long the button stays: its press is refused in words."""
REST_SECONDS: Final = 7.0
"""Between two of them: Discord takes perhaps three edits in 20 s of messages that are older than an hour (code 30046)."""

Unbutton = Callable[[Address, Ref, Part], Awaitable[None]]
"""``bot.core.ports.Unbuttoning.unbutton`` of a channel that has it."""


class Leftovers:
    """Of one channel, one after the other. Each costs a call that nobody waits for, so it is made only once the newer answer
    stands and the chat has been quiet; it is tried once, and a restart forgets it."""

    def __init__(self, unbutton: Unbutton, governor: Governor, clock: Clock) -> None:
        self._unbutton, self._governor, self._clock = unbutton, governor, clock
        self._numbers = itertools.count()
        self._latest: OrderedDict[tuple[Address, str], tuple[int, tuple[Ref, Part] | None]] = OrderedDict()
        self._line: asyncio.Queue[tuple[Address, Ref, Part]] = asyncio.Queue(WAITING)

    def begins(self, to: Address, asker: str) -> Callable[[tuple[Ref, Part] | None], None]:
        """A question of ``asker`` (an identity) is about to be answered. What it gives is to be called once the answer
        stands, with the message that has a button or without; it never waits."""
        return partial(self._stands, (to, asker), next(self._numbers))

    def _stands(self, whose: tuple[Address, str], number: int, offering: tuple[Ref, Part] | None) -> None:
        """An answer that waited for a person may come after the one to a later question."""
        latest, overtaken = self._latest.pop(whose, (number, None))
        if number < latest:
            number, offering, overtaken = latest, overtaken, offering
        if overtaken is not None and not self._line.full():
            self._line.put_nowait((whose[0], *overtaken))
        self._latest[whose] = number, offering
        if len(self._latest) > KEPT:
            self._latest.popitem(last=False)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            to, ref, part = await self._line.get()
            await first_of(self._governor.room(to, CallKind.TYPING, edit=True), self._clock.sleep(WORTH_SECONDS))
            if not self._governor.has_room(to, CallKind.TYPING, edit=True):
                continue
            try:
                await self._unbutton(to, ref, part)
            except BowerbirdError as error:
                log.info("a button in %s stays although it does nothing any more: %s", to, error)
            except Exception:
                log.exception("a button in %s stays although it does nothing any more", to)
            await self._clock.sleep(REST_SECONDS)
