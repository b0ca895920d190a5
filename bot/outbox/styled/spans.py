"""Styled text: plain text, the spans in it, and the canvas on which both are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Shown = Callable[[str], str]
"""What a platform keeps of a text before it is read: see :func:`shown_text`."""

CLOSED: Final = ("code", "pre")
"""Code: no style means anything inside."""
STYLES: Final = ("bold", "italic", "underline", "strikethrough", "spoiler")

_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
_BLANK = re.compile("[\\s\xad\u115f\u1160\u180e\u200b-\u200f\u2060\u2800\u3164\ufe0f\ufeff\uffa0]*")
_BREAKS = re.compile("\r\n?|[\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of styled text, in code points.

    ``kind`` is one of ``STYLES``, ``code``, ``pre`` (``value``: its language), ``text_link`` (its address), ``address``:
    one that was marked as such and is shown itself, ``blockquote`` (the outermost only; "item": it begins with the marker
    of an item, which then stands on a line of its own), ``heading``, ``item``: a list's marker with the space behind it
    (the number or the check box that it is, "" for a bullet), or ``indent``: the space before a line that belongs to an
    item, or before its marker. ``level`` is that of a heading (1-6), the depth of an item (from 1), and of how many lists
    an indented line, code or a quotation stands in; within a quotation it counts anew. Spans nest, or are apart.
    """

    kind: str
    start: int
    end: int
    value: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Margin:
    """The space with which the lines of a list's items begin, ``level`` lists deep."""

    space: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Styled:
    """Plain text, as it reads without any formatting, and the spans in it."""

    text: str
    spans: tuple[Span, ...] = ()


def shown_text(text: str) -> str:
    """Whole characters, plain line breaks, and neither control nor direction marks, which could disguise what is said."""
    if text.isascii() and text.isprintable():
        return text
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _UNSHOWN.sub("", _BREAKS.sub("\n", text))


def is_blank(text: str) -> bool:
    """Whether a person would see nothing."""
    return _BLANK.fullmatch(text) is not None


class Canvas:
    """Text written from left to right, and the spans in it."""

    def __init__(self, shown: Shown = shown_text) -> None:
        self._shown = shown
        self._pieces: list[str] = []
        self.size = 0
        self.spans: list[Span] = []

    def empty(self) -> Canvas:
        """Another one, on which nothing is written yet."""
        return Canvas(self._shown)

    def write(self, text: str) -> None:
        shown = self._shown(text).replace("\t", "    ")
        self._pieces.append(shown)
        self.size += len(shown)

    def indent(self, margin: Margin) -> None:
        start = self.size
        self.write(margin.space)
        self.mark("indent", start, "", margin.level)

    def mark(self, kind: str, start: int, value: str = "", level: int = 0) -> None:
        """Format everything written since ``start``."""
        if self.size > start:
            self.spans.append(Span(kind, start, self.size, value, level))

    def finished(self) -> Styled:
        """All of it without the space around it, but with the indentation of code at its beginning."""
        text = "".join(self._pieces).rstrip()
        lead = len(text) - len(text.lstrip())
        if any(span.kind == "pre" and span.start == 0 for span in self.spans):
            lead = 0
        moved = (
            Span(one.kind, max(0, one.start - lead), min(one.end, len(text)) - lead, one.value, one.level)
            for one in self.spans
        )
        return Styled(text[lead:], tuple(span for span in moved if span.end > span.start))
