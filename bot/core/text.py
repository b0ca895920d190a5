"""What text must be before it is stored or sent on, and which of it is written without spaces."""

from __future__ import annotations

import re
from typing import Final

CJK: Final = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]|[\U00020000-\U0003ffff]"
)
"""One character of Chinese, Japanese or Korean. Shared, because ranges so wide take long to compile."""


def storable(text: str) -> str:
    """``text`` without NUL and with lone surrogates replaced, so that every store, vendor and platform takes it."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def shortened(text: str, chars: int) -> str:
    """Head and tail of a text of more than ``chars`` characters, with a note of how much was left out between them."""
    if len(text) <= chars:
        return text
    tail = chars // 4
    return f"{text[: chars - tail]}\n[… {len(text) - chars} characters left out …]\n{text[len(text) - tail :]}"


def clipped(text: str, chars: int) -> str:
    """At most ``chars`` characters on one line, with an ellipsis where something was left out."""
    line = " ".join(text.split())
    return line if len(line) <= chars else line[: max(0, chars - 1)].rstrip() + "…"
