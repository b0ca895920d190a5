"""Reading a data folder without a daemon: nothing is written, not even the log file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.core.errors import StoreError
from bot.store.database import Database, open_reader, translated
from bot.store.people import PeopleRows
from bot.store.store import FILE_NAME
from bot.store.transcript import TranscriptRows


@asynccontextmanager
async def open_read_only(data_dir: Path) -> AsyncIterator[Database]:
    """Raises ``StoreError`` when there is no store or it cannot be read."""
    path = data_dir / FILE_NAME
    if not path.exists():
        raise StoreError(f"There is no conversation in {data_dir} yet.")
    try:
        reader = await open_reader(path)
    except sqlite3.Error as error:
        raise translated(error, path) from error
    try:
        yield Database(path, reader, [reader])
    finally:
        await reader.close()


@asynccontextmanager
async def open_archive(data_dir: Path) -> AsyncIterator[TranscriptRows]:
    """The transcript of ``data_dir``, read-only. Raises ``StoreError`` when there is none or it cannot be read."""
    async with open_read_only(data_dir) as database:
        yield TranscriptRows(database)


@asynccontextmanager
async def open_people(data_dir: Path) -> AsyncIterator[PeopleRows | None]:
    """Who was let in, read-only; None before the first start. Raises ``StoreError`` when it cannot be read."""
    if not (data_dir / FILE_NAME).exists():
        yield None
        return
    async with open_read_only(data_dir) as database:
        yield PeopleRows(database)
