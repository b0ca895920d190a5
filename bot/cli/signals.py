"""Ending on a signal: cleanly, and in any case in time."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Collection, Coroutine
from typing import Any, Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

LAST_RESORT: Final = 9.0
"""Seconds from the first signal to an exit by force; a service manager is promised 10."""


def until_signal(
    work: Coroutine[Any, Any, T], signals: Collection[signal.Signals], last_resort: float = LAST_RESORT
) -> T | None:
    """Run ``work`` in an event loop of its own; one of ``signals`` cancels it. None when it was ended so.

    Further signals change nothing: a terminal and a wrapper often both pass on the same one. When cleaning up, the end
    of the loop's own threads included, takes longer than ``last_resort`` seconds, the process ends with status 1 (what
    is stored survives that).
    """
    force = threading.Timer(last_resort, _force)
    force.daemon = True
    try:
        return asyncio.run(_until(work, signals, force))
    finally:
        force.cancel()
        if force.is_alive():
            force.join()


async def _until(work: Coroutine[Any, Any, T], signals: Collection[signal.Signals], force: threading.Timer) -> T | None:
    loop, task, stopping = asyncio.get_running_loop(), asyncio.current_task(), False
    assert task is not None

    def stop(number: signal.Signals) -> None:
        nonlocal stopping
        if not stopping:
            stopping = True
            log.info("stopping on %s", number.name)
            force.start()
            task.cancel()

    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        return await work
    except asyncio.CancelledError:
        if not stopping:
            raise
        task.uncancel()
        return None
    finally:
        for number in signals if not stopping else ():
            loop.remove_signal_handler(number)


def _force() -> None:
    log.error("cleaning up takes too long; leaving without it")
    os._exit(1)
