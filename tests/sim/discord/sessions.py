"""Gateway sessions: the numbered events of one identified app, kept for a resume, and the connection they go out on."""

from __future__ import annotations

import json
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.sim.discord.refusals import Json

if TYPE_CHECKING:
    from tests.sim.discord.sockets import Socket

KEPT_EVENTS = 5000
SESSION_SECONDS = 180.0
"""How long a session outlives its connection: "a few minutes" (discord-api-docs, gateway)."""
RESUMABLE = frozenset({1006, 4000, 4001, 4002, 4005, 4008})
"""Close codes after which the session can be resumed; anything else ends it."""


IDENTIFIES_A_DAY, DAY_SECONDS, CONCURRENCY_SECONDS = 1000, 86_400.0, 5.0
PATIENCE = 3


@dataclass(slots=True)
class Event:
    number: int
    name: str
    body: Any

    def text(self) -> str:
        return json.dumps({"op": 0, "s": self.number, "t": self.name, "d": self.body}, ensure_ascii=False)


class Session:
    """``left_at`` is when its connection went (monotonic), None while it has one. ``over``: never to be resumed."""

    def __init__(self, intents: int) -> None:
        self.id, self.intents = secrets.token_hex(16), intents
        self.number = 0
        self.kept: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self.socket: Socket | None = None
        self.left_at: float | None = None
        self.over = False

    def put(self, name: str, body: Any) -> None:
        """Number an event, keep it and send it."""
        self.number += 1
        event = Event(self.number, name, body)
        self.kept.append(event)
        if self.socket is not None:
            self.socket.send_event(event)

    def missed(self, number: int) -> list[Event] | None:
        """The events after this number, None where they are no longer kept."""
        if number < self.number - len(self.kept):
            return None
        return [event for event in self.kept if event.number > number]


@dataclass(slots=True)
class Connections:
    """What the gateway saw: connections opened, IDENTIFYs and RESUMEs (monotonic time each), what was refused, and how
    connections ended: (close code, "client" or "server")."""

    opened: int = 0
    open: int = 0
    identifies: list[float] = field(default_factory=list)
    resumes: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    closes: list[tuple[int, str]] = field(default_factory=list)
    heartbeats: int = 0
    sessions: list[Session] = field(default_factory=list)

    def to_json(self) -> Json:
        return {
            "opened": self.opened,
            "open": self.open,
            "identifies": len(self.identifies),
            "resumes": len(self.resumes),
            "refused": self.refused,
            "closes": self.closes,
            "heartbeats": self.heartbeats,
            "ready": self.ready,
        }

    @property
    def ready(self) -> int:
        """Sessions that events go out on now."""
        return sum(session.socket is not None for session in self.sessions)

    def live(self, now: Callable[[], float]) -> list[Session]:
        """Sessions that events are numbered for: connected, or gone for less than SESSION_SECONDS."""
        for session in self.sessions:
            if session.left_at is not None and now() - session.left_at > SESSION_SECONDS:
                session.over = True
        return [session for session in self.sessions if not session.over]


class Identifies:
    """The IDENTIFYs of the last day: 1000 are allowed, one in 5 s (max_concurrency 1)."""

    def __init__(self, monotonic: Callable[[], float], note: Callable[[str], None], *, strict: bool) -> None:
        self._monotonic, self._note, self._strict = monotonic, note, strict
        self.at: deque[float] = deque()
        self._refused = 0

    def take(self) -> bool:
        """Count one; False when it comes too soon, which a restarted app cannot know: only the third in a row is noted."""
        now = self._monotonic()
        if self._strict and self.at and now - self.at[-1] < CONCURRENCY_SECONDS:
            self._refused += 1
            if self._refused >= PATIENCE:
                self._note(f"an IDENTIFY less than 5 s after the one before, {self._refused} times in a row")
            return False
        self._refused = 0
        self.at.append(now)
        return True

    def left(self) -> int:
        """How many the day still has; negative when there were too many."""
        while self.at and self.at[0] <= self._monotonic() - DAY_SECONDS:
            self.at.popleft()
        return IDENTIFIES_A_DAY - len(self.at)

    def reset_after(self) -> float:
        """Seconds until the first of them no longer counts."""
        return self.at[0] + DAY_SECONDS - self._monotonic() if self.at else 0.0
