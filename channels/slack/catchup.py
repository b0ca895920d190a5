"""Messages that nobody brought: after an absence the known conversations are read from where each was left."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.ports import Clock
from channels.slack.conversations import Conversation, Conversations
from channels.slack.events import stamp
from channels.slack.past import Past
from channels.slack.refusals import Hushed, Unfit
from channels.slack.revisits import Revisits
from channels.slack.socket import End

log = logging.getLogger(__name__)

ABSENCE_SECONDS: Final = 60.0
"""What Slack could not deliver it tries again at once and after a minute."""
STORM, STORM_SECONDS = 3, 360.0
"""So many losses within the time in which Slack tries: each of its attempts may have met one."""
OLDEST_SECONDS: Final = 24 * 3600.0
DOUBTFUL: Final = 5
"""So many of the latest conversations are looked at where a connection was only perhaps deaf."""
TRIES: Final = 5
AGAIN_SECONDS: Final = 5.0

Take = Callable[[Mapping[str, Any]], Awaitable[None]]


class CatchUp:
    """``take`` is that of the socket: what was known already does nothing."""

    def __init__(
        self, past: Past, conversations: Conversations, revisits: Revisits, clock: Clock, name: str, team: str
    ) -> None:
        self._revisits = revisits
        self._past, self._conversations, self._clock = past, conversations, clock
        self._name, self._team = name, team
        self._todo: dict[tuple[str, str], Conversation] = {}
        self._wanted = asyncio.Event()
        self._losses: deque[float] = deque(maxlen=STORM)
        self._missing = ""

    def back(self, absence: float, end: End) -> None:
        """A connection is there again, and has not been read from."""
        now = self._clock.monotonic()
        if end == "lost":
            self._losses.append(now)
        storm = len(self._losses) == STORM and now - self._losses[0] < STORM_SECONDS
        if absence < ABSENCE_SECONDS and not storm:
            return
        doubt = end == "doubted" and not storm
        for one in self._conversations.snapshot(DOUBTFUL) if doubt else self._conversations.snapshot():
            self._todo.setdefault((one.chat, one.thread), one)
        self._wanted.set()

    async def run(self, take: Take) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            async for event in self._revisits.changes():
                await self._taken(event, take)
            found = 0
            while self._todo:
                one = self._todo.pop(next(iter(self._todo)))
                found += await self._read(one, take)
                self._conversations.caught_up(one)
            if found:
                log.info("%s looked at %d messages of the time in which it heard nothing", self._name, found)

    def _told(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"type": "event_callback", "team_id": self._team, "event": event}

    async def _taken(self, event: Mapping[str, Any], take: Take) -> None:
        for _ in range(TRIES):
            try:
                await take(self._told(event))
                break
            except StoreError:
                await self._clock.sleep(AGAIN_SECONDS)

    async def _read(self, one: Conversation, take: Take) -> int:
        since = f"{max(self._clock.now() - OLDEST_SECONDS, 0.0):.6f}"
        oldest = max(one.read, since, key=stamp)
        for _ in range(TRIES):
            try:
                closed = self._past.is_closed(self._missing)
                missed = () if closed else await self._past.since(one.chat, one.thread, oldest)
                for raw in missed:
                    event = {**raw, "type": "message", "channel": one.chat, "event_ts": raw["ts"]}
                    await take(self._told(event))
                return len(missed)
            except (RateLimited, Hushed) as limited:
                await self._clock.sleep(limited.retry_after)
            except (StoreError, ChannelUnreachable):
                await self._clock.sleep(AGAIN_SECONDS)
            except Unauthorised:
                raise
            except Unfit as error:
                self._missing = error.missing or self._missing
                log.warning("messages that were missed stay so: %s", error)
                break
            except ChannelError as error:
                log.info("a conversation cannot be read now: %s", error)
                break
        return 0
