"""How often the platform may be called, per private chat, per group and in all, and the flood waits that follow.

Telegram publishes one message a second in a chat, 20 a minute in a group, about 30 a second in all (PLATFORMS.md 1.8),
and lets short bursts pass. Judged here, by the time of arrival:

- private chat: ``BURST`` calls at once, then one a second (a bucket, so a call that overtakes another is no breach);
  texts, edits, deletions, files, reactions and typing count;
- group: 20 in any 60 s; edits, deletions, typing and reactions count too;
- draft frames: 20 in 5 s and 40 in 30 s (PLATFORMS.md 0.1);
- in all: 30 at once, then 30 a second, and never more than 36 within one second (a fifth for calls bunched on the way).

A breach is answered by 429 and starts a flood wait of the chat (or of everything). Once the bot was told, a further call
there is a violation of its own and lengthens the wait.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from tests.sim.telegram.nouns import flooded

BURST = 3
PENALTY_SECONDS = 3.0
LENGTHENED_SECONDS = 5.0
CROSSING_SECONDS = 0.05
ROUNDING = 1e-4
EVERYTHING = "everything"


@dataclass(slots=True)
class Bucket:
    """``size`` calls at once, then ``rate`` a second."""

    size: float
    rate: float
    level: float = 0.0
    at: float = 0.0

    def wait(self, now: float) -> float:
        """Take one call; 0 when it fits, else the seconds until one would."""
        self.level = max(0.0, self.level - (now - self.at) * self.rate)
        self.at = now
        if self.level + 1 > self.size + ROUNDING:
            return (self.level + 1 - self.size) / self.rate
        self.level += 1
        return 0.0


@dataclass(slots=True)
class Window:
    """``limit`` calls in any ``seconds``."""

    limit: int
    seconds: float
    taken: deque[float] = field(default_factory=deque)

    def wait(self, now: float) -> float:
        while self.taken and self.taken[0] <= now - self.seconds + ROUNDING:
            self.taken.popleft()
        if len(self.taken) >= self.limit:
            return self.taken[0] + self.seconds - now
        self.taken.append(now)
        return 0.0


@dataclass(slots=True)
class Flood:
    """``told`` are the (method, chat) that were answered by a 429, the last one at ``told_at`` (real time): a call that
    crossed with that answer on the way is no violation, one that was told itself is."""

    until: float
    told: set[tuple[str, int | None]] = field(default_factory=set)
    told_at: float = math.inf

    def knew(self, method: str, chat: int | None) -> bool:
        return (method, chat) in self.told or time.perf_counter() - self.told_at > CROSSING_SECONDS


class Rates:
    def __init__(self, monotonic: Callable[[], float], note: Callable[[str], None], *, strict: bool) -> None:
        self._monotonic, self._note, self.strict = monotonic, note, strict
        self._places: dict[tuple[str, int], tuple[Bucket | Window, ...]] = {}
        self._all = (Bucket(30, 30.0), Window(36, 1.0))
        self.floods: dict[int | str, Flood] = {}

    def check(self, method: str, chat: int | None, *, group: bool) -> None:
        """Count one call; raises the 429 it earns."""
        if chat is None:
            self._flood(method, method, chat)
            return
        self._flood(EVERYTHING, method, chat)
        self._flood(chat, method, chat)
        if not self.strict:
            return
        if (wait := max(limit.wait(self._monotonic()) for limit in self._all)) > 0:
            self._breach(EVERYTHING, f"more than 30 calls a second: {method} in {chat}", wait)
        if (wait := self._wait(method, chat, group)) > 0:
            what = (
                "draft frames too fast" if "Draft" in method else "more than 20 a minute" if group else "more than 1/s"
            )
            self._breach(chat, f"{what}: {method} in {chat}", wait)

    def silence(self, place: int | str, seconds: float) -> None:
        """A flood wait that a fault script asked for."""
        self.floods[place] = Flood(self._monotonic() + seconds)

    def told(self, method: str, chat: int | None) -> None:
        """A 429 leaves for this call."""
        for place in (method if chat is None else chat, EVERYTHING):
            if (flood := self.floods.get(place)) is not None:
                flood.told.add((method, chat))
                flood.told_at = time.perf_counter()

    def forgive(self) -> None:
        self._places.clear()
        self.floods.clear()
        self._all = (Bucket(30, 30.0), Window(36, 1.0))

    def _flood(self, place: int | str, method: str, chat: int | None) -> None:
        flood = self.floods.get(place)
        if flood is None:
            return
        now = self._monotonic()
        if now >= flood.until:
            del self.floods[place]
            return
        if flood.knew(method, chat):
            self._note(f"a call during a flood wait of {place}: {method}, {flood.until - now:.2f} s early")
            flood.until += LENGTHENED_SECONDS
        raise flooded(max(1, math.ceil(flood.until - now)))

    def _wait(self, method: str, chat: int, group: bool) -> float:
        if method == "sendMessageDraft":
            limits = self._places.setdefault(("draft", chat), (Window(20, 5.0), Window(40, 30.0)))
        elif group:
            limits = self._places.setdefault(("group", chat), (Window(20, 60.0),))
        else:
            limits = self._places.setdefault(("private", chat), (Bucket(BURST, 1.0),))
        now = self._monotonic()
        return max(limit.wait(now) for limit in limits)

    def _breach(self, place: int | str, message: str, wait: float) -> NoReturn:
        self._note(message)
        seconds = max(PENALTY_SECONDS, wait)
        self.floods[place] = Flood(self._monotonic() + seconds)
        raise flooded(math.ceil(seconds))
