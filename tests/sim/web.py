"""The web at its worst, on loopback: pages that are scripted byte by byte, hosts whose names lead somewhere else each time
they are looked up, bodies that never end or grow when unpacked."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

Say = Callable[[asyncio.StreamWriter], Awaitable[None]]
STATUS = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    307: "Temporary Redirect",
    308: "Permanent",
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One request: header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


class WebSim:
    """``async with WebSim() as site:``; ``site.pages[path]`` says what is at a path, ``site.heard`` what was asked."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        tunnels: ssl.SSLContext | None = None,
    ) -> None:
        """``tunnels``: it is a proxy too, and every server that is asked for through it."""
        self.host, self.port, self._tls, self._tunnels = host, port, tls, tunnels
        self.pages: dict[str, Say] = {}
        self.heard: list[Heard] = []
        self.hung_up = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()

    def url(self, path: str = "/", host: str = "") -> str:
        return f"{'https' if self._tls else 'http'}://{host or self.host}:{self.port}{path}"

    def page(self, path: str, body: bytes | str, media_type: str = "text/html; charset=utf-8", **headers: str) -> None:
        """An ordinary page. Header names are written with an underscore for each hyphen."""
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = answer(200, content, {"Content-Type": media_type, **_headers(headers)})

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.pages[path] = answer(status, b"", {"Location": to})

    def status(self, path: str, status: int, **headers: str) -> None:
        self.pages[path] = answer(status, b"<h1>no</h1>", {"Content-Type": "text/html", **_headers(headers)})

    @property
    def asked(self) -> list[str]:
        return [one.path for one in self.heard]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            heard = await _request(reader)
            if heard.method == "CONNECT" and self._tunnels is not None:
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await writer.drain()
                await writer.start_tls(self._tunnels)
                heard = await _request(reader)
            self.heard.append(heard)
            path = heard.path
            say = self.pages.get(path) or self.pages.get(path.partition("?")[0]) or answer(404, b"nothing here")
            await say(writer)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            self._open.discard(writer)
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Heard:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Heard(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


def _headers(named: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in named.items()}


def answer(status: int, body: bytes, headers: dict[str, str] | None = None) -> Say:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, {"Content-Length": str(len(body)), **(headers or {})}) + body)
        await writer.drain()

    return say


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {STATUS.get(status, 'Status')}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode("utf-8", "surrogateescape")


def raw(data: bytes) -> Say:
    """Whatever the bytes are."""

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return say


def endless(media_type: str = "text/html", packing: str = "", status: int = 200, **headers: str) -> Say:
    """A body without an end, as fast as it is taken; with ``packing`` it is empty once unpacked."""

    async def say(writer: asyncio.StreamWriter) -> None:
        named = {"Content-Encoding": packing} if packing else {}
        writer.write(head(status, {"Content-Type": media_type, **named, **_headers(headers)}))
        piece = gzip.compress(b"") * 2000 if packing else b"<p>and on it goes</p>\n" * 2000
        while True:
            writer.write(piece)
            await writer.drain()

    return say


def drip(every: float = 0.05, media_type: str = "text/html") -> Say:
    """A byte now and then: no silence is ever long."""

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Content-Type": media_type}))
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(every)

    return say


def silent() -> Say:
    """Not even a status."""

    async def say(writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            await asyncio.sleep(0.05)

    return say


def bomb(megabytes: int, packing: str = "gzip") -> bytes:
    """That many zeros, packed to about a thousandth."""
    packer = zlib.compressobj(9, wbits=31 if packing == "gzip" else 15)
    block = bytes(1_000_000)
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


class Names:
    """Implements ``bot.net.guarded.Lookup``: each look-up of a host takes the next of its answers, the last for ever."""

    def __init__(self, **answers: Sequence[str | Sequence[str]]) -> None:
        self._answers = {host.replace("_", "."): list(given) for host, given in answers.items()}
        self.asked: list[str] = []

    @property
    def known(self) -> list[str]:
        return list(self._answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if not answers:
            raise OSError("no such name")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [found] if isinstance(found, str) else found
