"""Which characters the bytes of a page stand for: what it says of itself counts as far as it can be true."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from bot.attachments.plain import decoded

PRESCAN_BYTES: Final = 4096
_SAMPLE_BYTES: Final = 64 * 1024
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SAID_INSIDE: Final = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.\-]{2,40})""", re.IGNORECASE)
_ALIASES: Final = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-big5": "big5hkscs",
    "ks_c_5601-1987": "cp949",
}
_WIDER: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""What browsers take these names for (WHATWG, Encoding)."""
_KNOWN: Final = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "gb18030", "hz", "big5hkscs", "euc_jp", "cp932", "iso2022_jp"),
        *("cp949", "johab", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp866", "cp874"),
        *(f"cp125{number}" for number in range(9)),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    }
)
_FEW_WRONG: Final = 0.01


def text_of(body: bytes, declared: str) -> str | None:
    """``declared`` is the charset of the header Content-Type. None where it is no text."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    if not body.isascii() and (text := _strictly(body, "utf-8")) is not None:
        return text  # nothing else comes out so by chance
    for encoding in _claimed(body, declared):
        text = body.decode(encoding, "replace")
        if text.count("\ufffd") <= len(text) * _FEW_WRONG and not _has_nulls(text):
            return text
    return decoded(body) if _has_nulls(body[:PRESCAN_BYTES].decode("latin-1")) else _guessed(body)


def _claimed(body: bytes, declared: str) -> Iterator[str]:
    inside = _SAID_INSIDE.search(body[:PRESCAN_BYTES])
    for label in (declared, inside[1].decode("ascii") if inside else ""):
        name = label.strip("\"' ").lower()
        try:
            name = codecs.lookup(_ALIASES.get(name, name)).name if name else ""
        except (LookupError, ValueError):
            continue
        name = _WIDER.get(name, name)
        if name in _KNOWN:
            yield name


def _guessed(body: bytes) -> str | None:
    """By how the bytes are spread. Of a page only what comes before and after its head tells anything."""
    if body.isascii():
        return body.decode("ascii")
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_SAMPLE_BYTES]).best()
    name = _WIDER.get(codecs.lookup(best.encoding).name, codecs.lookup(best.encoding).name) if best else ""
    return body.decode(name, "replace") if name in _KNOWN else decoded(body)


def _strictly(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        return None


def _has_nulls(text: str) -> bool:
    return text.count("\x00") > len(text) * _FEW_WRONG
