"""What Telegram makes of styled text: plain text and entities, which no server can fail to parse."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from bot.core.view import Entity, Rendered
from bot.outbox.styled import spans
from bot.outbox.styled.renderer import StyledRenderer
from bot.outbox.styled.spans import CLOSED, STYLES, Span, Styled, is_blank

MESSAGE_UNITS: Final = 4096
MESSAGE_ENTITIES: Final = 100
"""Telegram shows about so many entities of a message and ignores the rest (PTB, ``MessageLimit.MESSAGE_ENTITIES``)."""

_ORDER: Final = {kind: rank for rank, kind in enumerate(("blockquote", "text_link", *STYLES, *CLOSED))}
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_REMOVED = re.compile("[\u0333\u033f\u030a]+")
"""What the server removes beyond control and direction marks (td/telegram/misc.cpp, clean_input_string)."""
_RING = re.compile("[A-Za-z]\u030a")


@dataclass(frozen=True, slots=True)
class _Block:
    """A top-level block as it looks, whatever stands around it."""

    text: str
    size: int
    entities: tuple[Entity, ...]


class Renderer:
    """Renders Markdown for Telegram."""

    def __init__(self) -> None:
        self._styled = StyledRenderer(_block, _page, shown_text)

    def render(self, markdown: str) -> Rendered:
        """Any text whatever as text and entities, offsets in UTF-16 units.

        ``length`` is what a pager measures: the UTF-16 units of the text or, where formatting is so dense that Telegram
        would ignore some of it, as many units as those entities are of a message's hundred.
        """
        return self._styled.render(markdown)


def _block(styled: Styled) -> _Block:
    return _Block(styled.text, units(styled.text), entities(styled))


def _page(blocks: Sequence[tuple[str, _Block]]) -> Rendered:
    pieces: list[str] = []
    found: list[Entity] = []
    size = 0
    for gap, block in blocks:
        size += len(gap)
        pieces += (gap, block.text)
        found += [replace(entity, offset=entity.offset + size) for entity in block.entities]
        size += block.size
    text = "".join(pieces)
    if is_blank(text):
        return Rendered("", 0)
    return Rendered(text, max(size, ceil(MESSAGE_UNITS * len(found) / MESSAGE_ENTITIES)), tuple(found))


def shown_text(text: str) -> str:
    """``text`` as the server keeps it. A ring above is composed with its letter, since it is dropped where it stands alone."""
    if "\u030a" in text:
        text = _RING.sub(lambda found: unicodedata.normalize("NFC", found[0]), text)
    text = spans.shown_text(text)
    return text if text.isascii() else _REMOVED.sub("", text)


def units(text: str) -> int:
    """The length in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def entities(styled: Styled) -> tuple[Entity, ...]:
    """The legal ones among the spans, by position, in UTF-16 units."""
    text = styled.text
    astral = [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]
    found = legal(text, _known(styled))
    return tuple(
        Entity(
            span.kind,
            start := span.start + bisect_left(astral, span.start),
            span.end + bisect_left(astral, span.end) - start,
            span.value,
        )
        for span in sorted(found, key=lambda span: (span.start, -span.end, _ORDER[span.kind]))
    )


def _known(styled: Styled) -> Iterator[Span]:
    """Spans of Telegram's kinds: headings are bold, and a quotation begins below a marker that stands on a line of its own."""
    for span in styled.spans:
        if span.kind == "heading":
            yield replace(span, kind="bold")
        elif span.kind == "blockquote" and span.value == "item":
            if (line_end := styled.text.find("\n", span.start, span.end)) >= 0:
                yield replace(span, start=line_end + 1, value="")
        elif span.kind in _ORDER:
            yield span


def legal(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans that nest, hold no bare space at their ends, and keep out of code. A link wins over code in its label.

    Code stands in nothing but a quotation (core.telegram.org/bots/api, formatting options).
    """
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
