"""Owners hear in their own chats of what keeps the daemon from working well, once it has lasted."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.core.errors import StoreError
from bot.core.ports import Clock, Notes
from bot.core.texts import language_of, say
from bot.inbox.announcements import Announcements
from bot.inbox.gate import Gate
from bot.store.inbox import InboxRows

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 60.0
LASTS_SECONDS: Final = 300.0
"""What passes by itself sooner is in the log and on the page."""
AGAIN_SECONDS: Final = 86_400.0
NOTE: Final = "owners told"


class Alarm:
    """``about`` is what the daemon says of itself; ``channels`` are those that run."""

    def __init__(
        self,
        about: Callable[[], Mapping[str, Any]],
        channels: Callable[[], list[str]],
        gate: Gate,
        rows: InboxRows,
        announcements: Announcements,
        notes: Notes,
        clock: Clock,
        language: str,
    ) -> None:
        self._about, self._channels, self._gate, self._rows = about, channels, gate, rows
        self._announcements, self._notes, self._clock, self._language = announcements, notes, clock, language
        self._trouble = ""
        self._since = 0.0
        self._told = False

    async def watch(self) -> None:
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            try:
                await self.look()
            except StoreError as error:
                log.warning("owners were not told: %s", error)

    async def look(self) -> None:
        """Tell what has lasted, not again within a day, over restarts as well; and that it is over, where that was told."""
        troubles = self._about()["troubles"]
        trouble = str(troubles["en"])
        now = self._clock.monotonic()
        if trouble != self._trouble:
            self._trouble, self._since = trouble, now
        if not trouble and self._told:
            self._told = False
            await self._tell("owner_trouble_over", {"en": "", "zh": ""})
        if trouble and now - self._since >= LASTS_SECONDS and await self._is_news(trouble):
            self._told = True
            await self._tell("owner_trouble", troubles)

    async def _tell(self, key: str, troubles: Mapping[str, str]) -> None:
        """Every owner in their own chat, in their own language."""
        for channel in self._channels():
            for owner in self._gate.owners(channel):
                if (known := await self._rows.last_direct(channel, owner)) is not None:
                    address, sender = known
                    language = language_of("/", self._language, sender.language)
                    trouble = troubles["zh" if language.lower().startswith("zh") else "en"]
                    await self._announcements.tell(address, sender, say(key, language, trouble=trouble))

    async def _is_news(self, trouble: str) -> bool:
        digest = hashlib.sha256(trouble.encode()).hexdigest()[:16]
        try:
            told = {str(key): float(at) for key, at in json.loads(await self._notes.read(NOTE) or "{}").items()}
        except (ValueError, AttributeError, TypeError):
            told = {}
        now = self._clock.now()
        fresh = {key: at for key, at in told.items() if now - at < AGAIN_SECONDS}
        if digest in fresh:
            return False
        await self._notes.write(NOTE, json.dumps({**fresh, digest: now}))
        return True
