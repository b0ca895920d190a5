"""Reading a data folder without a daemon: nothing is written, not even the log file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.core.errors import StoreError
from bot.store.database import Database, open_reader, translated
from bot.store.store import FILE_NAME
from bot.store.transcript import TranscriptRows


@asynccontextmanager
async def open_archive(data_dir: Path) -> AsyncIterator[TranscriptRows]:
    """The transcript of ``data_dir``, read-only. Raises ``StoreError`` when there is none or it cannot be read."""
    path = data_dir / FILE_NAME
    if not path.exists():
        raise StoreError(f"There is no conversation in {data_dir} yet.")
    try:
        reader = await open_reader(path)
    except sqlite3.Error as error:
        raise translated(error, path) from error
    try:
        yield TranscriptRows(Database(path, reader, [reader]))
    finally:
        await reader.close()
