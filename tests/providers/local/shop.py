"""A model file small enough for tests, and the places that offer it: wheels in a folder, and a hub with faults."""

from __future__ import annotations

import asyncio
import hashlib
import random
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.providers.local.catalogue import Piece, Weights

SIZES: Final = (120_000, 120_000, 50_000)
BYTES: Final = b"GGUF" + random.Random(7).randbytes(sum(SIZES) - 4)
SLICES: Final = (BYTES[:120_000], BYTES[120_000:240_000], BYTES[240_000:])


def _piece(number: int, part: bytes) -> Piece:
    member = f"bowerbird_tiny_{number}/data/part.bin"
    return Piece(len(part), hashlib.sha256(part).hexdigest(), f"bowerbird-tiny-{number}", "1.0", member)


TINY: Final = Weights(
    name="tiny",
    title="Tiny",
    licence="MIT",
    file="tiny.gguf",
    size_bytes=len(BYTES),
    sha256=hashlib.sha256(BYTES).hexdigest(),
    url="http://127.0.0.1:1/never",
    pieces=tuple(_piece(number, part) for number, part in enumerate(SLICES, 1)),
)


def make_wheel(folder: Path, number: int, content: bytes, member: str = "") -> Path:
    """The wheel of piece ``number`` with ``content`` in it, good enough for pip."""
    name = f"bowerbird_tiny_{number}"
    info = f"{name}-1.0.dist-info"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/__init__.py", 'raise SystemExit("imported")\n')
        archive.writestr(member or TINY.pieces[number - 1].member, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: bowerbird-tiny-{number}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def make_index(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(SLICES, 1):
        make_wheel(folder, number, part)
    return folder


def from_folder(index: Path) -> tuple[str, ...]:
    """Options that make pip look there and nowhere else."""
    return ("--no-index", "--find-links", str(index))


class Hub:
    """Serves the file by ranges. ``asked`` holds the first byte of every request; the faults are plain attributes:
    ``cut_after`` so many bytes the connection breaks, and the next ``away`` requests then get none."""

    def __init__(self) -> None:
        self.url = ""
        self.body = BYTES
        self.asked: list[int] = []
        self.status = 0
        self.cut_after: int | None = None
        self.away = self._away = 0
        self.ignore_range = False
        self.pause = 0.0
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/{file}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        start = request.http_range.start or 0
        self.asked.append(start)
        if self._away:
            self._away -= 1
            self._abort(request)
            raise asyncio.CancelledError  # nobody is there to be answered
        if self.status:
            return web.Response(status=self.status)
        if self.ignore_range:
            start = 0
        rest = self.body[start:]
        headers = {"Content-Length": str(len(rest))}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
        response = web.StreamResponse(status=206 if start else 200, headers=headers)
        await response.prepare(request)
        sent = 0
        for offset in range(0, len(rest), 10_000):
            chunk = rest[offset : offset + 10_000]
            if self.cut_after is not None and sent + len(chunk) > self.cut_after:
                await asyncio.sleep(0.3)  # what was sent is to arrive first
                self._away = self.away
                self._abort(request)
                return response
            await response.write(chunk)
            sent += len(chunk)
            await asyncio.sleep(self.pause)
        return response

    def _abort(self, request: web.Request) -> None:
        assert request.transport is not None
        request.transport.abort()


@asynccontextmanager
async def registry(index: Path, drops: int) -> AsyncIterator[tuple[str, ...]]:
    """The wheels of ``index`` at a package registry, of which the first ``drops`` downloads break in their middle: the
    options that make pip look there."""

    async def listed(request: web.Request) -> web.Response:
        name = request.match_info["name"].replace("-", "_")
        links = "".join(f'<a href="/files/{file.name}">{file.name}</a>' for file in index.glob(f"{name}-*.whl"))
        return web.Response(text=f"<!doctype html><body>{links}</body>", content_type="text/html")

    async def served(request: web.Request) -> web.StreamResponse:
        nonlocal drops
        content = (index / request.match_info["file"]).read_bytes()
        if not drops:
            return web.Response(body=content, content_type="application/zip")
        drops -= 1
        response = web.StreamResponse(headers={"Content-Length": str(len(content))})
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        await asyncio.sleep(1)  # what was sent is to be seen on the disk
        assert request.transport is not None
        request.transport.abort()
        return response

    app = web.Application()
    app.router.add_get("/simple/{name}/", listed)
    app.router.add_get("/files/{file}", served)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield ("--index-url", f"http://127.0.0.1:{runner.addresses[0][1]}/simple/", "--resume-retries", "0")
    finally:
        await runner.cleanup()
