"""A server in a thread of its own that does what a test's function says with each connection, whatever the client's loop does."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Line:
    """One connection, the ``number``-th from 0."""

    def __init__(self, sock: socket.socket, number: int, heard: list[str]) -> None:
        self._sock, self.number, self._heard = sock, number, heard

    def hear(self) -> None:
        """Read one request whole; nothing is noted of one that does not come."""
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        while length and len(body) < int(length[1]):
            body += self._more()
        self._heard.append(f"{self.number} {head.split(b' ', 1)[0].decode()} {body.decode()}".strip())

    def say(self, data: bytes) -> None:
        self._sock.sendall(data)

    def reset(self) -> None:
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._sock.close()

    def _more(self) -> bytes:
        data = self._sock.recv(65536)
        if not data:
            raise ConnectionError
        return data


class Blunt:
    """``heard`` are the requests that were read, as "<connection> <method> <body>"."""

    def __init__(self, talk: Callable[[Line], None]) -> None:
        self._talk, self.heard = talk, list[str]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._number = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(sock, self._number), daemon=True).start()
            self._number += 1

    def _one(self, sock: socket.socket, number: int) -> None:
        with sock:
            try:
                self._talk(Line(sock, number, self.heard))
            except OSError:
                pass


@contextmanager
def blunt(talk: Callable[[Line], None]) -> Iterator[Blunt]:
    server = Blunt(talk)
    try:
        yield server
    finally:
        server.close()
