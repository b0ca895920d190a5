"""Ending on a signal: cleanly, and in any case in time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Iterable
from typing import Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

LAST_RESORT: Final = 9.0
"""Seconds from the first signal to an exit by force; a service manager is promised 10."""


async def until_signal(
    work: Awaitable[T], signals: Iterable[signal.Signals], last_resort: float = LAST_RESORT
) -> T | None:
    """Await ``work``; one of ``signals`` cancels it. None when it was ended so.

    Further signals change nothing: a terminal and a wrapper often both pass on the same one. When cleaning up takes
    longer than ``last_resort`` seconds, the process ends with status 1 (what is stored survives that).
    """
    loop, task, stopping = asyncio.get_running_loop(), asyncio.current_task(), False
    assert task is not None

    def stop(number: signal.Signals) -> None:
        nonlocal stopping
        if not stopping:
            stopping = True
            log.info("stopping on %s", number.name)
            _force_after(last_resort)
            task.cancel()

    listened = tuple(signals)
    for number in listened:
        loop.add_signal_handler(number, stop, number)
    try:
        return await work
    except asyncio.CancelledError:
        if not stopping:
            raise
        task.uncancel()
        return None
    finally:
        for number in listened if not stopping else ():
            loop.remove_signal_handler(number)


def _force_after(seconds: float) -> None:
    def force() -> None:
        log.error("cleaning up takes too long; leaving without it")
        os._exit(1)

    timer = threading.Timer(seconds, force)
    timer.daemon = True
    timer.start()
