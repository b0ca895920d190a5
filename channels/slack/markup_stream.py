"""Markdown that Slack itself may render while it is appended: what would ping, load or be read as HTML is made text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.outbox.fences import Fence, fences
from bot.outbox.spelling import spelled

GUARD: Final = "\u200b"
"""Breaks what must not be read as one; nobody sees it."""

_PING = re.compile(
    r"@(?:channe(?=l)|her(?=e)|everyon(?=e))|<!(?:channe(?=l)|her(?=e)|everyon(?=e)|subtea(?=m)|dat(?=e))|<@(?=[UW])",
    re.I,
)
"""The guard stands before the last character, so that what was sent before it came stays as it was."""
_MARKUP = re.compile(
    r"(?P<link>(?-i:(?<!\\)<(?P<url>(?:https?://|mailto:)[^\s<>|]+)\|(?P<label>(?=[^<>|\n]{1,200}>)[^<>|\n]*\S[^<>|\n]*)>))"
    r"|(?P<address>(?-i:(?<!\\)<(?:https?://|mailto:)[^\s<>]*>))|(?P<opened><(?=[A-Za-z/!?@#])|&(?:lt|#0*60|#x0*3c);(?=[A-Za-z/!?@#]))"
    r"|(?P<picture>(?:^|(?<= ))!(?=\[))|(?P<bang>!(?=\[))",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[\\`*_~\[\]&]")
_TAG = re.compile(r"<(?=[A-Za-z/!?@#])|!(?=\[)")
_TICKS = re.compile("`+")
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def streamable(markdown: str) -> str:
    """``markdown`` for ``markdown_text``, with its formulas spelled out. A longer text's begins with a shorter one's where
    the shorter one was cut at a place that ``bot.outbox.partial`` leaves alone, and neither between backticks nor in a
    formula. Code is changed only where it would ping."""
    markdown = spelled(markdown)
    pieces: list[str] = []
    at = 0
    for start, end, ragged in _code(markdown):
        pieces += (_neutral(markdown[at:start], start=at == 0), _quiet(markdown[start:end]))
        pieces.append(_quiet(_TAG.sub(r"\g<0>" + GUARD, markdown[end:ragged])))
        at = ragged
    return "".join((*pieces, _neutral(markdown[at:], start=at == 0)))


def _neutral(text: str, *, start: bool) -> str:
    return _quiet(_MARKUP.sub(lambda found: _replaced(found, start=start), text))


def _replaced(found: re.Match[str], *, start: bool) -> str:
    if found["link"] or found["address"]:
        if _bracketed(found.string, 0, found.start()) or _ticks_before(found.string, found.start()):
            return found[0][0] + GUARD + found[0][1:]
        return _link(found["url"], found["label"].strip()) if found["link"] else found[0][1:-1]
    if found["picture"] and (start or found.start()):
        return ""
    return found[0] + GUARD


def _ticks_before(text: str, at: int) -> bool:
    """Whether ``at`` may be in code, which is not certain."""
    return "`" in text[text.rfind("\n", 0, at) + 1 : at]


def _link(url: str, label: str) -> str:
    """A link as Slack writes it, which it does not read in Markdown."""
    marks = _MARKS.sub(lambda found: "\\" + found[0], label)
    target = url.replace("(", "%28").replace(")", "%29").replace("\\", "%5C")
    return f"[{marks}]({target})"


def _quiet(text: str) -> str:
    return _PING.sub(lambda found: found[0] + GUARD, text)


def _code(text: str) -> Iterator[tuple[int, int, int]]:
    """Where code stands, in order: begin, end, and where the lines end that a fence encloses without their being code."""
    at = 0
    for fence in fences(text, 0, len(text)):
        end = len(text) if fence.end is None else fence.end
        yield from _inline_code(text, at, fence.start)
        yield fence.start, _item_end(text, fence, end), end
        at = end
    yield from _inline_code(text, at, len(text))


def _item_end(text: str, fence: Fence, end: int) -> int:
    """A fence in a list's item ends with the item, where a line is not indented."""
    if not _ITEM.match(text, fence.start):
        return end
    margin = re.compile(rf"^(?! {{{len(fence.prefix)}}}|[ \t]*$)", re.MULTILINE)
    outside = margin.search(text, fence.body, end)
    return outside.start() if outside else end


def _inline_code(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Code between backticks where it is certain and remains so: within a line, a cell and all brackets that were opened,
    and while every earlier backtick of the paragraph has found its match in its own line."""
    certain, paragraph = True, start
    for line in _LINE.finditer(text, start, end):
        if not line[0].strip():
            certain, paragraph = True, line.end()
        for one, other in _ticked(text, line.start(), line.end()):
            certain = certain and other > one
            if certain and "|" not in text[one:other] and not _bracketed(text, paragraph, one):
                yield one, other, other


def _bracketed(text: str, start: int, at: int) -> bool:
    """Whether ``at`` may be part of a label or an address that began since ``start``."""
    label = text.rfind("[", start, at) > text.rfind("]", start, at)
    return label or text.rfind("](", start, at) > text.rfind(")", start, at)


def _ticked(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """From backticks to those that match them, in order; an empty range where nothing matches."""
    runs = list(_TICKS.finditer(text, start, end))
    closers: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closers.setdefault(len(runs[number][0]), []).append(number)
    number = 0
    while number < len(runs):
        begin, stop = runs[number].start() + _escaped(text, runs[number].start()), runs[number].end()
        same = closers.get(stop - begin, [])
        while same and same[-1] <= number:
            same.pop()
        if begin < stop:
            yield begin, runs[same[-1]].end() if same else begin
            number = same[-1] if same else number
        number += 1


def _escaped(text: str, at: int) -> bool:
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1
