"""Reading a data folder without a daemon: nothing is written, not even the log file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bot.core.errors import StoreError, StoreReadOnly
from bot.store.database import Database, open_reader, translated, uri_of
from bot.store.migrations import known_version
from bot.store.people import PeopleRows
from bot.store.prompts import Prompt, PromptRows
from bot.store.repair import fault
from bot.store.store import FILE_NAME
from bot.store.transcript import TranscriptRows


@asynccontextmanager
async def open_read_only(data_dir: Path) -> AsyncIterator[Database]:
    """Raises ``StoreError`` when there is no store or it cannot be read."""
    path = data_dir / FILE_NAME
    if not _exists(path):
        raise StoreError(f"There is no conversation in {data_dir} yet.")
    try:
        reader = await open_reader(_uri(path))
    except sqlite3.Error as error:
        raise translated(error, path) from error
    try:
        database = Database(path, reader, [reader])
        await database.read(known_version)
        yield database
    finally:
        await reader.close()


async def examined(data_dir: Path) -> str:
    """What is wrong with the store of ``data_dir``, as the next start would find it; "" for nothing, and for none yet.
    Raises ``StoreReadOnly`` for a folder that is closed to us."""
    path = data_dir / FILE_NAME
    return await asyncio.to_thread(fault, path, _uri(path))


async def prompts_of(data_dir: Path, turn: str) -> Sequence[Prompt]:
    """The prompts of one turn that are still kept. Raises ``StoreError``."""
    async with open_read_only(data_dir) as database:
        return await PromptRows(database).of_turn(turn)


@asynccontextmanager
async def open_archive(data_dir: Path) -> AsyncIterator[TranscriptRows]:
    """The transcript of ``data_dir``, read-only. Raises ``StoreError`` when there is none or it cannot be read."""
    async with open_read_only(data_dir) as database:
        yield TranscriptRows(database)


@asynccontextmanager
async def open_people(data_dir: Path) -> AsyncIterator[PeopleRows | None]:
    """Who was let in, read-only; None before the first start. Raises ``StoreError`` when it cannot be read."""
    if not _exists(data_dir / FILE_NAME):
        yield None
        return
    async with open_read_only(data_dir) as database:
        yield PeopleRows(database)


def _uri(path: Path) -> str:
    """Whoever has the file open keeps a log file beside it, and so does whoever died with it open."""
    return uri_of(path, "ro", alone=not _exists(path.with_name(f"{path.name}-wal")))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise StoreReadOnly(
            f"{path.parent} cannot be read ({error.strerror}): give the user that runs Bowerbird the folder."
        ) from error
