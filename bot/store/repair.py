"""Damaged files: noticed before they are used, set aside, and saved row by row as far as they can be read."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.store.database import uri_of
from bot.store.migrations import migrate

log = logging.getLogger(__name__)

_ASIDE: Final = "damaged-"
_MENDED: Final = "mended.db"
_HEADER_BYTES: Final = 100
_OURS: Final = {"inbox", "transcript"}
"""Tables of every version."""
_FAULTS: Final = {sqlite3.SQLITE_CORRUPT: "parts of it cannot be read", sqlite3.SQLITE_NOTADB: "it is no database"}
CHECK_SECONDS: Final = 3.0
"""A sound file of a few hundred megabytes is checked well within this; a larger one only in part."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What was found: where the old file is now (None where it was gone, or empty), how many rows were saved, and whether
    some could not be read."""

    aside: Path | None
    saved: int = 0
    tables_cut: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.aside is None:
            return "The store was gone or empty. A new one was made; what it held can only come from a backup."
        cut = f"; could not be read to their end: {', '.join(self.tables_cut)}" if self.tables_cut else ""
        return f"The store was damaged. It is kept in {self.aside}; {self.saved} rows were saved into a new one{cut}."


def repair(path: Path) -> Loss | None:
    """Check the file at ``path``; if it is damaged, put a new one in its place. None when it is sound or new."""
    found = fault(path, uri_of(path, "rw"))
    if not found:
        return None
    log.error("the store %s is damaged (%s): setting it aside", path.name, found)
    return _replace(path)


def fault(path: Path, uri: str) -> str:
    """What is wrong with the file at ``path``, opened as ``uri`` and looked at for ``CHECK_SECONDS`` at most. "" for a
    sound one, for a first start, and for what the store itself says on opening (held by somebody, unreadable)."""
    if not path.exists() or path.stat().st_size == 0:
        if not path.with_suffix(".born").exists():
            return ""
        return "it is empty" if path.exists() else "it is gone"
    return _checked(uri)


def mark_born(path: Path) -> None:
    """Remember that a store was here, so that an emptied or vanished file is not taken for a first start."""
    path.with_suffix(".born").touch()


def kept_aside(folder: Path) -> list[Path]:
    """The damaged stores that were replaced in this data folder and are still kept, the oldest first."""
    return sorted(path for path in folder.glob(f"{_ASIDE}*") if path.is_dir())


def _checked(uri: str) -> str:
    try:
        db = sqlite3.connect(uri, uri=True, timeout=15)
    except sqlite3.Error:
        return ""  # the store itself says why
    deadline = time.monotonic() + CHECK_SECONDS
    try:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not tables >= _OURS:
            return "it is the database of another program"
        db.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
        return "" if found == "ok" else " ".join(str(found).split())
    except sqlite3.DatabaseError as error:
        return _FAULTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "")
    finally:
        db.close()


def _replace(path: Path) -> Loss:
    aside = path.parent / f"{_ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
    suffix = 0
    while aside.exists():
        suffix += 1
        aside = aside.with_name(f"{aside.name.split('.')[0]}.{suffix}")
    held = [old for end in ("", "-wal", "-shm") if _holds_something(old := path.parent / f"{path.name}{end}")]
    if held:
        aside.mkdir(mode=0o700)
    for old in held:
        old.rename(aside / old.name)
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as fresh:
        migrate(fresh)
        loss = Loss(aside, *_salvage(aside / path.name, fresh)) if held else Loss(None)
    log.error("%s", loss)
    return loss


def _holds_something(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _salvage(damaged: Path, fresh: sqlite3.Connection) -> tuple[int, tuple[str, ...]]:
    if not damaged.exists():  # only its log was left
        return 0, ("everything",)
    tables = [
        row[0]
        for row in fresh.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ]
    saved, cut = 0, []
    with _legible(damaged, fresh) as file, closing(_tolerant(file)) as old:
        for table in tables:
            rows, whole = _copy(old, fresh, table)
            saved += rows
            if not whole:
                cut.append(table)
    return saved, tuple(cut)


def _tolerant(file: Path) -> sqlite3.Connection:
    """With a schema that may be written SQLite also reads a file that is shorter than its header says."""
    db = sqlite3.connect(uri_of(file, "rw"), uri=True)
    db.execute("PRAGMA writable_schema = ON")
    return db


@contextmanager
def _legible(damaged: Path, fresh: sqlite3.Connection) -> Iterator[Path]:
    """The file itself where its header can be read, else a copy for the time being with the header of a new store."""
    with closing(_tolerant(damaged)) as db:
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            mended = None
        except sqlite3.DatabaseError:
            mended = damaged.with_name(_MENDED)
    if mended is None:
        yield damaged
        return
    try:
        yield mended if _with_new_header(damaged, mended, fresh) else damaged
    finally:
        for suffix in ("", "-wal", "-shm"):
            mended.with_name(f"{mended.name}{suffix}").unlink(missing_ok=True)


def _with_new_header(damaged: Path, mended: Path, fresh: sqlite3.Connection) -> bool:
    """Everything in the first 100 bytes is known but for the number of pages, which the file's size tells
    (sqlite.org/fileformat2.html, section 1.3). False where there is no room for the copy."""
    (page_bytes,) = fresh.execute("PRAGMA page_size").fetchone()
    header = bytearray(fresh.serialize()[:_HEADER_BYTES])
    header[18:20] = b"\x02\x02"  # the log beside it, if there is one, counts
    header[28:32] = struct.pack(">I", damaged.stat().st_size // page_bytes)
    header[32:40] = bytes(8)  # no list of free pages
    header[92:96] = header[24:28]
    try:
        for suffix in ("", "-wal"):
            old = damaged.with_name(f"{damaged.name}{suffix}")
            if old.exists():
                shutil.copyfile(old, mended.with_name(f"{mended.name}{suffix}"))
        with mended.open("r+b") as file:
            file.write(header)
    except OSError as error:
        log.error("the damaged store could not be copied to read it: %s", error)
        return False
    return True


def _copy(old: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> tuple[int, bool]:
    """Read forwards until a bad page, then backwards from the end: what lies between is lost."""
    saved, whole = 0, True
    columns = [row[1] for row in fresh.execute(f"PRAGMA table_info({table})")]
    keys = [row[1] for row in sorted(fresh.execute(f"PRAGMA table_info({table})"), key=lambda r: r[5]) if row[5]]
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{key} {direction}" for key in keys or ["rowid"])
        fresh.execute("BEGIN")
        try:
            for row in old.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"):
                saved += fresh.execute(insert, row).rowcount
        except sqlite3.DatabaseError:
            whole = False
        fresh.execute("COMMIT")
        if whole:
            break
    return saved, whole
