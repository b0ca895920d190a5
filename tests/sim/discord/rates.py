"""How often the platform may be called: buckets per route and major parameter, 50 a second in all, invalid requests.

Discord publishes no numbers but 50 a second, 10,000 invalid requests in 10 minutes and the headers (PLATFORMS.md 2.2).
Judged here, by the time of arrival, are the windows that are seen in practice, for the others a stricter guess. A window
begins with its first call. A call too many is answered by 429 and noted; one more in the same wait, after the bot was
told, is noted of its own.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.sim.discord.faults import LIMITED, Scope
from tests.sim.discord.refusals import Json, Refused, refused

POST, PATCH = "POST /channels/{id}/messages", "PATCH /channels/{id}/messages/{id}"
FOLLOW_UPS = "/webhooks/{id}/{token}"
CALLBACK = "POST /interactions/{id}/{token}/callback"
LIMITS: dict[str, tuple[int, float]] = {
    POST: (5, 5.0),
    PATCH: (5, 5.0),
    "DELETE /channels/{id}/messages/{id}": (5, 5.0),
    "POST /channels/{id}/typing": (5, 5.0),
    "GET /channels/{id}/messages": (5, 5.0),
    "PUT /channels/{id}/messages/{id}/reactions/{emoji}/@me": (1, 0.25),
    "PATCH /channels/{id}": (5, 15.0),
    "PUT /applications/{id}/commands": (5, 20.0),
    "POST /applications/{id}/commands": (5, 20.0),
    "PUT /applications/{id}/guilds/{id}/commands": (5, 20.0),
}
USUAL = (10, 10.0)
FOLLOW_UP_LIMIT = (5, 2.0)
"""Webhooks: 5 in 2 s (third party)."""
RENAMES = (2, 600.0)
"""Names and topics of channels: twice in 10 minutes (third party)."""
OLD_EDITS = (3, 20.0)
"""Edits of messages older than an hour, per channel: code 30046; the number is a third party's guess."""
GLOBAL_PER_SECOND = 50
INVALID_LIMIT, INVALID_SECONDS, BAN_SECONDS = 10_000, 600.0, 3600.0
CROSSING_SECONDS = 0.05
ROUNDING = 1e-6
EVERYTHING = "everything"


@dataclass(slots=True)
class Window:
    """``limit`` calls in ``seconds`` from the first on."""

    limit: int
    seconds: float
    used: int = 0
    resets_at: float = -math.inf

    def wait(self, now: float) -> float:
        """Take one call; 0 when it fits, else the seconds until one would."""
        if now >= self.resets_at - ROUNDING:
            self.used, self.resets_at = 0, now + self.seconds
        if self.used >= self.limit:
            return self.resets_at - now
        self.used += 1
        return 0.0

    def left(self, now: float) -> float:
        return max(0.0, self.resets_at - now)


@dataclass(slots=True)
class Silence:
    """A wait that a 429 began. ``told`` are the paths that were answered by it, the last one at ``told_at`` (real time):
    a call that crossed with that answer on the way is no violation, one that was told itself is."""

    until: float
    scope: Scope = "user"
    told: set[str] = field(default_factory=set)
    told_at: float = math.inf

    def knew(self, path: str) -> bool:
        return path in self.told or time.perf_counter() - self.told_at > CROSSING_SECONDS


