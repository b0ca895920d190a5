"""Forms as servers read them: against aiohttp's own reader."""

from __future__ import annotations

import asyncio

from aiohttp import StreamReader
from aiohttp.base_protocol import BaseProtocol
from aiohttp.multipart import BodyPartReader, MultipartReader
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.net.multipart import FormFile, multipart


async def read(body: bytes, kind: str) -> list[tuple[str | None, str | None, str, bytes]]:
    """Field, file name, type and content of each part."""
    loop = asyncio.get_running_loop()
    stream = StreamReader(BaseProtocol(loop), 2**20, loop=loop)
    stream.feed_data(body)
    stream.feed_eof()
    found = []
    async for part in MultipartReader({"Content-Type": kind}, stream):
        assert isinstance(part, BodyPartReader)
        found.append((part.name, part.filename, part.headers.get("Content-Type", ""), bytes(await part.read())))
    return found


async def test_fields_and_files_arrive_as_they_are() -> None:
    noise = bytes(range(256)) * 300 + b"\r\n--"
    files = [FormFile("photo", "图 one.png", "image/png", noise), FormFile("b", "b", "", b"x")]
    assert await read(*multipart({"chat_id": "7", "text": "你好\r\n--x"}, files)) == [
        ("chat_id", None, "", b"7"),
        ("text", None, "", "你好\r\n--x".encode()),
        ("photo", "图 one.png", "image/png", noise),
        ("b", "b", "application/octet-stream", b"x"),
    ]


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40), st.text(max_size=20), st.binary(max_size=100))
async def test_no_name_breaks_out_of_its_header(name: str, kind: str, content: bytes) -> None:
    [part] = await read(*multipart({}, [FormFile("file", name or "x", kind, content)]))
    assert part[0] == "file" and part[3] == content
