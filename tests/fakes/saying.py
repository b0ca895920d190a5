"""A server that stands where another was meant to: it says the same to everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PAGE = b"<!doctype html><title>Welcome</title>"


@asynccontextmanager
async def saying(body: bytes, status: str = "200 OK", key: str = "") -> AsyncIterator[str]:
    """Its address. Where there is a ``key``, whoever comes without it gets a 401."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        said = status if f"Bearer {key}".encode() in head or not key else "401 Unauthorized"
        kind = "text/html" if body.startswith(b"<") else "application/json"
        writer.write(
            f"HTTP/1.1 {said}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
        )
        writer.write(body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
