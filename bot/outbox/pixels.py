"""How large a picture is, read from its first bytes: platforms refuse some shapes, and nothing has to be unpacked for it."""

from __future__ import annotations

import struct
from typing import Final

_FRAMES: Final = frozenset({*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)})
"""The JPEG markers that begin a frame, whatever its coding."""
_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def size_of(content: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, a JPEG or a WebP; None for anything else, and where they cannot be told."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            width, height = struct.unpack(">II", content[16:24])
            return width, height
        if content.startswith(b"\xff\xd8"):
            return _jpeg(content)
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return _webp(content)
    except (struct.error, IndexError):
        return None
    return None


def _jpeg(content: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF or marker in _ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return None


def _webp(content: bytes) -> tuple[int, int] | None:
    match content[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(content[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", content[26:30])
            return width & 0x3FFF, height & 0x3FFF
    return None
