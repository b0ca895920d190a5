"""How wide text is where every character has the same width."""

from __future__ import annotations

import unicodedata


def width(text: str) -> int:
    """In columns: Chinese, Japanese, Korean and emoji take two, marks none (Unicode annex 11)."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
