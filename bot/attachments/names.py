"""Names of files as they may be shown: whatever a sender calls a file, what is shown reads as it is written."""

from __future__ import annotations

import unicodedata
from typing import Final

from bot.core.text import clipped, storable

NAME_CHARS: Final = 80
ENDING_CHARS: Final = 10
_JOINERS: Final = "\u200c\u200d"
"""Part of how some scripts and emoji are written."""


def file_name(path: str) -> str:
    """The last part of what may be a path, of whatever system, as ``shown_name`` has it."""
    return shown_name(path.replace("\\", "/").rstrip("/").rpartition("/")[2])


def shown_name(name: str) -> str:
    """At most ``NAME_CHARS`` characters on one line, with the ending kept; "file" where nothing is left."""
    line = " ".join("".join(" " if _hides(char) else char for char in storable(name)).split())
    if not line.strip(". "):
        return "file"
    if len(line) <= NAME_CHARS:
        return line
    stem, _, ending = line.rpartition(".")
    kept = f".{ending}" if stem and ending.isalnum() and len(ending) <= ENDING_CHARS else ""
    return clipped(line[: len(line) - len(kept)], NAME_CHARS - len(kept)) + kept


def _hides(char: str) -> bool:
    """Control and format characters: among them those that turn ``gpj.exe`` round."""
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char not in _JOINERS
