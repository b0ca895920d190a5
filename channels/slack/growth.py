"""How much of a part that is still being written may be appended for good: what stays as it is whatever comes behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from bot.core.view import Limits, Part, Rendered
from bot.outbox.fences import fences
from bot.outbox.paging import Page, open_page
from bot.outbox.spelling import unfinished

FULL: Final = 0.7
"""From this share of a page on only what will stay on it is shown, wherever it is going to end."""

_TICKS = re.compile("`+")
_HALF = re.compile(r"(?:<[^\s<>]*|!|&[#\w]{0,8})\Z")
"""An address, a picture or an entity that may have just begun."""


def grown(part: Part, limits: Limits, render: Callable[[str], Rendered]) -> str:
    """The Markdown of the part without its status line, with nothing closed that is open; a part with another behind it
    is complete."""
    if not part.last:
        return part.markdown

    def page_of(text: str) -> Page:
        return open_page(text, limits, render, [part.start] if part.start else [], closed=False)

    text = part.view.text
    page = page_of(text)
    if not page.last or page.rendered.length >= FULL * limits.size:
        page = page_of(text[: page_of(text + "\n\n" + "x" * limits.size).end])
    return settled(page.markdown)


def settled(markdown: str) -> str:
    """Without code, a formula, an address or a picture at its end of which only the first half is there: the whole is
    written differently than its half."""
    markdown = _settled(markdown)
    return markdown[: unfinished(markdown)]


def _settled(markdown: str) -> str:
    found = fences(markdown, 0, len(markdown))
    if found and found[-1].end is None:
        begun = found[-1].start  # until its first line is complete, it may turn out to be no fence
        return markdown if "\n" in markdown[begun:] else markdown[:begun]
    markdown = markdown.rstrip("`")  # one more would make another marker of it
    begin = max(found[-1].end or 0 if found else 0, markdown.rfind("\n\n") + 1)
    end = _code_begun(markdown, begin)
    half = _HALF.search(markdown, max(begin, markdown.rfind("`", begin, end) + 1), end)
    return markdown[: half.start() if half else end]


def _code_begun(markdown: str, begin: int) -> int:
    """Where the first run of backticks that has no counterpart begins; the end where each has one. A backslash keeps the
    first of them from beginning code; in code it is a character like others."""
    opened: list[tuple[int, str]] = []
    for found in _TICKS.finditer(markdown, begin):
        run = found[0]
        before = markdown[begin : found.start()]
        known = next((number for number, (_, other) in enumerate(opened) if other == run), None)
        if known is not None:
            opened = opened[:known]
        elif begun := run[1:] if (len(before) - len(before.rstrip("\\"))) % 2 else run:
            opened = [*opened, (found.start(), begun)]
    return opened[0][0] if opened else len(markdown)
