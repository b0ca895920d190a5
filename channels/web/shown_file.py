"""A file as the pages know it: its name, its size, and whether there is something to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bot.attachments.kinds import HEAD_BYTES, Kind, kind_of
from bot.core.ports import Shelf
from bot.core.transcript import KeptFile
from bot.core.view import OutFile


@dataclass(frozen=True, slots=True)
class ShownFile:
    """``place`` is where it lies ("" for one that is not here any more), ``picture`` the JPEG that was made of it before
    ("" where none was), ``size`` in bytes."""

    name: str
    media_type: str
    place: str = ""
    picture: str = ""
    size: int = 0
    is_picture: bool = False

    def fields(self, path: str, query: Mapping[str, object]) -> dict[str, Any]:
        """For a frame. The page gets it at ``path`` with ``query``, and its picture there with ``picture=1`` besides."""
        seen = bool(self.picture or (self.is_picture and self.place))
        return {
            "name": self.name,
            "media_type": self.media_type,
            "size": self.size,
            "href": _address(path, query) if self.place else "",
            "picture": _address(path, {**query, "picture": 1}) if seen else "",
        }


def outgoing(file: OutFile) -> ShownFile:
    """A file of a view, which says where it lies."""
    return _looked_at(ShownFile(file.name, file.media_type), Path(file.path))


def told(file: OutFile, shelf: Shelf) -> ShownFile:
    """A file of an answer as the transcript has it."""
    return _looked_at(ShownFile(file.name, file.media_type), shelf.place(file.path))


def attached(file: KeptFile, shelf: Shelf) -> ShownFile:
    """A file of a person's message."""
    picture = shelf.place(file.picture)
    seen = str(picture) if picture is not None and picture.is_file() else ""
    return _looked_at(ShownFile(file.name, file.media_type, picture=seen), shelf.place(file.path))


def _looked_at(file: ShownFile, place: Path | None) -> ShownFile:
    try:
        if place is None:
            return file
        size = place.stat().st_size
        with place.open("rb") as content:
            head = content.read(HEAD_BYTES)
    except OSError:
        return file
    kind = kind_of(head, file.name, file.media_type)
    return ShownFile(file.name, file.media_type, str(place), file.picture, size, kind is Kind.PICTURE)


def _address(path: str, query: Mapping[str, object]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
