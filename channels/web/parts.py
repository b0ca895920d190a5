"""The content of an OpenAI message: its words, and the pictures, files and recordings that lie inside it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.attachments.intake import MOST_BYTES, MOST_FILES
from bot.attachments.names import file_name
from bot.core.model import Block, TextBlock
from bot.core.text import storable
from channels.web.refusal import Refused

MOST_CHARS: Final = 4 * 1024 * 1024
"""Of the words of one request; no window of a model is that large."""
_DATA_URL: Final = re.compile(r"data:([^,;]{0,127})(?:;[^,;]{0,127}){0,4};base64,", re.IGNORECASE)
_SOUNDS: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
GONE: Final = ", which is too long ago to be shown"


class Malformed(Exception):
    """What is wrong with the request, in a sentence; ``param`` names the part of it."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.message, self.param = message, param


@dataclass(frozen=True, slots=True)
class Brought:
    """A file that came inside a request, or the ``id`` of one that was uploaded before and may have its ``name`` from there.
    ``label`` is what the words around it call it."""

    label: str
    name: str
    media_type: str
    data: bytes = b""
    id: str = ""
    spoken: bool = False


Part = TextBlock | Brought


class Reader:
    """Reads the contents of one conversation; what is brought along is numbered through it."""

    def __init__(self) -> None:
        self._counts = {"picture": 0, "attachment": 0, "recording": 0}
        self._chars = 0

    def read(self, content: object, param: str) -> tuple[Part, ...]:
        """Raises ``Malformed``, and ``Refused`` where the words of all that was read are too many."""
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            raise Malformed(f"{param}.content must be text or a list of parts.", f"{param}.content")
        parts = tuple(self._part(part, f"{param}.content") for part in content)
        self._chars += sum(len(part.text) for part in parts if isinstance(part, TextBlock))
        if self._chars > MOST_CHARS:
            raise Refused(413, "words_too_long", limit=MOST_CHARS)
        return parts

    def _part(self, part: object, param: str) -> Part:
        match part:
            case {"type": "text", "text": str(text)}:
                return TextBlock(storable(text))
            case {"type": "image_url", "image_url": {"url": str(url)}} | {"type": "image_url", "image_url": str(url)}:
                return self._picture(url, param)
            case {"type": "file", "file": dict(about)}:
                return self._file(about, param)
            case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(format_)}}:
                return self._recording(data, format_, param)
        raise Malformed(f"{param}: only parts of type text, image_url, file and input_audio are understood.", param)

    def _picture(self, url: str, param: str) -> Brought:
        if url[:8].lower().startswith(("http://", "https://")):
            raise Malformed(
                "Pictures must come inside the request, as data: addresses; I fetch nothing from http(s) addresses.",
                param,
            )
        media_type, data = _inside(url, param)
        if not media_type.startswith("image/"):
            raise Malformed("A picture must come as data:image/…;base64,….", param)
        label = self._label("picture")
        return Brought(label, label, media_type, data)

    def _file(self, about: Mapping[str, Any], param: str) -> Brought:
        name, data, id_ = (about.get(key) for key in ("filename", "file_data", "file_id"))
        if (name is not None and not isinstance(name, str)) or (data is None) == (id_ is None):
            raise Malformed(f"{param}: a file has file_data (and a filename), or a file_id.", param)
        label = self._label("attachment")
        called = file_name(name) if name else label
        if data is None:
            return Brought(label, called if name else "", "", id=_id(id_, param))
        if not isinstance(data, str):
            raise Malformed(f"{param}: file_data must be text in base64.", param)
        media_type, content = _inside(data, param) if data[:5].lower() == "data:" else ("", _decoded(data, param))
        return Brought(called, called, media_type, content)

    def _recording(self, data: str, format_: str, param: str) -> Brought:
        if format_ not in _SOUNDS:
            raise Malformed(f"{param}: input_audio has the format wav or mp3.", param)
        name = f"{self._label('recording')}.{format_}"
        return Brought(name, name, _SOUNDS[format_], _decoded(data, param), spoken=True)

    def _label(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]}"


def newest(parts: Sequence[Part], param: str) -> tuple[str, tuple[Brought, ...]]:
    """The words and the files of the message that is to be answered. Where words stand between files, they show where."""
    files = tuple(part for part in parts if isinstance(part, Brought))
    if len(files) > MOST_FILES:
        raise Malformed(f"{param}: a message may have up to {MOST_FILES} files.", param)
    mixed = sum(isinstance(part, TextBlock) for part in parts) > 1
    words = (part.text if isinstance(part, TextBlock) else f"[{part.label}]" * mixed for part in parts)
    return "\n".join(word for word in words if word), files


def earlier(parts: Sequence[Part], kept: Sequence[Brought]) -> tuple[Block, ...]:
    """A message of the history. Its files go along with the newest message; here stands which they are."""
    return tuple(
        part if isinstance(part, TextBlock) else TextBlock(f"[{part.label}{'' if part in kept else GONE}]")
        for part in parts
    )


def _inside(url: str, param: str) -> tuple[str, bytes]:
    """The media type and the content of a data: address."""
    found = _DATA_URL.match(url)
    if found is None:
        raise Malformed("What comes inside a request must be an address that begins with data:…;base64,.", param)
    return found[1].strip().lower(), _decoded(url[found.end() :], param)


def _decoded(text: str, param: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed(f"{param}: this is not valid base64.", param) from None
    if not content:
        raise Malformed(f"{param}: a file is empty.", param)
    if len(content) > MOST_BYTES:
        raise Malformed(f"{param}: a file may have up to {MOST_BYTES // (1024 * 1024)} MB.", param)
    return content


def _id(id_: object, param: str) -> str:
    if not isinstance(id_, str):
        raise Malformed(f"{param}: file_id must be text.", param)
    return id_
