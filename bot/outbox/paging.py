"""How a long answer is parted into platform messages: a pure function of the text, the limits and what is sealed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bot.core.view import Limits, Rendered
from bot.outbox.blocks import Blocks
from bot.outbox.fences import table_header
from bot.outbox.graphemes import Unit, aligned, length
from bot.outbox.partial import repaired

Render = Callable[[str], Rendered]

MIN_SIZE = 128
"""Below this, reopened fences would leave no room for text."""
_REACH = 4
"""A page covers at most this many times ``size`` characters of source, however much of it rendering hides."""
_BOUNDARIES_TRIED = 8
_PROBES = 12
_STEPS_BACK = 40
_TRAILING = re.compile(r"(?<![ \t])[ \t]{3,}+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """``text[start:end]`` as one platform message. ``tailed``: the tail that was asked for stands in it."""

    start: int
    end: int
    markdown: str
    rendered: Rendered
    last: bool
    tailed: bool = False


def plain(markdown: str, unit: Unit) -> Rendered:
    """The Markdown itself, for a platform that refused its formatting."""
    return Rendered(markdown, length(markdown, unit))


def pages(text: str, limits: Limits, render: Render, sealed: Sequence[int] = ()) -> Iterator[Page]:
    """Every page that is not sealed yet; ``sealed`` are the offsets at which the earlier ones end.

    There is always at least one page; it is blank only where nothing but space and fence markers is left.
    """
    ends = list(sealed)
    while True:
        page = open_page(text, limits, render, ends)
        yield page
        if page.last:
            return
        ends.append(page.end)


def open_page(
    text: str,
    limits: Limits,
    render: Render,
    sealed: Sequence[int] = (),
    tail: str = "",
    *,
    closed: bool = True,
    growing: bool = False,
) -> Page:
    """The first page that is not sealed.

    ``tail`` is Markdown to stand below the last page. A short one makes the text give way; one longer than a quarter of
    a page is left out where it does not fit. Without ``closed`` the last page leaves an open fence open, so that what it
    shows is only ever continued. ``growing``: the text is not at its end, so half a marker there is held back or closed,
    and what is shown keeps its look when the other half comes. Raises ``ValueError`` for a ``limits.size`` under
    ``MIN_SIZE``.
    """
    if limits.size < MIN_SIZE:
        raise ValueError(f"a message size of {limits.size} is too small: at least {MIN_SIZE} is needed")
    pager = _Pager(text, limits, render, min(sealed[-1], len(text)) if sealed else 0)
    page = pager.page(tail, growing=growing)
    return page if closed or tail or not page.last else pager.unclosed(page)


class _Pager:
    def __init__(self, text: str, limits: Limits, render: Render, start: int) -> None:
        self._text, self._limits, self._render, self._start = text, limits, render, start
        self._room = limits.size // 4
        self._blocks = Blocks(text, start, self._room // 2)

    def page(self, tail: str, *, growing: bool) -> Page:
        blocks, size = self._blocks, self._limits.size
        if blocks.last - self._start > _REACH * size:
            return self._part(size)
        whole = self._growing() if growing else self._markdown(blocks.last)
        for markdown, tailed in ((_joined(whole, tail), bool(tail)), (whole, False)):
            rendered = self._rendered(markdown)
            if rendered.length <= size:
                last = Page(self._start, len(self._text), markdown, rendered, last=True, tailed=tailed)
                break
        else:
            return self._part(size)
        tail_length = 0 if last.tailed or not tail else self._rendered(_joined("…", tail)).length
        if 0 < tail_length <= self._room and whole:
            return self._part(size - tail_length)
        return last

    def _growing(self) -> str:
        """The page with its end repaired; nothing while all there is of it are half markers."""
        split = self._blocks.open_at(self._blocks.last)
        markdown = repaired(self._markdown(self._blocks.last, closed=False))
        markdown += split.closing(self._room) if split else ""
        return markdown if self._render(markdown).text.strip() else ""

    def unclosed(self, page: Page) -> Page:
        markdown = self._markdown(self._blocks.last, closed=False)
        return replace(page, markdown=markdown, rendered=self._rendered(markdown))

    def _part(self, limit: int) -> Page:
        """The page for a text that goes on behind it."""
        furthest = self._furthest(limit)
        floor = self._start + (furthest - self._start) // 2
        for end in islice(self._blocks.boundaries(floor, furthest), _BOUNDARIES_TRIED):
            if self._blocks.visible(end) and (page := self._ending(end)).rendered.length <= limit:
                return page
        return self._anywhere(furthest, limit)

    def _anywhere(self, furthest: int, limit: int) -> Page:
        """A little before ``furthest`` if a character there can open a page, for want of anything better."""
        blocks, text = self._blocks, self._text
        near = range(furthest, max(furthest - _STEPS_BACK, blocks.first), -1)
        sound = (at for at in near if blocks.parts_cleanly(at) and aligned(text, at, blocks.first) == at)
        for at in (next(sound, None), blocks.formula_at(furthest), blocks.mark_at(furthest)):
            if at is not None and blocks.visible(at) and (page := self._ending(at)).rendered.length <= limit:
                return page
        return self._ending(furthest)

    def _ending(self, end: int) -> Page:
        markdown = self._markdown(end)
        return Page(self._start, end, markdown, self._rendered(markdown), last=False)

    def _furthest(self, limit: int) -> int:
        """About the last offset at which a page still fits, found by proportion first and by halves then."""
        low = first = self._blocks.first
        beyond = min(self._blocks.last, first + _REACH * self._limits.size)
        at = min(beyond - 1, first + limit)
        for probe in range(_PROBES):
            at = aligned(self._text, at, first)
            if at <= low:
                break
            measured = self._measure(at)
            if measured <= limit:
                low = at
            else:
                beyond = at
            if beyond - low <= max(1, limit // 64):
                break
            guess = (
                first + int((at - first) * limit / max(1, measured)) if probe < _PROBES // 2 else (low + beyond) // 2
            )
            at = min(max(guess, low + 1), beyond - 1)
        return max(low, first + 1)

    def _measure(self, end: int) -> int:
        return self._rendered(self._markdown(end)).length

    def _rendered(self, markdown: str) -> Rendered:
        """A page of which rendering would show nothing (a list of link targets, say) is shown as it was written."""
        rendered = self._render(markdown)
        return plain(markdown, self._limits.unit) if markdown and not rendered.text.strip() else rendered

    def _markdown(self, end: int, *, closed: bool = True) -> str:
        """``text[start:end]`` without blank edges, with a split fence or table reopened and a fence closed."""
        blocks, text = self._blocks, self._text
        if not blocks.visible(end):
            return ""
        begin = max(self._start, text.rfind("\n", self._start, blocks.first) + 1, blocks.first - self._room)
        split = blocks.open_at(end) if closed else None
        closing = split.closing(self._room) if split else ""
        body = self._without_wide_space(text[begin:end].rstrip()) + closing
        opened = blocks.open_at(blocks.first)
        if opened and opened.start < self._start:
            body = body if ">" in opened.prefix else _dedented(body, len(opened.prefix))
            return opened.opening(self._room) + body
        body = (text[opened.start : min(opened.body, begin)] if opened else self._table_head(begin)) + body
        return _dedented(body, len(body) - len(body.lstrip(" "))) if self._start else body

    def _table_head(self, begin: int) -> str:
        head = table_header(self._text, begin)
        return head if len(head) <= self._room else ""

    def _without_wide_space(self, body: str) -> str:
        """Space that nobody sees may not fill a page: wide indentation is cut to a quarter, trailing space to two."""
        return _TRAILING.sub("  ", re.sub(rf"^([ \t]{{{self._room}}})[ \t]++", r"\1", body, flags=re.MULTILINE))


def _joined(markdown: str, tail: str) -> str:
    return f"{markdown}\n\n{tail}" if markdown and tail else markdown or tail


def _dedented(body: str, width: int) -> str:
    """Without ``width`` spaces of indentation, or as many as no line so far went without."""
    lines = body.split("\n")
    for number, line in enumerate(lines):
        if line.strip():
            width = min(width, len(line) - len(line.lstrip(" ")))
        if not width:
            break
        lines[number] = line[width:]
    return "\n".join(lines)
