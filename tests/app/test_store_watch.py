"""Trouble with the store goes away when the store works, not only when somebody writes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.app.store_watch import LOOK_SECONDS, watch_store
from bot.core.errors import StoreError, StoreFull
from bot.store.store import Store
from tests.fakes.clock import FakeClock


async def test_a_store_that_can_be_written_again_is_noticed_by_itself(tmp_path: Path) -> None:
    clock, trouble = FakeClock(), list[StoreError | None]([StoreFull("the disk is full")])

    async with Store.open(tmp_path / "data") as store:
        notes = store.notes("daemon")
        task = asyncio.ensure_future(watch_store(clock, notes, lambda: bool(trouble[-1]), trouble.append))
        await store.database._writer.run(lambda db: db.execute("PRAGMA query_only = ON"))
        await _looked(clock, trouble, 2)
        assert "cannot be written" in str(trouble[-1])
        await store.database._writer.run(lambda db: db.execute("PRAGMA query_only = OFF"))
        await _looked(clock, trouble, 3)
        assert trouble[-1] is None
        await clock.advance(10 * LOOK_SECONDS)
        assert len(trouble) == 3
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _looked(clock: FakeClock, trouble: list[StoreError | None], times: int) -> None:
    await clock.advance(LOOK_SECONDS)
    async with asyncio.timeout(5):
        while len(trouble) < times:
            await asyncio.sleep(0.005)
