"""Running one thing beside another without losing either's error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager


@asynccontextmanager
async def alongside(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Run ``work`` beside the block and wait for both. The first failure cancels the other and comes out as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(work)
            yield
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


async def seen_through(work: Coroutine[None, None, None], seconds: float) -> None:
    """Await ``work``. If the caller is cancelled, ``work`` first gets ``seconds`` to come to its end."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        try:
            await asyncio.wait([task], timeout=seconds)
        finally:
            task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # what it met no longer matters to anybody
        raise


async def first_of(*waits: Coroutine[None, None, object]) -> None:
    """Until one of ``waits`` is over; the others are cancelled."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(wait) for wait in waits]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first leaf of a group."""
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
