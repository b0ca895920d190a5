"""Values that YAML readers disagree about: what each could mean, and what to write instead."""

from __future__ import annotations

import re
from typing import Final

from bot.config.section import OFF_WORDS

_LEADING_ZERO: Final = re.compile(r"[+-]?0[\d_]*\d")
_CLOCK: Final = re.compile(r"\d+(?::[0-5]?\d)+")
_SWITCH_WORDS: Final = frozenset({*OFF_WORDS, "yes", "on", "y", "n"})

ZERO: Final = "some YAML readers take a number that begins with a zero for octal (010 for 8)"
AS_NUMBER: Final = f"must be written without the zero in front: {ZERO}"
AS_TEXT: Final = f"must be in quotes to keep its zero in front: {ZERO}"


class ZeroDigits(str):
    """Digits behind a zero that stand in the file without quotes."""

    __slots__ = ()

    @classmethod
    def held_by(cls, text: str) -> bool:
        return _LEADING_ZERO.fullmatch(text) is not None


def why_no_number(text: str) -> str:
    """Why this text, where a number is wanted, may look like one or like nothing to do with one; "" for other texts."""
    text = text.strip()
    if _CLOCK.fullmatch(text):
        return (
            "; some YAML readers take a time of day for a number in base sixty (1:30 for 90), so no such number is read"
        )
    if text.lower() in _SWITCH_WORDS:
        return "; some YAML readers take this word for true or false, so it is read as a word"
    return ""
