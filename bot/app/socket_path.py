"""Where the daemon's control socket lies, also when the data folder's path is too long for one."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bot.app.lock import FolderLock
from bot.core.errors import StoreError

SOCKET_NAME = "daemon.sock"
POINTER_NAME = "daemon.sock.path"
PATH_BYTES = 100
"""A little below the smallest limit of the systems in use (macOS 104 bytes, Linux 108, both with the closing NUL)."""

_FOLDER_PREFIX = "bowerbird-"


def fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= PATH_BYTES


def socket_of(data_dir: Path) -> Path:
    """Where a daemon with this data folder listens, if it does."""
    direct = data_dir.absolute() / SOCKET_NAME
    if fits(direct):
        return direct
    try:
        return Path((data_dir / POINTER_NAME).read_text(encoding="utf-8").strip() or direct)
    except (OSError, UnicodeDecodeError):
        return direct


class ControlSocket:
    """The bound, listening socket of the lock's owner: 0600, in a folder that is the owner's alone.

    Only the owner of the lock may make one, so a socket file that is already there is a dead process's and is removed.
    """

    def __init__(self, lock: FolderLock, environ: Mapping[str, str] = os.environ) -> None:
        self._data_dir = lock.data_dir
        self._lock = lock
        self._environ = environ
        self.path = Path()

    def open(self) -> socket.socket:
        """Raises ``StoreError`` when no place for the socket can be found. The caller serves it and closes it."""
        if not self._lock.held:
            raise RuntimeError("the control socket belongs to the owner of the data folder's lock")
        self.remove()
        direct = self._data_dir.absolute() / SOCKET_NAME
        self.path = direct if fits(direct) else self._short_path()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            listener.bind(str(self.path))
            listener.listen(64)
        except OSError as error:
            listener.close()
            why = "something else lies there, move it away" if os.path.lexists(self.path) else error.strerror
            raise StoreError(f"The control socket {self.path} cannot be made: {why}.") from error
        finally:
            os.umask(mask)
        listener.setblocking(False)
        return listener

    def remove(self) -> None:
        """Take the socket file away (and its folder, where it has its own), whichever process made it."""
        path = socket_of(self._data_dir)
        if path.name == SOCKET_NAME and path.is_socket():
            path.unlink(missing_ok=True)
        if path.parent != self._data_dir.absolute() and path.parent.name.startswith(_FOLDER_PREFIX):
            try:
                path.parent.rmdir()
            except OSError:
                pass
        (self._data_dir / POINTER_NAME).unlink(missing_ok=True)

    def _short_path(self) -> Path:
        for base in (self._environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
            if not base or not fits(Path(base) / f"{_FOLDER_PREFIX}12345678" / SOCKET_NAME):
                continue
            try:
                path = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=base)) / SOCKET_NAME
                self._write_pointer(path)
            except OSError:
                continue
            return path
        raise StoreError(
            f"The path {self._data_dir} is too long for a socket, and no temporary folder can be used instead."
        )

    def _write_pointer(self, path: Path) -> None:
        pointer = self._data_dir / POINTER_NAME
        fresh = pointer.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{path}\n")
        fresh.replace(pointer)
