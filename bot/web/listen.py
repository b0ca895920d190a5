"""Opening listening sockets: knows why one could not be opened and says so in a sentence a person can act on."""

from __future__ import annotations

import asyncio
import errno
import os
import socket

from bot.core.errors import ConfigError

BACKLOG = 512
UNACKNOWLEDGED_MS = 60_000
"""A peer that has not acknowledged anything for so long is gone, although nobody said so (Linux, ``tcp(7)``)."""


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
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
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