class Rates:
    """A bucket is named by ``(route, major)``. Without ``strict`` only scripted waits hold."""

    def __init__(
        self, monotonic: Callable[[], float], now: Callable[[], float], note: Callable[[str], None], *, strict: bool
    ) -> None:
        self._monotonic, self._now, self._note, self.strict = monotonic, now, note, strict
        self._windows: dict[tuple[str, str], Window] = {}
        self._latest: deque[float] = deque()
        self._invalid: deque[float] = deque()
        self.silences: dict[tuple[str, str], Silence] = {}
        self.invalid_limit, self.banned_until = INVALID_LIMIT, -math.inf

    @property
    def invalid(self) -> int:
        """Answers of 401, 403 and 429 (not shared) in the last ten minutes."""
        while self._invalid and self._invalid[0] <= self._monotonic() - INVALID_SECONDS:
            self._invalid.popleft()
        return len(self._invalid)

    @property
    def banned(self) -> bool:
        return self._monotonic() < self.banned_until

    def check(self, route: str, major: str, path: str) -> None:
        """Count one call; raises the 429 it earns. Calls about interactions are outside the global limit."""
        outside = route == CALLBACK or FOLLOW_UPS in route
        for place in ((EVERYTHING, ""), bucket_of(route, major)):
            if not (outside and place[0] == EVERYTHING):
                self._silent(place, route, path)
        if not self.strict or route == CALLBACK:
            return
        if not outside and (wait := self._global_wait()) > 0:
            self._breach((EVERYTHING, ""), f"more than {GLOBAL_PER_SECOND} calls a second: {path}", wait, "global")
        window = self._window(bucket_of(route, major))
        if (wait := window.wait(self._monotonic())) > 0:
            text = f"more than {window.limit} in {window.seconds:g} s: {route.split()[0]} {path}"
            self._breach(bucket_of(route, major), text, wait, "user")

    def old_edit(self, channel: int) -> None:
        """An edit of a message older than an hour; raises its 429."""
        wait = self._window(("old edits", str(channel)), OLD_EDITS).wait(self._monotonic())
        if self.strict and wait > 0:
            self._note(f"more than {OLD_EDITS[0]} edits of old messages in {OLD_EDITS[1]:g} s in {channel}")
            refusal = refused(30046)
            raise Refused(429, {**refusal.body, "retry_after": _rounded(wait), "global": False}, wait=wait)

    def rename(self, channel: int) -> None:
        """A change of a channel's name or topic; raises its 429."""
        wait = self._window(("renames", str(channel)), RENAMES).wait(self._monotonic())
        if self.strict and wait > 0:
            self._note(f"more than {RENAMES[0]} renames in {RENAMES[1]:g} s of {channel}")
            raise limited(wait, "shared")

    def silence(self, route: str, major: str, seconds: float, scope: Scope) -> None:
        """A wait that a fault script asked for."""
        place = (EVERYTHING, "") if scope == "global" else bucket_of(route, major)
        self.silences[place] = Silence(self._monotonic() + seconds, scope)

    def answered(self, route: str, major: str, path: str, refusal: Refused | None, status: int) -> None:
        """An answer leaves: who was told of a wait, and what counts as invalid."""
        if status == 429:
            for place in (bucket_of(route, major), (EVERYTHING, "")):
                if (silence := self.silences.get(place)) is not None:
                    silence.told.add(path)
                    silence.told_at = time.perf_counter()
        shared = refusal is not None and refusal.body.get("message") == LIMITED["shared"]
        if status in (401, 403, 429) and not shared:
            self._invalid.append(self._monotonic())
            if self.invalid >= self.invalid_limit and not self.banned:
                self._note(f"{self.invalid_limit} invalid requests in 10 minutes: banned")
                self.banned_until = self._monotonic() + BAN_SECONDS

    def headers(self, route: str, major: str, refusal: Refused | None) -> dict[str, str]:
        """The X-RateLimit headers of an answer."""
        if refusal is not None and refusal.status == 429:
            seconds = refusal.wait
            scope = next((name for name, words in LIMITED.items() if refusal.body.get("message") == words), "user")
            if refusal.body.get("global"):
                retry = str(math.ceil(seconds))
                return {"Retry-After": retry, "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}
            more = {"Retry-After": str(math.ceil(seconds)), "X-RateLimit-Scope": scope}
            left = "1" if scope == "shared" or refusal.code == 30046 else "0"
            return self._bucket_headers(route, major, left, seconds) | more
        if route == CALLBACK:
            return {}
        if not self.strict:
            return self._bucket_headers(route, major, "999", 0.1, limit=1000)
        window = self._window(bucket_of(route, major))
        left = str(max(0, window.limit - window.used))
        return self._bucket_headers(route, major, left, window.left(self._monotonic()))

    def forgive(self) -> None:
        self._windows.clear()
        self.silences.clear()
        self._latest.clear()
        self._invalid.clear()
        self.banned_until = -math.inf

    def _bucket_headers(
        self, route: str, major: str, left: str, seconds: float, *, limit: int | None = None
    ) -> dict[str, str]:
        after = _rounded(seconds)
        name = bucket_of(route, major)[0]
        return {
            "X-RateLimit-Limit": str(limit or _limit(name)[0]),
            "X-RateLimit-Remaining": left,
            "X-RateLimit-Reset": f"{self._now() + after:.3f}",
            "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(),
        }

    def _window(self, place: tuple[str, str], limit: tuple[int, float] | None = None) -> Window:
        if place not in self._windows:
            self._windows[place] = Window(*(limit or _limit(place[0])))
        return self._windows[place]

    def _global_wait(self) -> float:
        now = self._monotonic()
        while self._latest and self._latest[0] <= now - 1.0 + ROUNDING:
            self._latest.popleft()
        if len(self._latest) >= GLOBAL_PER_SECOND:
            return self._latest[0] + 1.0 - now
        self._latest.append(now)
        return 0.0

    def _silent(self, place: tuple[str, str], route: str, path: str) -> None:
        silence = self.silences.get(place)
        if silence is None:
            return
        now = self._monotonic()
        if now >= silence.until - ROUNDING:
            del self.silences[place]
            return
        if silence.knew(path):
            self._note(f"a call during a wait: {route.split()[0]} {path}, {silence.until - now:.2f} s early")
        raise limited(silence.until - now, silence.scope)

    def _breach(self, place: tuple[str, str], text: str, wait: float, scope: Scope) -> None:
        self._note(text)
        self.silences[place] = Silence(self._monotonic() + wait, scope)
        raise limited(wait, scope)


def bucket_of(route: str, major: str) -> tuple[str, str]:
    """The bucket's name and the major parameter it is counted for. All reactions share one, all follow-ups one."""
    if "/reactions/" in route:
        return "PUT /channels/{id}/messages/{id}/reactions/{emoji}/@me", major
    return (FOLLOW_UPS if FOLLOW_UPS in route else route), major


def limited(seconds: float, scope: Scope) -> Refused:
    body: Json = {"message": LIMITED[scope], "retry_after": _rounded(seconds), "global": scope == "global"}
    return Refused(429, body, wait=seconds)


def _limit(name: str) -> tuple[int, float]:
    return FOLLOW_UP_LIMIT if name == FOLLOW_UPS else LIMITS.get(name, USUAL)


def _rounded(seconds: float) -> float:
    """Up to the next millisecond, so that nobody who waits that long is early."""
    return math.ceil(seconds * 1000) / 1000
