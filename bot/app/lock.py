"""Who owns a data folder: one process at a time, for as long as it lives."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.core.errors import AlreadyRunning, StoreError, StoreFull, StoreReadOnly

LOCK_NAME = "daemon.lock"


def holder(data_dir: Path) -> int | None:
    """The process id written in the lock file. It may be out of date: only taking the lock tells whether it is held."""
    try:
        text = (data_dir / LOCK_NAME).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    return int(text) if text.isascii() and text.isdigit() else None


class FolderLock:
    """An advisory lock on ``daemon.lock``; the kernel lets go of it when the process dies, however it dies.

    The file stays behind (removing it would let two processes lock two different files of the same name) and holds the
    owner's process id for people and messages only. The descriptor is not inherited by programs the daemon starts, so
    none of them can keep the folder locked after its death.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> None:
        """Make the folder if need be and lock it. Raises ``AlreadyRunning``, ``StoreReadOnly``, ``StoreError``."""
        if self._descriptor is not None:
            return
        descriptor = self._opened()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(descriptor)
            raise self._refused(error) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go; harmless when the lock is not held."""
        if self._descriptor is None:
            return
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _opened(self) -> int:
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self.data_dir / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> Exception:
        folder = self.data_dir
        match error.errno:
            case errno.EWOULDBLOCK:
                owner = holder(folder)
                who = f"process {owner}" if owner else "another process"
                return AlreadyRunning(
                    f"Bowerbird already runs with the data folder {folder} ({who}). Stop that one first, or set another data_dir."
                )
            case errno.EACCES | errno.EPERM | errno.EROFS:
                return StoreReadOnly(
                    f"The data folder {folder} cannot be written. Give this user write access, or set another data_dir."
                )
            case errno.ENOSPC | errno.EDQUOT:
                return StoreFull(f"No room is left on the disk of the data folder {folder}.")
            case errno.EEXIST | errno.ENOTDIR:
                return StoreError(f"{folder} is not a folder; data_dir must name one.")
            case errno.ENOENT | errno.ENAMETOOLONG | errno.ELOOP | errno.EINVAL:
                return StoreError(f"The data folder {folder} cannot be made there. Set another data_dir.")
            case _:
                return StoreError(f"The data folder {folder} cannot be locked: {os.strerror(error.errno or 0)}.")
