"""Opening listening sockets: knows why one could not be opened and says so in a sentence a person can act on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bot.core.errors import AlreadyRunning, ConfigError

BACKLOG = 512
LONGEST_SOCKET_PATH_BYTES = 100
"""``sun_path`` holds 108 bytes on Linux, 104 on the BSDs and macOS, the closing zero included."""


async def tcp(host: str, port: int, key: str) -> list[socket.socket]:
    """Bound, listening sockets for every address ``host`` stands for. Port 0 picks one free port for all of them.

    ``key`` is the dotted path of the section that named host and port; it stands in the ``ConfigError``.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{host!r} is not a host name or address of this machine", key=f"{key}.host") from error
    opened: list[socket.socket] = []
    try:
        for family, _, _, _, where in dict.fromkeys(found):
            chosen = opened[0].getsockname()[1] if opened else port
            one = _bound(family, (where[0], chosen, *where[2:]))
            if one is not None:
                opened.append(one)
        if not opened:
            raise OSError(errno.EADDRNOTAVAIL, "no address could be used")
        for one in opened:
            one.listen(BACKLOG)
    except OSError as error:
        for one in opened:
            one.close()
        raise _explained(error, host, port, key) from error
    return opened


def _bound(family: int, where: tuple[object, ...]) -> socket.socket | None:
    """None where the machine does not have this kind of address at all (IPv6 switched off)."""
    try:
        one = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return None
    try:
        one.setblocking(False)
        if os.name == "posix":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(where)
    except OSError as error:
        one.close()
        if family == socket.AF_INET6 and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        raise
    return one


def _explained(error: OSError, host: str, port: int, key: str) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError(
            f"port {port} on {host} is in use by another program: stop that program or choose another port",
            key=f"{key}.port",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return ConfigError(f"this account may not listen on port {port}: choose a port above 1023", key=f"{key}.port")
    if error.errno == errno.EADDRNOTAVAIL:
        return ConfigError(f"{host} is not an address of this machine", key=f"{key}.host")
    return ConfigError(f"cannot listen on {host} port {port} (error {error.errno})", key=f"{key}.port")


def unix(path: Path) -> socket.socket:
    """A listening Unix socket at ``path`` that only this account can open (0600). A dead socket there is replaced.

    Raises ``AlreadyRunning`` when somebody answers at ``path``, ``ConfigError`` when it cannot be created.
    """
    _clear(path)
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        one.setblocking(False)
        with short_path(path) as name:
            one.bind(name)
            os.chmod(name, 0o600)
            one.listen(BACKLOG)
    except OSError as error:
        one.close()
        raise ConfigError(f"cannot create the socket {path.name} in {path.parent}: {error.strerror}") from error
    return one


def _clear(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} is in the way of the daemon's socket: move it elsewhere")
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with probe, short_path(path) as name:
        probe.settimeout(1.0)
        try:
            probe.connect(name)
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise AlreadyRunning(f"another daemon answers at {path}")


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """A name for ``path`` that fits into a socket address, good for binding and for connecting.

    A longer path is reached through a link to its folder in the system's temporary folder, which is removed again:
    the socket itself lies where it was asked for.
    """
    plain = os.fspath(path.absolute())
    if len(os.fsencode(plain)) <= LONGEST_SOCKET_PATH_BYTES:
        yield plain
        return
    root = None if sys.platform == "win32" or len(tempfile.gettempdir()) < 40 else "/tmp"
    with tempfile.TemporaryDirectory(prefix="bb", dir=root) as folder:
        link = os.path.join(folder, "d")
        os.symlink(os.path.dirname(plain), link)
        try:
            yield os.path.join(link, path.name)
        finally:
            os.unlink(link)
