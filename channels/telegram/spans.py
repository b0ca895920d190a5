"""Formatted text under construction, and what Telegram allows of its formatting."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from bot.core.view import Entity

CLOSED: Final = ("code", "pre")
"""Nothing may stand inside these, and they stand in nothing but a quotation (core.telegram.org/bots/api, formatting)."""
STYLES: Final = ("bold", "italic", "underline", "strikethrough", "spoiler")
_ORDER: Final = {kind: rank for rank, kind in enumerate(("blockquote", "text_link", *STYLES, *CLOSED))}

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u0333\u033f\u030a]+")
"""What the server removes or turns into spaces (td/telegram/misc.cpp, clean_input_string), and isolates as well."""
_BLANK = re.compile("[\\s\xad\u115f\u1160\u180e\u200b-\u200f\u2060\u2800\u3164\ufe0f\ufeff\uffa0]*")
"""Nothing of this is seen; the server refuses a text that has nothing else."""
_RING = re.compile("[A-Za-z]\u030a")
_BREAKS = re.compile("\r\n?|[\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Span:
    """A formatted stretch, in code points."""

    kind: str
    start: int
    end: int
    value: str = ""


class Canvas:
    """Text written from left to right, and the spans in it."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.size = 0
        self.spans: list[Span] = []

    def write(self, text: str) -> None:
        shown = shown_text(text).replace("\t", "    ")
        self._pieces.append(shown)
        self.size += len(shown)

    def finished(self) -> tuple[str, list[Span]]:
        """All of it without the space around it, but with the indentation of code at its beginning."""
        text = "".join(self._pieces).rstrip()
        lead = len(text) - len(text.lstrip())
        if not lead or any(span.kind == "pre" and span.start == 0 for span in self.spans):
            return text, self.spans
        moved = (Span(one.kind, max(0, one.start - lead), one.end - lead, one.value) for one in self.spans)
        return text[lead:], [span for span in moved if span.end > span.start]

    def mark(self, kind: str, start: int, value: str = "") -> None:
        """Format everything written since ``start``."""
        if self.size > start:
            self.spans.append(Span(kind, start, self.size, value))


def shown_text(text: str) -> str:
    """``text`` as the server keeps it: whole characters, no control or direction marks, plain line breaks.

    A ring above is composed with its letter first, since the server drops it where it stands alone.
    """
    if text.isascii() and text.isprintable():
        return text
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _BREAKS.sub("\n", text)
    if "\u030a" in text:
        text = _RING.sub(lambda found: unicodedata.normalize("NFC", found[0]), text)
    return _UNSHOWN.sub("", text)


def is_blank(text: str) -> bool:
    """Whether a person would see nothing."""
    return _BLANK.fullmatch(text) is not None


def units(text: str) -> int:
    """The length in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def entities(text: str, spans: Iterable[Span]) -> tuple[Entity, ...]:
    """The legal ones among ``spans``, by position, in UTF-16 units."""
    astral = [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]
    return tuple(
        Entity(
            span.kind,
            start := span.start + bisect_left(astral, span.start),
            span.end + bisect_left(astral, span.end) - start,
            span.value,
        )
        for span in sorted(legal(text, spans), key=lambda span: (span.start, -span.end, _ORDER[span.kind]))
    )


def legal(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans that nest, hold no bare space at their ends, and keep out of code. A link wins over code in its label."""
    found = sorted(spans, key=lambda span: (span.start, -span.end))
    links = [span for span in found if span.kind == "text_link"]
    closed = [span for span in found if span.kind in CLOSED and not _within(span, links)]
    outer: dict[str, int] = {}
    for span in found:
        if span.kind in CLOSED and _within(span, links):
            continue
        if span.kind in STYLES:
            if span.end <= outer.get(span.kind, 0):
                continue
            outer[span.kind] = span.end
        for piece in _outside(span, closed) if span.kind in STYLES else (span,):
            if trimmed := _trimmed(text, piece, closed):
                yield trimmed


def _within(span: Span, others: list[Span]) -> bool:
    """``others`` are sorted and apart from each other."""
    at = bisect_left(others, span.start + 1, key=lambda other: other.start) - 1
    return at >= 0 and span.end <= others[at].end


def _outside(span: Span, closed: list[Span]) -> Iterator[Span]:
    start = span.start
    for inner in closed[bisect_left(closed, span.start, key=lambda other: other.start) :]:
        if inner.start >= span.end:
            break
        yield replace(span, start=start, end=inner.start)
        start = inner.end
    yield replace(span, start=start)


def _trimmed(text: str, span: Span, closed: list[Span]) -> Span | None:
    """Without the space at its ends, which the server would cut; a block of code keeps its indentation."""
    start, end = span.start, min(span.end, len(text))
    while end > start and text[end - 1].isspace():
        end -= 1
    if not any(inner.kind == "pre" and inner.start == start for inner in closed):
        while start < end and text[start].isspace():
            start += 1
    return replace(span, start=start, end=end) if start < end else None
