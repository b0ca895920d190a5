"""Styled text as what a chat's own markup is made of: lines of styled runs and blocks of code, with what they stand in."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.outbox.styled.spans import STYLES, Span, Styled

_INLINE = (*STYLES, "code", "text_link")


@dataclass(frozen=True, slots=True)
class Run:
    """Characters that look the same. ``link`` is an address or ""."""

    text: str
    styles: frozenset[str] = frozenset()
    link: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A list's marker: ``text`` as it reads, ``value`` the number or check box that it is, "" for a bullet."""

    level: int
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A line of text, or a block of code in one run.

    ``gap`` counts the line breaks above it, ``items`` are the markers before it, the outermost first, and ``depth`` says
    how many lists it stands in. ``quote`` numbers the quotations from 1 and is 0 outside; within one, ``outer`` says how
    many lists stand around it, and ``depth`` and levels count anew.
    """

    runs: tuple[Run, ...]
    gap: int = 0
    heading: int = 0
    code: bool = False
    language: str = ""
    items: tuple[Item, ...] = ()
    depth: int = 0
    quote: int = 0
    outer: int = 0

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def leaves(styled: Styled) -> list[Leaf]:
    """Everything that is seen of ``styled``, in order."""
    found: list[Leaf] = []
    for leaf in _Reader(styled).leaves():
        if _completes(leaf, found):
            marked = found.pop()
            leaf = replace(leaf, gap=marked.gap, items=marked.items, depth=marked.depth)
        found.append(leaf)
    return found


def _completes(leaf: Leaf, above: Sequence[Leaf]) -> bool:
    """Whether ``leaf`` is the text of the marker above: the first one in a quotation stands on a line of its own."""
    if not above or leaf.gap > 1 or leaf.code or leaf.items or leaf.depth or not leaf.quote:
        return False
    first = len(above) == 1 or above[-2].quote != leaf.quote
    return first and above[-1].quote == leaf.quote and bool(above[-1].items) and not above[-1].text.strip()


class _Reader:
    def __init__(self, styled: Styled) -> None:
        spans = sorted(styled.spans, key=lambda span: (span.start, -span.end))
        self._text = styled.text
        self._code = {span.start: span for span in spans if span.kind == "pre"}
        self._margins = {span.start: span for span in spans if span.kind in ("indent", "item")}
        self._headings = [span for span in spans if span.kind == "heading"]
        self._quotes = [span for span in spans if span.kind == "blockquote"]
        self._quotes_begin = {span.start for span in self._quotes}
        self._runs = list(_runs(styled.text, spans))
        self._starts = [start for start, _ in self._runs]

    def leaves(self) -> Iterator[Leaf]:
        at, gap = 0, 0
        while at < len(self._text):
            if self._text[at] == "\n":
                at, gap = at + 1, gap + 1
                continue
            code = self._code.get(at)
            leaf, end = (self._block(code), code.end) if code else self._line(at, self._line_end(at))
            if code or leaf.items or leaf.text.strip():
                yield replace(leaf, gap=gap)
                gap = 0 if self._text[end : end + 1] == "\n" else 1
            at = end

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end >= 0 else len(self._text)

    def _block(self, code: Span) -> Leaf:
        quote, outer = self._quote(code.start)
        run = Run(self._text[code.start : code.end])
        return Leaf((run,), code=True, language=code.value, depth=code.level, quote=quote, outer=outer)

    def _line(self, at: int, end: int) -> tuple[Leaf, int]:
        """The leaf and where it ends: at the end of the line, or where a quotation begins within an item."""
        quote, outer = self._quote(at)
        items: list[Item] = []
        depth = 0
        while (span := self._margins.get(at)) and at < end:
            if items and at in self._quotes_begin:
                end = at
                break
            depth = span.level
            if span.kind == "item":
                items.append(Item(span.level, span.value, self._text[at : span.end]))
            at = min(span.end, end)
        heading = _holder(self._headings, at)
        level = self._headings[heading].level if heading >= 0 and at < end else 0
        return Leaf(tuple(self._between(at, end)), 0, level, False, "", tuple(items), depth, quote, outer), end

    def _quote(self, at: int) -> tuple[int, int]:
        quote = _holder(self._quotes, at)
        return (quote + 1, self._quotes[quote].level) if quote >= 0 else (0, 0)

    def _between(self, start: int, end: int) -> Iterator[Run]:
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._runs)):
            begin, run = self._runs[number]
            if begin >= end:
                return
            if text := run.text[max(0, start - begin) : end - begin]:
                yield replace(run, text=text)


def _holder(spans: list[Span], at: int) -> int:
    """Which of ``spans``, sorted and apart, holds ``at``; -1 if none does."""
    found = bisect_right(spans, at, key=lambda span: span.start) - 1
    return found if found >= 0 and at < spans[found].end else -1


def _runs(text: str, spans: list[Span]) -> Iterator[tuple[int, Run]]:
    """The whole text in runs, with the offsets at which they begin."""
    inline = [span for span in spans if span.kind in _INLINE and span.start < span.end]
    events = sorted([(span.end, 0, span) for span in inline] + [(span.start, 1, span) for span in inline], key=_order)
    active: Counter[str] = Counter()
    link = ""
    last = 0
    for at, opens, span in [*events, (len(text), 0, None)]:
        if at > last:
            styles = frozenset(kind for kind in STYLES if active[kind])
            yield last, Run(text[last:at], styles, link, bool(active["code"]))
            last = at
        if span:
            active[span.kind] += 1 if opens else -1
            if span.kind == "text_link":
                link = span.value if opens else ""


def _order(event: tuple[int, int, Span]) -> tuple[int, int]:
    return event[:2]
