"""What counts as one character for a reader, and how long text is in a platform's unit."""

from __future__ import annotations

import unicodedata
from typing import Literal

Unit = Literal["chars", "utf16", "bytes"]

_JOINER = "\u200d"
_PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")


def length(text: str, unit: Unit) -> int:
    """How long ``text`` is; a lone surrogate counts as one unit, or three bytes, as the platforms count its stand-in."""
    if unit == "chars" or text.isascii():
        return len(text)
    if unit == "utf16":
        return len(text) + sum(char > "\uffff" for char in text)
    return len(text.encode("utf-8", "surrogatepass"))


def aligned(text: str, at: int, floor: int) -> int:
    """The last boundary between characters in ``(floor, at]``, or ``at`` where the text since ``floor`` is one character."""
    for position in range(at, floor, -1):
        if _breaks(text, position):
            return position
    return at


def _breaks(text: str, at: int) -> bool:
    """Whether a reader sees a boundary before ``text[at]`` (Unicode annex 29, extended clusters, in short)."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n")
    if _extends(after) or before in _PREPENDED:
        return False
    if before == _JOINER:
        return after < "\u2190"
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    if _is_flag_half(before) and _is_flag_half(after):
        return _flag_halves_before(text, at) % 2 == 0
    return not (unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo")


def _extends(char: str) -> bool:
    """Marks, joiners, skin tones, tags and the later letters of a Korean syllable belong to what they follow."""
    if char < "\u0300":
        return False
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char in "\u200c\u200d"
        or "\u1160" <= char <= "\u11ff"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    count = 0
    while at > count and _is_flag_half(text[at - count - 1]):
        count += 1
    return count
