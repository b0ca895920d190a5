"""Which conversations Slack tells of: an app hears nothing of what it has not subscribed to, and nobody says so."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from bot.core.ports import Clock
from bot.core.texts import say
from channels.slack.events import place_of
from channels.slack.permits import Permits
from channels.slack.socket import End

TELL_SECONDS: Final = 90.0
"""Slack tells at once, and again a minute later what was not acknowledged."""
MISSES: Final = 2
KEPT: Final = 500
DIRECT: Final = "message.im"
ROOMS: Final = "message.channels, message.groups, message.mpim"


class Hearing:
    """Two things are told as a message wherever messages are told of: what the bot posts itself, and what mentions it,
    which is told as a mention as well. Where the first few of them are not, no message is."""

    def __init__(self, permits: Permits, clock: Clock) -> None:
        self._permits, self._clock = permits, clock
        self._told: OrderedDict[str, None] = OrderedDict()
        self._awaited: OrderedDict[str, list[float]] = OrderedDict()
        self._missed: OrderedDict[str, int] = OrderedDict()

    def expect(self, chat: str) -> None:
        """A message stands there that Slack should tell of. Where it has told of one before, it will."""
        self._look()
        place = _place(chat)
        awaited = self._awaited.get(place, [])
        if place not in self._told and len(awaited) < MISSES:
            self._awaited[place] = [*awaited, self._clock.monotonic()]
            _bound(self._awaited)

    def heard(self, payload: Mapping[str, Any]) -> None:
        event, (chat, _) = payload.get("event"), place_of(payload)
        match event.get("type") if chat and isinstance(event, Mapping) else "":
            case "message":
                place = _place(chat)
                self._told[place] = None
                self._told.move_to_end(place)
                _bound(self._told)
                self._awaited.pop(place, None)
                self._missed.pop(place, None)
            case "app_mention":
                self.expect(chat)

    def renewed(self, end: End) -> None:
        """There is a new connection: what the old one may have swallowed says nothing."""
        self._look()
        if end != "lost":
            for place in self._awaited:
                self._missed[place] = self._misses(place)
                _bound(self._missed)
        self._awaited.clear()

    def _look(self) -> None:
        """What is not told for other reasons says nothing either."""
        if not self._permits.hears:
            self._awaited.clear()
            self._missed.clear()

    def _misses(self, place: str) -> int:
        due = self._clock.monotonic() - TELL_SECONDS
        return self._missed.get(place, 0) + sum(at <= due for at in self._awaited.get(place, ()))

    def trouble(self, language: str) -> str:
        """What is not told, and how to mend it; "" while everything is."""
        self._look()
        untold = [place for place in {**self._awaited, **self._missed} if self._misses(place) >= MISSES]
        events = sorted({DIRECT if place == DIRECT else ROOMS for place in untold})
        return say("events_slack", language, events=", ".join(events)) if events else ""


def _place(chat: str) -> str:
    """All direct chats are told of or none; of channels, the public and the private ones are asked for apart."""
    return DIRECT if chat.startswith("D") else chat


def _bound(held: OrderedDict[str, Any]) -> None:
    if len(held) > KEPT:
        held.popitem(last=False)
