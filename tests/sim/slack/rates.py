"""How often the Web API may be called, per method of the workspace and per channel for posts, and the waits that follow.

Slack publishes a floor per minute for each tier ("50+ per minute") and welcomes short bursts, without numbers. Judged
here, by the time of arrival:

- tiers: the floor and a tenth of it on top, in any 60 s, spread as one likes (Tier 1 bears ``TIER_1`` a minute: bots
  reconnect); ``assistant.threads.*``, whose limits are "special" and unpublished, count as Tier 4;
- ``chat.postMessage``: ``BURST`` at once, then one a second in each channel, and ``WORKSPACE_POSTS`` a minute in all.

An excess is answered by 429 with Retry-After. Once the bot was told, a further call there is a violation of its own.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from tests.sim.slack.nouns import ratelimited

BURST = 3
TIER_1 = 10
WORKSPACE_POSTS = 300
CROSSING_SECONDS = 0.05
ROUNDING = 1e-4
POST = "chat.postMessage"
_TIERS = {
    2: "chat.startStream chat.stopStream reactions.remove",
    3: (
        "chat.update chat.delete agents.sessions.setStatus agents.sessions.rename conversations.info conversations.open"
        " conversations.history conversations.replies reactions.add reactions.get"
    ),
    4: (
        "chat.appendStream chat.postEphemeral assistant.threads.setStatus assistant.threads.setTitle"
        " assistant.threads.setSuggestedPrompts conversations.members users.info files.getUploadURLExternal"
        " files.completeUploadExternal files.info views.publish"
    ),
}
TIERS = {method: tier for tier, methods in _TIERS.items() for method in methods.split()} | {"apps.connections.open": 1}
FLOORS = {2: 20, 3: 50, 4: 100}


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
class Silence:
    """``told`` are the channels whose calls were answered by a 429, the last one at ``told_at`` (real time): a call that
    crossed with that answer on the way is no violation, one that was told itself is."""

    until: float
    told: set[str | None] = field(default_factory=set)
    told_at: float = math.inf

    def knew(self, channel: str | None) -> bool:
        return channel in self.told or time.perf_counter() - self.told_at > CROSSING_SECONDS


class Rates:
    def __init__(self, monotonic: Callable[[], float], note: Callable[[str], None], *, strict: bool) -> None:
        self._monotonic, self._note, self.strict = monotonic, note, strict
        self._channels: dict[str, Bucket] = {}
        self._methods: dict[str, Window] = {}
        self.silences: dict[tuple[str, str | None], Silence] = {}

    def check(self, method: str, channel: str | None) -> None:
        """Count one call; raises the 429 it earns."""
        self._hush(method, channel)
        if not self.strict:
            return
        now = self._monotonic()
        if method == POST:
            bucket = self._channels.setdefault(channel or "", Bucket(BURST, 1.0, at=now))
            if (wait := bucket.wait(now)) > 0:
                self._excess(method, channel, f"more than 1/s: {method} in {channel}", wait)
        limit = WORKSPACE_POSTS if method == POST else per_minute(method)
        if limit and (wait := self._methods.setdefault(method, Window(limit, 60.0)).wait(now)) > 0:
            self._excess(method, channel, f"more than {limit} a minute: {method}", wait)

    def silence(self, method: str, channel: str | None, seconds: float) -> None:
        """A wait that a fault script asked for."""
        self.silences[_place(method, channel)] = Silence(self._monotonic() + seconds)

    def told(self, method: str, channel: str | None) -> None:
        """A 429 leaves for this call."""
        if (silence := self.silences.get(_place(method, channel))) is not None:
            silence.told.add(channel)
            silence.told_at = time.perf_counter()

    def forgive(self) -> None:
        self._channels.clear()
        self._methods.clear()
        self.silences.clear()

    def _hush(self, method: str, channel: str | None) -> None:
        place = _place(method, channel)
        if (silence := self.silences.get(place)) is None:
            return
        now = self._monotonic()
        if now >= silence.until - ROUNDING:
            del self.silences[place]
            return
        if silence.knew(channel):
            where = f"{method} in {channel}" if place[1] else method
            self._note(f"a call during its Retry-After: {where}, {silence.until - now:.2f} s early")
        raise ratelimited(max(1, math.ceil(silence.until - now)))

    def _excess(self, method: str, channel: str | None, message: str, wait: float) -> NoReturn:
        self._note(message)
        seconds = max(1, math.ceil(wait))
        self.silence(method, channel, seconds)
        raise ratelimited(seconds)


def per_minute(method: str) -> int:
    """How many calls a minute are borne; 0: unlimited here (``auth.test`` bears hundreds)."""
    tier = TIERS.get(method, 0)
    if tier == 1:
        return TIER_1
    return FLOORS[tier] + FLOORS[tier] // 10 if tier else 0


def _place(method: str, channel: str | None) -> tuple[str, str | None]:
    return method, channel if method == POST else None
