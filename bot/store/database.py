"""One SQLite file: one writer with short explicit transactions and group commit, readers apart."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import aiosqlite

from bot.core.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from bot.store.migrations import migrate

T = TypeVar("T")
Statement = Callable[[sqlite3.Connection], T]

READERS: Final = 2
BUSY_SECONDS: Final = 15.0
"""How long to wait for another program's lock; a backup tool that holds the file for 5 s only delays us."""
WAL_BYTES: Final = 64 * 1024 * 1024
"""The log file is cut back to this size after a checkpoint."""


def translated(error: sqlite3.Error, path: Path) -> StoreError:
    """The one place where SQLite's errors become ours, each with what the person can do."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _disk_is_full(path)):
        return StoreFull(
            f"The disk that holds {path.parent} is full: free some space; nothing that was confirmed is lost."
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"Another program holds {path.name} in {path.parent}: close it, or wait; I keep trying.")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreReadOnly(
            f"{path} cannot be written: give the user that runs Bowerbird write access to {path.parent}."
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(
            f"{path} is damaged: stop Bowerbird and start it again, it then sets the file aside and saves what it can."
        )
    return StoreError(
        f"The store in {path.parent} failed ({getattr(error, 'sqlite_errorname', type(error).__name__)})."
    )


def _disk_is_full(path: Path) -> bool:
    try:
        stat = os.statvfs(path.parent)
    except OSError:
        return False
    return stat.f_bavail * stat.f_frsize < 64 * 1024


def _to_disk(path: Path) -> None:
    """What SQLite does after each commit with ``synchronous = FULL``: the log file reaches the disk. What a checkpoint
    has moved on from there is on the disk already.

    Never the database file itself: to close any descriptor of it would drop the locks that SQLite holds on it.
    """
    number = os.open(path.with_name(f"{path.name}-wal"), os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _unwritten(error: OSError, path: Path) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(
            f"The disk that holds {path.parent} is full: free some space; nothing that was confirmed is lost."
        )
    return StoreError(f"The store in {path.parent} failed ({error.strerror or type(error).__name__}).")


def uri_of(path: Path, mode: Literal["ro", "rw", "rwc"], *, alone: bool = False) -> str:
    """``alone``: it is read, and nobody else has it open, so SQLite need not lay its log file beside it."""
    return f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if alone else ''}"


def _connector(uri: str, *, read_only: bool) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
        try:
            if not read_only:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                db.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
                db.execute("PRAGMA foreign_keys = ON")
                migrate(db)
            else:
                db.execute("PRAGMA query_only = ON")
        except BaseException:
            db.close()
            raise
        return db

    return connect


class _Worker(aiosqlite.Connection):
    """An aiosqlite connection that runs whole functions in its thread: one hop a transaction, nothing can interleave.

    ``_execute`` and ``_conn`` are aiosqlite's own seam for this (pinned to 0.22.x in pyproject.toml).
    """

    @classmethod
    async def opened(cls, uri: str, *, read_only: bool) -> _Worker:
        """Raises ``sqlite3.Error``, with the thread ended: it must not outlive the loop that it reports to."""
        worker = cls(_connector(uri, read_only=read_only), 64)
        try:
            await worker
        except BaseException:
            await asyncio.to_thread(worker._thread.join, BUSY_SECONDS)
            raise
        return worker

    async def run(self, function: Statement[T]) -> T:
        return cast(T, await self._execute(function, self._conn))  # type: ignore[no-untyped-call]


async def open_reader(uri: str) -> _Worker:
    """A connection that cannot write. Raises ``sqlite3.Error``; the caller closes it."""
    return await _Worker.opened(uri, read_only=True)


@dataclass(slots=True)
class _Job:
    statement: Statement[Any]
    value: Any = None
    error: BaseException | None = field(default=None)


def _commit(db: sqlite3.Connection, jobs: Sequence[_Job]) -> None:
    """Run the jobs in one transaction; if one fails, each in its own, so that it takes no other down."""
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        for job in jobs:
            job.error = error
        return
    for job in jobs:
        job.error = StoreError("The write was not committed.")
    try:
        for job in jobs:
            job.value = job.statement(db)
        db.execute("COMMIT")
        for job in jobs:
            job.error = None
    except Exception as error:  # noqa: BLE001  handed to the caller whose statement it was
        if db.in_transaction:
            db.execute("ROLLBACK")
        if len(jobs) == 1:
            jobs[0].error = error
            return
        for job in jobs:
            _commit(db, [job])


class Database:
    """``write`` and ``read`` take functions of a ``sqlite3.Connection``; they run in the connection's own thread.

    A write has been committed when ``write`` returns, and outlives the process; with ``durable``, or after ``synced``,
    it has also reached the disk and outlives a power cut. Writes that wait together share one commit, and callers who
    want the disk share one synchronisation. Cancelling the caller does not undo a write.
    Errors: ``StoreError`` and its subclasses.
    """

    def __init__(self, path: Path, writer: _Worker, readers: Sequence[_Worker]) -> None:
        self.path = path
        self._writer = writer
        self._readers: asyncio.Queue[_Worker] = asyncio.Queue()
        for reader in readers:
            self._readers.put_nowait(reader)
        self._waiting: deque[_Job] = deque()
        self._commits = self._on_disk = 0
        self._disk = asyncio.Lock()
        self._closed = False

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Database]:
        """Open (creating and migrating) the file; leaving the context commits what was asked for and closes."""
        workers: list[_Worker] = []
        try:
            try:
                workers.append(await _Worker.opened(uri_of(path, "rwc"), read_only=False))
                for _ in range(READERS):
                    workers.append(await open_reader(uri_of(path, "ro")))
            except sqlite3.Error as error:
                raise translated(error, path) from error
            database = cls(path, workers[0], workers[1:])
            try:
                yield database
            finally:
                database._closed = True
        finally:
            for worker in reversed(workers):
                await worker.close()

    async def write(self, statement: Statement[T], *, durable: bool = False) -> T:
        """Commit ``statement``'s changes and return its value."""
        if self._closed:
            raise StoreError("The store is closed: Bowerbird is stopping.")
        job = _Job(statement)
        self._waiting.append(job)
        try:
            await self._writer.run(self._commit_waiting)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        if isinstance(job.error, sqlite3.Error):
            raise translated(job.error, self.path) from job.error
        if job.error is not None:
            raise job.error
        self._commits += 1
        if durable:
            await self.synced()
        return cast(T, job.value)

    async def synced(self) -> None:
        """Once every write that has returned so far is on the disk. The store goes on working meanwhile."""
        wanted = self._commits
        async with self._disk:
            if self._on_disk >= wanted:
                return
            wanted = self._commits
            try:
                await asyncio.to_thread(_to_disk, self.path)
            except OSError as error:
                raise _unwritten(error, self.path) from error
            self._on_disk = wanted

    async def settled(self) -> None:
        """Once every write asked for before has been committed or has failed, also those of cancelled callers."""
        if self._closed:
            raise StoreError("The store is closed: Bowerbird is stopping.")
        await self._writer.run(lambda db: None)

    async def read(self, statement: Statement[T]) -> T:
        """Return ``statement``'s value from a consistent snapshot; keep it short, long readers stop checkpoints."""
        if self._closed:
            raise StoreError("The store is closed: Bowerbird is stopping.")
        reader = await self._readers.get()
        try:
            return await reader.run(statement)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error
        finally:
            self._readers.put_nowait(reader)

    def _commit_waiting(self, db: sqlite3.Connection) -> None:
        """In the writer's thread: whoever comes first commits for all who wait; the rest find nothing to do."""
        jobs = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if jobs:
            _commit(db, jobs)
