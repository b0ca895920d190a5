"""Text files: which characters their bytes stand for, or that they are no text at all."""

from __future__ import annotations

import codecs
from typing import Final

_MARKED: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHINESE_SHARE: Final = 0.3
"""Of a Chinese text that is not UTF-8 most bytes are above ASCII; of a Western one only a few."""
_SAMPLE_CHARS: Final = 20_000
_LAYOUT: Final = frozenset("\t\n\r\f\x0b\x1b")
_ODD_SHARE: Final = 0.01


def decoded(content: bytes) -> str | None:
    """None where it is no text."""
    text = _decoded(content).replace("\r\n", "\n")
    sample = text[:_SAMPLE_CHARS]
    odd = sum(1 for char in sample if (char < " " and char not in _LAYOUT) or char == "\ufffd")
    return text if odd <= len(sample) * _ODD_SHARE else None


def _decoded(content: bytes) -> str:
    for mark, encoding in _MARKED:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    high = sum(byte > 0x7F for byte in content[:_SAMPLE_CHARS])
    if high >= _CHINESE_SHARE * min(len(content), _SAMPLE_CHARS):
        return content.decode("gb18030", "replace")
    return content.decode("cp1252", "replace")
