"""Files in the data folder, each kept once under the hash of its content."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.core.errors import StoreFull, StoreReadOnly
from bot.core.view import OutFile

FOLDER: Final = "files"
_KEPT: Final = re.compile(rf"{FOLDER}/([0-9a-f]{{2}})/\1[0-9a-f]{{62}}")
"""How the path of a kept file looks below the data folder."""


class Files:
    """Paths are below the data folder, so that they still hold when it is moved. Raises ``StoreError``."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    async def keep(self, content: bytes) -> str:
        """The path under which the content is on the disk from now on."""
        return await asyncio.to_thread(self._keep, content)

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

    def _keep(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        path = f"{FOLDER}/{digest[:2]}/{digest}"
        place = self._data_dir / path
        if place.exists() and place.stat().st_size == len(content):
            return path
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(place, content)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StoreFull(f"The disk that holds {self._data_dir} is full: free some space.") from error
            raise StoreReadOnly(
                f"{place.parent} cannot be written ({error.strerror}): give the user that runs Bowerbird write access."
            ) from error
        return path


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
