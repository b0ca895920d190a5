"""Files in the data folder, each kept once under the hash of its content."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bot.core.errors import StoreError, StoreFull, StoreReadOnly
from bot.core.view import OutFile

FOLDER: Final = "files"
ARRIVALS: Final = "uploads"
_KEPT: Final = re.compile(rf"{FOLDER}/([0-9a-f]{{2}})/\1[0-9a-f]{{62}}")
"""How the path of a kept file looks below the data folder."""


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A kept file: since when nobody has kept or asked for it again (Unix time), and its size. ``draft``: a death left it
    half written."""

    path: str
    size_bytes: int
    since: float
    draft: bool = False


class Files:
    """Implements ``bot.core.ports.Shelf``. Paths are below the data folder, so that they still hold when it is moved.
    Raises ``StoreError``."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._lock = threading.Lock()
        """Held while a file is found to be there, and while one is removed: what was just asked for stays."""

    def arrivals(self) -> Path:
        folder = self._data_dir / ARRIVALS
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unwritten(error, folder) from error
        return folder

    async def keep(self, content: bytes) -> str:
        """The path under which the content is on the disk from now on."""
        return await asyncio.to_thread(self._keep, content)

    async def adopt(self, arrived: Path, digest: str) -> str | None:
        return await asyncio.to_thread(self._adopt, arrived, digest)

    async def read(self, path: str) -> bytes | None:
        """None for a file that is no longer there."""
        place = self.place(path)
        return await asyncio.to_thread(_read, place) if place is not None else None

    def located(self, files: Iterable[OutFile]) -> tuple[OutFile, ...]:
        """The files with the paths under which whoever shows them finds them."""
        return tuple(replace(file, path=str(place)) for file in files if (place := self.place(file.path)) is not None)

    def place(self, path: str) -> Path | None:
        """Where a kept file lies; None for what is no path of one."""
        return self._data_dir / path if _KEPT.fullmatch(path) else None

    async def listed(self) -> list[OnDisk]:
        """Everything that is kept, in no order."""
        return await asyncio.to_thread(lambda: list(self._listed()))

    async def remove(self, file: OnDisk) -> bool:
        """Unless somebody has asked for it since it was listed."""
        return await asyncio.to_thread(self._remove, file)

    def _keep(self, content: bytes) -> str:
        path = _path(hashlib.sha256(content).hexdigest())
        place = self._data_dir / path
        if not self._is_there(place, len(content)):
            with self._translated():
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(place, content)
        return path

    def _adopt(self, arrived: Path, digest: str) -> str | None:
        path = _path(digest)
        place = self._data_dir / path
        if self._is_there(place, _size_of(arrived)):
            with suppress(OSError):
                arrived.unlink()
            return path
        with self._translated():
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                os.utime(arrived)
                os.replace(arrived, place)
            except FileNotFoundError:
                return None
            to_disk(place.parent)
        return path

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritten(error, self._data_dir / FOLDER) from error

    def _is_there(self, place: Path, size: int | None) -> bool:
        with self._lock:
            try:
                if size is not None and place.stat().st_size != size:
                    return False
                os.utime(place)
            except OSError:
                return False
            return True

    def _listed(self) -> Iterator[OnDisk]:
        for folder in sorted((self._data_dir / FOLDER).glob("??")):
            with suppress(OSError):
                for place in folder.iterdir():
                    path = f"{FOLDER}/{folder.name}/{place.name}"
                    about = place.stat()
                    yield OnDisk(path, about.st_size, about.st_mtime, draft=_KEPT.fullmatch(path) is None)

    def _remove(self, file: OnDisk) -> bool:
        place = self._data_dir / file.path
        with self._lock, suppress(OSError):
            if place.stat().st_mtime <= file.since:
                place.unlink()
                return True
        return False


def unwritten(error: OSError, folder: Path) -> StoreError:
    """What a person can do about a file that could not be written below ``folder``."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(f"The disk that holds {folder} is full: free some space.")
    return StoreReadOnly(
        f"{folder} cannot be written ({error.strerror}): give the user that runs Bowerbird write access."
    )


def to_disk(folder: Path) -> None:
    """The names in the folder are on the disk from now on."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _path(digest: str) -> str:
    return f"{FOLDER}/{digest[:2]}/{digest}"


def _size_of(place: Path) -> int | None:
    try:
        return place.stat().st_size
    except OSError:
        return None


def _write(place: Path, content: bytes) -> None:
    """Whole or not at all, whatever ends the process."""
    handle, draft = tempfile.mkstemp(dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except OSError:
        return None
