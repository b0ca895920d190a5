"""A daemon to talk to: the one that runs, or one in this process for as long as it is needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.app.control_client import ControlClient, NoDaemon
from bot.core.errors import AlreadyRunning
from bot.core.tasks import first_failure

StartHouse = Callable[[Callable[[], None]], Awaitable[None]]
"""Runs a daemon until cancelled; calls its argument once the daemon takes terminals."""


@asynccontextmanager
async def house(client: ControlClient, start: StartHouse) -> AsyncIterator[None]:
    """Raises what ``client`` or ``start`` raises. A daemon of this process is stopped when the block is left."""
    try:
        await client.status()
    except NoDaemon:
        pass
    else:
        yield
        return
    try:
        async with asyncio.TaskGroup() as group:
            ready = asyncio.Event()
            daemon = group.create_task(_unless_owned(start, ready))
            await ready.wait()
            try:
                yield
            finally:
                daemon.cancel()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


async def _unless_owned(start: StartHouse, ready: asyncio.Event) -> None:
    """Between our question and the start another process may have become the daemon: then that one is talked to."""
    try:
        await start(ready.set)
    except AlreadyRunning:
        ready.set()
