"""The open page of a text: what of it a reader sees, and where it may be parted."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from bot.outbox.fences import TABLE_RULE, Fence, fences
from bot.outbox.marks import formulas

_PARAGRAPH = re.compile(r"\n(?:[ \t]*\n)+")
_ITEM = re.compile(r"\n(?=[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]|\|))")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*[ \t]+|[。！？；][”’」』）]*")
_SPACE = re.compile(r"[ \t]+|[，、：]")
_BLOCK_BEGINS = re.compile(r"[ \t]*(?:`{3}|~{3}|[#>|=]|[-+*][ \t*-]|\d{1,9}[.)][ \t])")
_HEADING_CHARS = 200
_TRIED = 40


class Blocks:
    """The rest of a text from the beginning of its open page. Of an opening line of more than ``mark_chars`` only the
    markers count as such: what follows them is text, which may be parted."""

    def __init__(self, text: str, start: int, mark_chars: int) -> None:
        before = fences(text, 0, start)
        self.text, self.start = text, start
        self.inside = before[-1] if before and before[-1].holds(start) else None
        self.fences = fences(text, start, len(text), self.inside)
        self._marks = sorted(self._mark_lines(mark_chars))
        self.first, self.last = self._visible_range()

    def _mark_lines(self, most_chars: int) -> Iterator[tuple[int, int, bool]]:
        """Begin and end of opening lines (True, with their line break) and closing lines (False, without)."""
        for fence in self.fences:
            if fence.start >= self.start:
                short = len(self.text[fence.start : fence.body].strip()) <= most_chars
                yield fence.start, fence.body if short else fence.start + len(fence.prefix + fence.marker), True
            if fence.close is not None and fence.end is not None and fence.close < fence.end:
                yield fence.close, fence.end, False

    def _visible_range(self) -> tuple[int, int]:
        """Where the first visible character stands and where the last one ends; equal when there is none."""
        spans = [(begin, end) for begin, end in self._plain_spans() if not self.text[begin:end].isspace()]
        if not spans:
            return self.start, self.start
        (begin, end), (last_begin, last_end) = spans[0], spans[-1]
        head, rest = self.text[begin:end], self.text[last_begin:last_end]
        return begin + len(head) - len(head.lstrip()), last_begin + len(rest.rstrip())

    def _plain_spans(self) -> Iterator[tuple[int, int]]:
        begin = self.start
        for line, line_end, _ in self._marks:
            if begin < line:
                yield begin, line
            begin = line_end
        if begin < len(self.text):
            yield begin, len(self.text)

    def visible(self, end: int) -> bool:
        """Whether a page that ends at ``end`` would show anything but space and markers."""
        return self.first < min(end, self.last)

    def open_at(self, at: int) -> Fence | None:
        return next((fence for fence in self.fences if fence.holds(at)), None)

    def mark_at(self, at: int) -> int | None:
        """The beginning of the marker line that a page ending at ``at`` would break or end with in vain."""
        for line, line_end, opens in self._marks:
            if line < at <= line_end if opens else line <= at < line_end:
                return line
        return None

    def formula_at(self, at: int) -> int | None:
        """The beginning of the formula that a page ending at ``at`` would break."""
        number = bisect_left(self._formulas, (at, at)) - 1
        begin, end = self._formulas[number] if number >= 0 else (at, at)
        return begin if begin < at < end else None

    @cached_property
    def _formulas(self) -> list[tuple[int, int]]:
        if not any(mark in self.text for mark in ("$", "\\(", "\\[", "\\begin{")):
            return []
        return [found for begin, end in self._unfenced() for found in formulas(self.text, begin, end)]

    def _unfenced(self) -> Iterator[tuple[int, int]]:
        begin = self.start
        for fence in self.fences:
            if begin < fence.start:
                yield begin, fence.start
            begin = len(self.text) if fence.end is None else fence.end
        yield begin, len(self.text)

    def boundaries(self, low: int, high: int) -> Iterator[int]:
        """Where a page may end within ``(low, high]``, best first: between blocks, items, lines, sentences, words."""
        blocks = sorted({*self._ends(_PARAGRAPH, low, high), *self._fence_edges()})
        yield from (at for at in self._sound(blocks, low, high, in_code=False) if not self._ends_with_heading(at))
        yield from self._sound(self._ends(_ITEM, low, high), low, high, in_code=False)
        yield from self._sound(self._ends(_LINE, low, high), low, high)
        for pattern in (_SENTENCE, _SPACE):
            sound = self._sound(self._ends(pattern, low, high), low, high, in_code=pattern is _SPACE)
            found = list(islice(sound, _TRIED))
            balanced = [at for at in found if self._balanced(at)]
            yield from balanced or found[:1]

    def _fence_edges(self) -> Iterator[int]:
        for fence in self.fences:
            yield fence.start
            if fence.end is not None:
                yield fence.end + (fence.close != fence.end)

    def _ends(self, pattern: re.Pattern[str], low: int, high: int) -> list[int]:
        return [found.end() for found in pattern.finditer(self.text, max(0, low - 1), high)]

    def _sound(self, ends: list[int], low: int, high: int, *, in_code: bool = True) -> Iterator[int]:
        for at in reversed(ends):
            if low < at <= high and (in_code or self.open_at(at) is None) and self.parts_cleanly(at):
                yield at

    def parts_cleanly(self, at: int) -> bool:
        """Neither a marker line, a formula nor the head of a table is broken, and no word turns into a block that was
        none."""
        if self.formula_at(at) is not None:
            return False
        if self.text[at - 1 : at] != "\n":
            return not _BLOCK_BEGINS.match(self.text, at) and self.mark_at(at) is None
        return self.mark_at(at) is None and not self._splits_table_head(at)

    def _splits_table_head(self, at: int) -> bool:
        """``at`` is where a line begins: it or the one before it is the row of dashes."""
        line_before = max(self.start, self.text.rfind("\n", self.start, at - 1) + 1)
        return bool(TABLE_RULE.match(self.text, at) or TABLE_RULE.match(self.text, line_before))

    def _ends_with_heading(self, at: int) -> bool:
        return self.text[max(self.start, at - _HEADING_CHARS) : at].rstrip().rpartition("\n")[2].startswith("#")

    def _balanced(self, at: int) -> bool:
        """No inline markup of the paragraph is open at ``at``, as far as counting tells."""
        paragraph = self.text[max(self.start, self.text.rfind("\n\n", self.start, at)) : at]
        if paragraph.count("`") % 2 or paragraph.count("**") % 2:
            return False
        return paragraph.rfind("[") <= paragraph.rfind("]") and paragraph.rfind("](") <= paragraph.rfind(")")
