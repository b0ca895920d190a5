"""What a page must know of Markdown: where code fences and tables stand, and where text may be parted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_RUN = re.compile(r"`{3,}+|~{3,}+")
_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_PREFIX_CHARS = 80
_HEADING_CHARS = 200
_TRIED = 40
_UNQUOTED = re.compile(r"^(?![ \t]*>)", re.MULTILINE)
_LANGUAGE = re.compile(r"[^\s`{]{1,32}(?=[\s{]|$)")
_RULE_ROW = r"(?=[^\n]*\|)[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\n"
_TABLE_HEAD = re.compile(rf"^(?=[^\n]*\|)[^\n]*\n{_RULE_ROW}", re.MULTILINE)
_TABLE_RULE = re.compile(_RULE_ROW)
_PARAGRAPH = re.compile(r"\n(?:[ \t]*\n)+")
_ITEM = re.compile(r"\n(?=[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]|\|))")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*[ \t]+|[。！？；][”’」』）]*")
_SPACE = re.compile(r"[ \t]+|[，、：]")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block, in offsets of the text. ``body`` is where its first line begins; without ``close`` (the
    beginning of its closing line) it is open to the end; ``end`` lies behind the closing markers."""

    start: int
    body: int
    prefix: str
    marker: str
    language: str
    close: int | None = None
    end: int | None = None

    def holds(self, at: int) -> bool:
        """Whether a page that ends at ``at`` must close this fence and the next one reopen it."""
        return self.start < at and (self.end is None or at < self.end)

    def opening(self, room: int) -> str:
        """The line that reopens it, with the language if markers and language fit in ``room`` characters."""
        prefix = self.prefix if ">" in self.prefix else ""
        for line in (prefix + self.marker + self.language, prefix + self.marker):
            if len(line) + len(self.prefix + self.marker) + 2 <= room:
                return line + "\n"
        return ""

    def closing(self, room: int) -> str:
        return f"\n{self.prefix}{self.marker}" if len(self.prefix + self.marker) + 1 <= room // 2 else ""


def fences(text: str, start: int, end: int, inside: Fence | None = None) -> list[Fence]:
    """The fences of ``text[start:end]`` in order; the first is ``inside`` if a fence was open at ``start``."""
    found: list[Fence] = []
    open_now = inside
    for run in _RUN.finditer(text, start, end):
        line = text.rfind("\n", max(0, run.start() - _PREFIX_CHARS - 1), run.start()) + 1
        if line < start or run.start() - line > _PREFIX_CHARS or not _PREFIX.fullmatch(text, line, run.start()):
            continue
        prefix = text[line : run.start()]
        line_end = text.find("\n", run.end(), end)
        line_end = end if line_end < 0 else line_end
        info = text[run.end() : line_end].strip()
        if open_now and (unquoted := _unquoted(text, open_now, start, line)) is not None:
            found.append(replace(open_now, close=unquoted, end=unquoted))
            open_now = None
        if open_now is None:
            if run[0][0] == "~" or "`" not in info:
                open_now = Fence(line, min(line_end + 1, end), re.sub(r"[^>\t]", " ", prefix), run[0], _language(info))
        elif run[0].startswith(open_now.marker) and not info and len(prefix) <= len(open_now.prefix) + 3:
            found.append(replace(open_now, close=line, end=run.end()))
            open_now = None
    if open_now and (unquoted := _unquoted(text, open_now, start, end)) is not None:
        open_now = replace(open_now, close=unquoted, end=unquoted)
    return [*found, open_now] if open_now else found


def _language(info: str) -> str:
    language = _LANGUAGE.match(info)
    return language[0] if language else ""


def _unquoted(text: str, fence: Fence, start: int, end: int) -> int | None:
    """Where a fence inside a quotation ends because the quotation does."""
    if ">" not in fence.prefix:
        return None
    line = _UNQUOTED.search(text, max(fence.body, start), end)
    return line.start() if line and line.start() < end else None


