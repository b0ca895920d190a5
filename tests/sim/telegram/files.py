"""Files on the platform: what people and the bot sent, by file id and by path."""

from __future__ import annotations

import base64
import hashlib
import itertools
from dataclasses import dataclass

from tests.sim.telegram.nouns import Json, bad

DOWNLOAD_LIMIT_BYTES = 20 * 1024 * 1024
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True, slots=True)
class Stored:
    id: str
    path: str
    content: bytes
    size: int

    def to_json(self) -> Json:
        return {
            "file_id": self.id,
            "file_unique_id": hashlib.sha1(self.id.encode(), usedforsecurity=False).hexdigest()[:15],
            "file_size": self.size,
        }


class Files:
    """``gone`` paths answer 404, as a link does that is older than an hour."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.by_id: dict[str, Stored] = {}
        self.by_path: dict[str, Stored] = {}
        self.gone: set[str] = set()

    def keep(self, content: bytes, folder: str, suffix: str, size: int | None = None) -> Stored:
        """``size`` is what the platform says where that differs from the content, so that tests need no large files."""
        number = next(self._numbers)
        name = f"BQACAgIAAxkBAAI{number:06d}"
        stored = Stored(name, f"{folder}/file_{number}{suffix}", content, len(content) if size is None else size)
        self.by_id[stored.id] = self.by_path[stored.path] = stored
        return stored

    def photo_sizes(self, content: bytes = PIXEL) -> list[Json]:
        """Smallest first, as the platform lists them."""
        return [
            {**self.keep(content, "photos", ".jpg").to_json(), "width": width, "height": height}
            for width, height in ((90, 67), (320, 240), (1280, 960))
        ]

    def document(self, name: str, media_type: str, content: bytes, size: int | None = None) -> Json:
        suffix = f".{name.rpartition('.')[2]}" if "." in name else ""
        stored = self.keep(content, "documents", suffix, size)
        return {**stored.to_json(), "file_name": name, "mime_type": media_type}

    def described(self, file_id: str) -> Json:
        """What getFile answers."""
        stored = self.by_id.get(file_id)
        if stored is None:
            raise bad("wrong file_id or the file is temporarily unavailable")
        if stored.size > DOWNLOAD_LIMIT_BYTES:
            raise bad("file is too big")
        return {**stored.to_json(), "file_path": stored.path}

    def content(self, path: str) -> bytes | None:
        stored = self.by_path.get(path)
        return None if stored is None or path in self.gone else stored.content
