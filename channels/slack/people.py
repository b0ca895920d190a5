"""Who is who in the workspace: names and languages, asked for once and kept for a while."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.core.errors import ChannelError
from bot.core.ports import Clock
from bot.core.tasks import first_of
from channels.slack.events import Persona
from channels.slack.refusals import Unfit
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

log = logging.getLogger(__name__)

KEPT: Final = 5000
FRESH_SECONDS: Final = 6 * 3600.0
LOOK_SECONDS: Final = 1.0
"""A name is worth no more of the three seconds in which Slack wants to hear that a message has arrived."""
AT_ONCE: Final = 8


class People:
    """``users.info`` is Tier 4: a hundred calls a minute."""

    def __init__(self, wire: Wire, clock: Clock) -> None:
        self._wire, self._clock = wire, clock
        self._tier = Tier(clock, 90, 10)
        self._known: OrderedDict[str, tuple[Persona, float]] = OrderedDict()
        self._line: asyncio.Queue[tuple[str, asyncio.Event]] = asyncio.Queue()
        self._open: dict[str, asyncio.Event] = {}
        self._missing = ""

    async def run(self) -> None:
        """Until cancelled. Questions are asked here, so that an answer that comes late is still learnt."""
        async with asyncio.TaskGroup() as group:
            while True:
                id, answered = await self._line.get()
                group.create_task(self._asked(id, answered))

    def begin(self, ids: Sequence[str]) -> None:
        """Ask for whoever is not known."""
        now = self._clock.monotonic()
        missing = [id for id in ids if id not in self._known or self._known[id][1] < now]
        for id in missing[:AT_ONCE] if not self._wire.permits.lacks(self._missing) else ():
            if id not in self._open and self._tier.take():
                self._open[id] = asyncio.Event()
                self._line.put_nowait((id, self._open[id]))

    async def look_up(self, ids: Sequence[str], within: float = LOOK_SECONDS) -> Mapping[str, Persona]:
        """As far as they can be learnt ``within`` these seconds."""
        self.begin(ids)
        if (waiting := [self._open[id] for id in ids if id in self._open]) and within > 0:
            await first_of(_all(waiting), self._clock.sleep(within))
        return {id: self._known[id][0] for id in ids if id in self._known}

    async def _asked(self, id: str, answered: asyncio.Event) -> None:
        try:
            await self._ask(id)
        finally:
            self._open.pop(id, None)
            answered.set()

    async def _ask(self, id: str) -> None:
        try:
            told = (await self._wire.call("users.info", user=id, include_locale=True)).get("user")
        except Unfit as error:
            if error.missing:
                self._missing = error.missing
                log.warning("people stay without names and languages: %s", error)
            return
        except ChannelError:
            return
        self._known[id] = _persona(told), self._clock.monotonic() + FRESH_SECONDS
        if len(self._known) > KEPT:
            self._known.popitem(last=False)


async def _all(events: Sequence[asyncio.Event]) -> None:
    for event in events:
        await event.wait()


def _persona(told: Any) -> Persona:
    if not isinstance(told, Mapping):
        return Persona()
    profile = told.get("profile")
    names = profile if isinstance(profile, Mapping) else {}
    name = names.get("display_name") or names.get("real_name") or told.get("real_name") or told.get("name") or ""
    return Persona(str(name), str(told.get("locale") or ""))
