"""The service manager above the process: its datagram protocol (``sd_notify(3)``), and what it is told and when."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Final, Self

from bot.app.supervision import Supervisor
from bot.core.ports import Clock

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
STORE_SECONDS: Final = 40.0
"""More than twice the store's patience with another program that holds its file: a writer that answers later hangs."""


class ServiceManager:
    """Where nobody listens, telling does nothing. ``watchdog_seconds`` is how long it waits for a ping, 0 for ever."""

    def __init__(self, address: str = "", watchdog_seconds: float = 0.0) -> None:
        self._address, self.watchdog_seconds = address, watchdog_seconds
        self._deaf = False

    @classmethod
    def taken_from(cls, environ: MutableMapping[str, str]) -> Self:
        """The manager that the environment names. Its variables are taken out, so that no child speaks in our name."""
        address = environ.pop("NOTIFY_SOCKET", "")
        microseconds, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        ours = pid in ("", str(os.getpid()))
        known = address.startswith(("/", "@"))
        if known and ours and microseconds.isascii() and microseconds.isdigit():
            return cls(address, int(microseconds) / 1_000_000)
        return cls(address if known else "")

    @property
    def listens(self) -> bool:
        return bool(self._address)

    def tell(self, **facts: object) -> None:
        """One datagram of ``NAME=value`` lines. Never raises; a manager that cannot be reached costs one log line."""
        if not self._address:
            return
        message = "\n".join(f"{name}={' '.join(str(value).split())}" for name, value in facts.items())
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
                one.setblocking(False)
                one.sendto(message.encode(), address)
        except OSError as error:
            if not self._deaf:
                log.warning("the service manager cannot be told anything: %s", error.strerror)
            self._deaf = True
        else:
            self._deaf = False


async def keep_informed(
    manager: ServiceManager,
    clock: Clock,
    supervisors: Collection[Supervisor],
    words: Callable[[], Mapping[str, str]],
    settled: Callable[[], Awaitable[None]],
) -> None:
    """Until cancelled: that the daemon is ready (messages are taken, every channel was started), how its channels are
    (``words``), and within every half of the watchdog's time that it makes progress.

    What counts as progress: the event loop runs this, the store's writer comes to the end of what it was given
    (``settled``), and no channel hangs. A channel that hangs has at least half of the watchdog's time left, in which its
    supervisor starts it anew. A channel that is merely down is no reason to restart everything (see ``Supervisor``).
    """
    if not manager.listens:
        return
    for supervisor in supervisors:
        await supervisor.started.wait()
    half = manager.watchdog_seconds / 2
    step = min(LOOK_SECONDS, half / 4) if half else LOOK_SECONDS
    told, due, withheld = _in_words(words()), clock.monotonic(), False
    manager.tell(READY=1, STATUS=told)
    while True:
        if half and clock.monotonic() >= due:
            reason = await _stuck(supervisors, settled)
            if not reason:
                manager.tell(WATCHDOG=1)
                due = clock.monotonic() + half - step
            elif not withheld:
                log.error("the service manager's watchdog gets no ping: %s", reason)
            withheld = bool(reason)
        if told != (now := _in_words(words())):
            told = now
            manager.tell(STATUS=told)
        await clock.sleep(step)


async def _stuck(supervisors: Collection[Supervisor], settled: Callable[[], Awaitable[None]]) -> str:
    """What makes no progress, "" when everything does."""
    try:
        async with asyncio.timeout(STORE_SECONDS):
            await settled()
    except TimeoutError:
        return "the store's writer does not answer"
    return "a channel gives no sign of life" if any(supervisor.stale for supervisor in supervisors) else ""


def _in_words(channels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {word}" for name, word in channels.items()) or "no channel"
