"""One response on its connection: bytes in chosen pieces, a clean end, or a lost connection."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import Literal

from aiohttp import web

from tests.sim.llm.ledger import Seen

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, zero seconds: close sends RST


class Wire:
    """`split` cuts everything written into pieces of that many bytes, each its own HTTP chunk."""

    def __init__(self, request: web.Request, seen: Seen, split: int | None) -> None:
        self._request = request
        self._seen = seen
        self._split = split
        self._response: web.StreamResponse | None = None

    @property
    def opened(self) -> bool:
        return self._response is not None

    async def open(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        response = web.StreamResponse(status=status, headers={"Content-Type": content_type, **headers})
        response.enable_chunked_encoding()
        self._response, self._seen.status = response, status
        await response.prepare(self._request)

    async def send(self, data: bytes) -> None:
        assert self._response is not None, "send before open"
        size = self._split or max(len(data), 1)
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            await self._response.write(piece)
            self._seen.sent_bytes += len(piece)
            if self._split:
                await asyncio.sleep(0)

    async def end(self) -> web.StreamResponse:
        assert self._response is not None, "end before open"
        await self._response.write_eof()
        return self._response

    def lose(self, how: Literal["rst", "fin"]) -> web.StreamResponse:
        """Cut the connection. What was written before is already with the client's kernel on loopback."""
        transport = self._request.transport
        if transport is not None:
            if how == "fin":
                transport.close()
            else:
                sock: socket.socket = transport.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                transport.abort()
        return self._response or web.Response()