def table_header(text: str, at: int) -> str:
    """The header and delimiter rows of the table that goes on at ``at``, or nothing."""
    if at == 0 or text[at - 1] != "\n":
        return ""
    block = text.rfind("\n\n", 0, at) + 1
    header = next(_TABLE_HEAD.finditer(text, block, at), None)
    if header is None:
        return ""
    row_end = text.find("\n", at)
    rows = text[header.end() : len(text) if row_end < 0 else row_end].split("\n")
    return header[0] if all("|" in row for row in rows) else ""


class Blocks:
    """The rest of a text from the beginning of its open page."""

    def __init__(self, text: str, start: int) -> None:
        before = fences(text, 0, start)
        self.text, self.start = text, start
        self.inside = before[-1] if before and before[-1].holds(start) else None
        self.fences = fences(text, start, len(text), self.inside)
        self._marks = sorted(self._mark_lines())
        self.first, self.last = self._visible_range()

    def _mark_lines(self) -> Iterator[tuple[int, int]]:
        """Opening lines with their line break and closing lines without: no page may end inside one."""
        for fence in self.fences:
            if fence is not self.fences[0] or self.inside is None:
                yield fence.start, fence.body
            if fence.close is not None and fence.end is not None and fence.close < fence.end:
                yield fence.close, fence.end

    def _visible_range(self) -> tuple[int, int]:
        """Where the first visible character stands and where the last one ends; equal when there is none."""
        spans = [span for span in self._plain_spans(self.start, len(self.text)) if self.text[span[0] : span[1]].strip()]
        if not spans:
            return self.start, self.start
        (begin, end), (last_begin, last_end) = spans[0], spans[-1]
        head, rest = self.text[begin:end], self.text[last_begin:last_end]
        return begin + len(head) - len(head.lstrip()), last_begin + len(rest.rstrip())

    def _plain_spans(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        for line, line_end in self._marks:
            if line_end - line > _PREFIX_CHARS or line_end <= begin or line >= end:
                continue
            if begin < line:
                yield begin, line
            begin = line_end
        if begin < end:
            yield begin, end

    def visible(self, end: int) -> bool:
        """Whether a page that ends at ``end`` would show anything but markers."""
        return self.first < min(end, self.last)

    def open_at(self, at: int) -> Fence | None:
        return next((fence for fence in self.fences if fence.holds(at)), None)

    def mark_at(self, at: int) -> int | None:
        """The beginning of the marker line that a page ending at ``at`` would break or end with in vain."""
        for line, line_end in self._marks:
            opens = self.text[line_end - 1 : line_end] == "\n"
            if line < at <= line_end if opens else line <= at < line_end:
                return line
        return None

    def boundaries(self, low: int, high: int) -> Iterator[int]:
        """Where a page may end within ``(low, high]``, best first: between blocks, items, lines, sentences, words."""
        blocks = sorted({*self._ends(_PARAGRAPH, low, high), *self._fence_edges()})
        yield from (at for at in self._sound(blocks, low, high, in_code=False) if not self._ends_with_heading(at))
        yield from self._sound(self._ends(_ITEM, low, high), low, high, in_code=False)
        yield from self._sound(self._ends(_LINE, low, high), low, high)
        for pattern in (_SENTENCE, _SPACE):
            found = list(self._sound(self._ends(pattern, low, high), low, high, in_code=pattern is _SPACE))[:_TRIED]
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
            if low < at <= high and self.mark_at(at) is None and (in_code or self.open_at(at) is None):
                if not self._splits_table_head(at):
                    yield at

    def _splits_table_head(self, at: int) -> bool:
        line_before = self.text.rfind("\n", self.start, at - 1) + 1
        return bool(_TABLE_RULE.match(self.text, at) or _TABLE_RULE.match(self.text, max(self.start, line_before)))

    def _ends_with_heading(self, at: int) -> bool:
        return self.text[max(self.start, at - _HEADING_CHARS) : at].rstrip().rpartition("\n")[2].startswith("#")

    def _balanced(self, at: int) -> bool:
        """No inline markup of the paragraph is open at ``at``, as far as counting tells."""
        paragraph = self.text[max(self.start, self.text.rfind("\n\n", self.start, at)) : at]
        if paragraph.count("`") % 2 or paragraph.count("**") % 2:
            return False
        return paragraph.rfind("[") <= paragraph.rfind("]") and paragraph.rfind("](") <= paragraph.rfind(")")
