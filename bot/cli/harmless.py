"""Text from a model, a tool or another person, made safe to print on a terminal."""

from __future__ import annotations

import re
from typing import Final

_PICTURES: Final = 0x2400
_UNKNOWN: Final = "\ufffd"

_TABLE: Final[dict[int, str]] = {
    **{code: chr(_PICTURES + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "\u2421",
    **dict.fromkeys(range(128, 160), _UNKNOWN),
    **dict.fromkeys((*range(8234, 8239), *range(8294, 8298)), _UNKNOWN),
}
"""Control characters could move the cursor, set the title or the clipboard, or answer as if the person had typed;
directional overrides could show an approval's arguments in another order than they have."""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def harmless(text: str) -> str:
    """The same text with control characters shown as symbols. Only line feeds and tabs keep their meaning."""
    return _SURROGATES.sub(_UNKNOWN, text.replace("\r\n", "\n").translate(_TABLE))


def one_line(text: str) -> str:
    """``harmless`` text with every run of white space as one blank."""
    return " ".join(harmless(text).split())
