"""Keeping channels alive: each runs until cancelled, and is started again after every failure and when it hangs."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from bot.core.errors import BowerbirdError, Unauthorised
from bot.core.ports import Channel, Clock, Progress, Receive

log = logging.getLogger(__name__)

FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
STEADY_SECONDS: Final = 120.0
"""A channel that ran for this long starts again with the first wait."""
LOOK_SECONDS: Final = 2.0
CLOSE_SECONDS: Final = 3.0
"""What the port grants a channel for ending when it is cancelled."""


class Supervisor:
    """One channel's lives, one after the other, never two at a time.

    A channel that is down for a reason (no network, a refused token, a defect) is *not* stale: its tries go on here,
    or would change nothing. Stale is a channel that hangs: it is cancelled and started again at once, and stays stale
    until the new life gives a sign. Where that does not help, or the old life does not even end when cancelled, only a
    new process does, and whoever asks ``stale`` (the watchdog of the service manager, ``/readyz``) learns of it.
    """

    def __init__(self, channel: Channel, clock: Clock, close_seconds: float = CLOSE_SECONDS) -> None:
        self._channel, self._clock, self._close_seconds = channel, clock, close_seconds
        self._began = clock.monotonic()
        self._running = False
        self._doubted_at: float | None = None
        self.hangs = 0
        self.started = asyncio.Event()

    @property
    def stale(self) -> bool:
        """True while the channel hangs, and after that until it gives a sign of life again."""
        return self._hangs() or self._doubted()

    async def run(self, receive: Receive) -> None:
        """Until cancelled, or until the platform refuses the token for good. One log line when it goes down."""
        wait, told = FIRST_WAIT, ""
        while True:
            self._began = self._clock.monotonic()
            try:
                if await self._hung(receive):
                    continue
                log.error("the channel %s ended by itself", self._channel.name)
            except Unauthorised as error:
                log.error("the channel %s is off until the configuration changes: %s", self._channel.name, error)
                return
            except BowerbirdError as error:
                level = logging.DEBUG if str(error) == told else logging.WARNING
                log.log(level, "the channel %s is down, next try in %g s: %s", self._channel.name, wait, error)
                told = str(error)
            except Exception:
                log.exception("the channel %s broke, next try in %g s", self._channel.name, wait)
            if self._clock.monotonic() - self._began > STEADY_SECONDS:
                wait, told = FIRST_WAIT, ""
            await self._clock.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def _hung(self, receive: Receive) -> bool:
        """One life, to its end. True when it had to be ended because it hung; raises what it raised otherwise."""
        loop = asyncio.get_running_loop()
        life = loop.create_task(self._channel.run(receive), name=f"channel {self._channel.name}")
        look = loop.create_task(self._until_it_hangs())
        self._running = True
        self.started.set()
        try:
            await asyncio.wait({life, look}, return_when=asyncio.FIRST_COMPLETED)
            if hung := not life.done():
                self._doubt()
        finally:
            look.cancel()
            life.cancel()
            await asyncio.wait({life}, timeout=self._close_seconds)
            if life.done() and not life.cancelled():
                life.exception()  # looked at here, since what a cancelled life meets at its end matters to nobody
        if not life.done():
            log.error("the channel %s does not end when it is told to: restart the daemon", self._channel.name)
            await asyncio.wait({life})
        self._running = False
        # only now: what the old life did while it ended is no sign of the new one
        self._doubted_at = self._clock.monotonic() if hung else None
        if not hung and not life.cancelled():
            life.result()
        return hung

    async def _until_it_hangs(self) -> None:
        while not self._hangs():
            before = self._clock.monotonic()
            await self._clock.sleep(LOOK_SECONDS)
            after = self._clock.monotonic()
            if after - before > 2 * LOOK_SECONDS:
                self._began = after  # the process itself stood still: no channel could give a sign
            if self._doubted_at is not None and not self._doubted():
                self._doubted_at = None
                log.info("the channel %s lives again", self._channel.name)

    def _doubt(self) -> None:
        now, progress = self._clock.monotonic(), self._progress()
        self._doubted_at = now
        self.hangs += 1
        times = f", for the {self.hangs}. time" if self.hangs > 1 else ""
        silent = now - max(progress.at if progress else 0.0, self._began)
        name = self._channel.name
        log.error("the channel %s gave no sign of life for %.0f s and is started again%s", name, silent, times)

    def _hangs(self) -> bool:
        progress = self._progress()
        if progress is None or not self._running:
            return False
        return self._clock.monotonic() - max(progress.at, self._began) > progress.stale_after

    def _doubted(self) -> bool:
        progress = self._progress()
        return self._doubted_at is not None and progress is not None and progress.at <= self._doubted_at

    def _progress(self) -> Progress | None:
        """Of a ``bot.core.ports.Progressing`` channel; None for one that has nothing to hang on."""
        progress: Progress | None = getattr(self._channel, "progress", None)
        return progress
