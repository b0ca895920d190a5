"""Files that have arrived and wait to be put into a message: on the disk whole before anybody is told, gone after an hour."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import mimetypes
import os
import re
import secrets
import shutil
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final

from bot.attachments.intake import MOST_BYTES
from bot.attachments.names import file_name
from bot.core.errors import StoreFull
from bot.core.ports import Clock, Shelf
from bot.store.files import to_disk, unwritten
from channels.web.refusal import Refused

log = logging.getLogger(__name__)

AT_ONCE: Final = 16
"""Uploads on their way, whoever sends them."""
WAITING_BYTES: Final = 512 * 1024 * 1024
"""What may wait on the disk for its message: two messages as full as they may be, and an upload that is tried again."""
SPARE_BYTES: Final = 64 * 1024 * 1024
"""What an upload leaves of the disk, so that messages can still be stored."""
WAIT_SECONDS: Final = 3600.0
KNOWN_SECONDS: Final = 7 * 24 * 3600.0
"""How long a file that went into a message is known by its id: a client that got no answer sends the same message again."""
BROKEN_SECONDS: Final = 900.0
"""An upload that did not grow for so long was cut off by the end of the process."""
PIECE_BYTES: Final = 256 * 1024

_ID: Final = re.compile(r"file-[0-9a-f]{24}")
_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}/[a-z0-9][a-z0-9.+-]{0,63}")
_UNTOLD: Final = ("application/octet-stream", "application/x-www-form-urlencoded", "")
"""What clients say that were not told what they send."""


@dataclass(frozen=True, slots=True)
class Upload:
    """``at`` is when it had arrived (Unix time), ``digest`` its SHA-256."""

    id: str
    name: str
    media_type: str
    size: int
    digest: str
    at: float


@dataclass(frozen=True, slots=True)
class Sent:
    """An upload that belongs to a message now; ``path`` is where it is kept."""

    upload: Upload
    path: str


class Uploads:
    """Nothing a visitor says becomes a path: ids are made here, and content lies under its hash."""

    def __init__(self, shelf: Shelf, clock: Clock) -> None:
        self._shelf, self._clock = shelf, clock
        self._arriving = 0

    async def take(self, name: str, media_type: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Raises ``Refused`` for what is too large, empty or too much, and ``StoreError`` where it cannot be stored."""
        if self._arriving >= AT_ONCE:
            raise Refused(503, "files_busy")
        name = file_name(name)
        self._arriving += 1
        try:
            await asyncio.to_thread(self._look_for_room)
            async with self._draft() as draft, aclosing(_gathered(pieces)) as gathered:
                async for piece in gathered:
                    if draft.size + len(piece) > MOST_BYTES:
                        raise Refused(413, "file_too_large", name=name, limit=MOST_BYTES // (1024 * 1024))
                    await asyncio.to_thread(draft.write, piece)
                if not draft.size:
                    raise Refused(400, "file_empty", name=name)
                kind = typed(media_type, name)
                return await asyncio.to_thread(draft.finish, name, kind, self._clock.now())
        finally:
            self._arriving -= 1

    async def use(self, ids: Sequence[str]) -> tuple[Sent, ...]:
        """The files for a message that is about to be stored, in this order; they stay. Using them again is no harm.

        Raises ``Refused`` for an id that is not known (any more).
        """
        sent = []
        for id_ in ids:
            upload = await asyncio.to_thread(self._known, id_)
            path = await self._shelf.adopt(self._place(id_), upload.digest) if upload is not None else None
            if upload is None or path is None:
                raise Refused(410, "file_unknown")
            sent.append(Sent(upload, path))
        return tuple(sent)

    async def drop(self, id_: str) -> bool:
        """Its sender does not want to send it; False where there is no such file, or a message has it."""
        return _ID.fullmatch(id_) is not None and await asyncio.to_thread(self._dropped, id_)

    async def sweep(self) -> None:
        """Remove what has waited too long and what no upload will ever finish."""
        removed = await asyncio.to_thread(self._swept, self._clock.now())
        if removed:
            log.info("%d files that went into no message are removed", removed)

    @asynccontextmanager
    async def _draft(self) -> AsyncIterator[_Draft]:
        draft = _Draft(self._shelf.arrivals(), f"file-{secrets.token_hex(12)}")
        try:
            yield draft
        finally:
            await asyncio.to_thread(draft.close)

    def _look_for_room(self) -> None:
        folder = self._shelf.arrivals()
        sizes = [about.st_size for about in map(_about, folder.iterdir()) if about is not None]
        coming = self._arriving * MOST_BYTES
        if sum(sizes) + coming > WAITING_BYTES:
            raise Refused(503, "files_waiting")
        if shutil.disk_usage(folder).free < SPARE_BYTES + coming:
            raise StoreFull(f"The disk that holds {folder} is full: free some space.")

    def _place(self, id_: str, ending: str = "") -> Path:
        return self._shelf.arrivals() / f"{id_}{ending}"

    def _known(self, id_: str) -> Upload | None:
        if not _ID.fullmatch(id_):
            return None
        try:
            return Upload(**json.loads(self._place(id_, ".json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def _dropped(self, id_: str) -> bool:
        try:
            self._place(id_).unlink()
        except OSError:
            return False
        with suppress(OSError):
            self._place(id_, ".json").unlink()
        return True

    def _swept(self, now: float) -> int:
        removed = 0
        for place in self._shelf.arrivals().iterdir():
            about = _about(place)
            if about is not None and now - about.st_mtime > self._stays(place):
                place.unlink(missing_ok=True)
                if not place.suffix:
                    place.with_suffix(".json").unlink(missing_ok=True)
                removed += place.suffix != ".json"
        return removed

    def _stays(self, place: Path) -> float:
        match place.suffix:
            case ".part":
                return BROKEN_SECONDS
            case ".json" if not place.with_suffix("").exists():
                return KNOWN_SECONDS
        return WAIT_SECONDS


class _Draft:
    """A file that is being written, for threads one after the other; closed, it is gone unless it was finished."""

    def __init__(self, folder: Path, id_: str) -> None:
        self._folder, self._id = folder, id_
        self._part = folder / f"{id_}.part"
        self._lock = threading.Lock()
        """A thread that still writes when its upload is cancelled must not find its file closed and another in its place."""
        self._hash = hashlib.sha256()
        self._file: BinaryIO | None = None
        self._closed = self._finished = False
        self.size = 0

    def write(self, piece: bytes) -> None:
        with self._lock, self._translated():
            if self._closed:
                return
            if self._file is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                self._file = os.fdopen(os.open(self._part, flags, 0o600), "wb", buffering=0)
            self._hash.update(piece)
            self.size += len(piece)
            rest = memoryview(piece)
            while rest:
                rest = rest[self._file.write(rest) :]

    def finish(self, name: str, media_type: str, now: float) -> Upload:
        """On the disk, under its id, with what is known of it beside it."""
        upload = Upload(self._id, name, media_type, self.size, self._hash.hexdigest(), now)
        record = self._folder / f"{self._id}.json.part"
        with self._lock, self._translated():
            assert self._file is not None and not self._closed, "something was written and nobody gave up"
            os.fsync(self._file.fileno())
            with record.open("wb") as file:
                file.write(json.dumps(asdict(upload)).encode())
                file.flush()
                os.fsync(file.fileno())
            for place in (self._part, record):
                os.utime(place, (now, now))
                os.replace(place, place.with_suffix(""))
            to_disk(self._folder)
            self._finished = True
        return upload

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()
            if not self._finished:
                for ending in (".part", "", ".json.part", ".json"):
                    with suppress(OSError):
                        (self._folder / f"{self._id}{ending}").unlink()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritten(error, self._folder) from error


async def _gathered(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Pieces that are worth a walk to the disk."""
    gathered = bytearray()
    async for piece in pieces:
        gathered += piece
        if len(gathered) >= PIECE_BYTES:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def typed(claimed: str, name: str) -> str:
    """The media type in its plain form: as the sender has it, or by the name where the sender does not say."""
    plain = claimed.lower().partition(";")[0].strip()
    if plain in _UNTOLD or not _TYPE.fullmatch(plain):
        return mimetypes.guess_type(name)[0] or _UNTOLD[0]
    return plain


def _about(place: Path) -> os.stat_result | None:
    try:
        return place.stat()
    except OSError:
        return None
