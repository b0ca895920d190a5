"""What a file is, by its first bytes; what somebody calls it only counts where those leave it open."""

from __future__ import annotations

import enum
from typing import Final

HEAD_BYTES: Final = 4096


class Kind(enum.StrEnum):
    """``OFFICE`` is any archive of XML (docx, xlsx, pptx, odt, ods, odp), ``OLD_OFFICE`` what came before it."""

    PICTURE = "picture"
    PDF = "pdf"
    OFFICE = "office"
    OLD_OFFICE = "old_office"
    PAGE = "page"
    TEXT = "text"
    SOUND = "sound"
    OTHER = "other"


_PICTURES: Final = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
_PICTURE_BRANDS: Final = (b"avif", b"avis", b"heic", b"heix", b"heif", b"mif1", b"msf1")
_SOUNDS: Final = (b"OggS", b"ID3", b"fLaC", b"#!AMR")
_SOUND_BRANDS: Final = (b"M4A ", b"M4B ", b"F4A ")
_UNICODE_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_PAGES: Final = (b"<!doctype html", b"<html")
_PAGE_NAMES: Final = (".html", ".htm", ".xhtml")
SOUND_ENDINGS: Final = {
    "audio/ogg": ".ogg",
    "audio/opus": ".ogg",
    "audio/mpeg": ".mp3",
    "audio/mp3": ".mp3",
    "audio/mp4": ".m4a",
    "audio/m4a": ".m4a",
    "audio/x-m4a": ".m4a",
    "audio/aac": ".m4a",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/wave": ".wav",
    "audio/webm": ".webm",
    "audio/flac": ".flac",
}
"""Services that write speech down tell formats by the ending of the name."""


def kind_of(head: bytes, name: str, media_type: str) -> Kind:
    """``head`` are the first ``HEAD_BYTES`` of the file."""
    name, claimed = name.lower(), media_type.lower().partition(";")[0].strip()
    brand = head[8:12] if head[4:8] == b"ftyp" else b""
    if head.startswith(_PICTURES) or brand in _PICTURE_BRANDS or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return Kind.PICTURE
    if b"%PDF-" in head[:1024]:
        return Kind.PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Kind.OFFICE
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return Kind.OLD_OFFICE
    if _is_sound(head, brand, claimed):
        return Kind.SOUND
    if head.startswith(b"{\\rtf") or (b"\x00" in head and not head.startswith(_UNICODE_MARKS)):
        return Kind.OTHER
    if claimed == "text/html" or name.endswith(_PAGE_NAMES) or head.lstrip().lower().startswith(_PAGES):
        return Kind.PAGE
    return Kind.TEXT


def _is_sound(head: bytes, brand: bytes, claimed: str) -> bool:
    """Containers hold sound or films; there the sender's word counts."""
    if head.startswith(_SOUNDS) or brand in _SOUND_BRANDS or (head[:4] == b"RIFF" and head[8:12] == b"WAVE"):
        return not claimed.startswith("video/")
    unclear = bool(brand) or head.startswith(b"\x1aE\xdf\xa3") or (head[:1] == b"\xff" and head[1:2] >= b"\xe0")
    return unclear and claimed.startswith("audio/")
