"""Markdown with its formulas spelled out, for a platform that reads Markdown itself and knows no formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.outbox.fences import fences
from bot.outbox.marks import BLOCK_BEGINS, LONGEST_BLOCK_LINES, LONGEST_INLINE_CHARS, formula_end, opening
from bot.outbox.partial import LONGEST_HELD_BLOCK_CHARS, may_be_formula

WIDEST_COLUMNS: Final = 40

_STOP = re.compile(r"`+|\$|\\.?", re.DOTALL)
_ENVIRONMENT_BEGUN = re.compile(r"\\b(?:e(?:g(?:i(?:n(?:\{[A-Za-z]*\*?)?)?)?)?)?\Z")
_MARKS = re.compile(r"([\\`*_\[\]<>~|#&])")
_BLOCK_MARK = re.compile(r"(?:[+=-](?= |$)|\d+(?=[.)](?: |$)))", re.MULTILINE)
_NOT_SPACE = re.compile(r"[^>\s]")


@dataclass(frozen=True, slots=True)
class _Found:
    """A formula from ``begin`` to ``end``; without an ``end`` it may still become one. ``prefix`` is what stands before it
    on its line, if that is no text. Not ``certain``: what comes behind the text decides."""

    begin: int
    end: int | None = None
    source: str = ""
    prefix: str | None = None
    certain: bool = False


def spelled(markdown: str) -> str:
    """Formulas in signs that every font has, matrices as code; what cannot be read as its source, in code. A longer text's
    begins with a shorter one's that was cut at ``unfinished``."""
    pieces: list[str] = []
    at = 0
    for found in _formulas(markdown):
        if found.end is not None:
            pieces += (markdown[at : found.begin], _said(found, markdown))
            at = found.end
    return "".join((*pieces, markdown[at:])) if at else markdown


def unfinished(markdown: str) -> int:
    """Where a formula begins of which it is not known yet whether it is one; the length of the text if there is none."""
    last: _Found | None = None
    for found in _formulas(markdown):
        if not found.certain:
            return last.begin if last and last.prefix is not None and last.end == found.begin else found.begin
        last = found
    return len(markdown)


def _formulas(text: str) -> Iterator[_Found]:
    if "$" not in text and "\\" not in text:
        return
    begin = 0
    for fence in fences(text, 0, len(text)):
        yield from _within(text, begin, fence.start)
        begin = len(text) if fence.end is None else fence.end
    yield from _within(text, begin, len(text))


def _within(text: str, begin: int, limit: int) -> Iterator[_Found]:
    prefixes = {found.end(): found[0] for found in BLOCK_BEGINS.finditer(text, begin, limit)}
    at = begin
    while found := _STOP.search(text, at, limit):
        start, at = found.start(), found.end()
        if found[0][0] == "`":
            closed = re.compile(rf"(?<!`){found[0]}(?!`)").search(text, at, limit)
            at = closed.end() if closed and "\n\n" not in text[at : closed.start()] else at
            continue
        pair = opening(text, start)
        if pair is None:
            if found[0] == "\\" or (limit == len(text) and _ENVIRONMENT_BEGUN.match(text, start)):
                yield _Found(start)
            continue
        one = _one(text, start, pair, limit, prefixes.get(start))
        if one is not None:
            yield one
        at = one.end if one is not None and one.end is not None else start + len(pair[0])


def _one(text: str, start: int, pair: tuple[str, str], limit: int, prefix: str | None) -> _Found | None:
    """The formula that begins at ``start``, or may begin there. What follows it must be known, and it must always have
    looked like one while it grew."""
    opener, closer = pair
    begin = start + len(opener)
    close = formula_end(text, start, opener, closer, limit)
    if close < 0 and prefix is not None:
        close = text.find(closer, begin, min(limit, begin + LONGEST_HELD_BLOCK_CHARS))
    inside = text[begin : close if close >= 0 else limit]
    if "\n\n" in inside or inside.count("\n") >= LONGEST_BLOCK_LINES or (close >= 0 and not inside.strip()):
        return None
    if opener == "$" and not all(may_be_formula(inside[:size], "$") for size in range(len(inside) + 1)):
        return None
    end = close + len(closer)
    if close >= 0:
        source = text[start:end] if closer.startswith("\\end") else inside.strip()
        return _Found(start, end, source, prefix, certain=end < len(text))
    most = LONGEST_HELD_BLOCK_CHARS if prefix is not None else LONGEST_INLINE_CHARS
    return _Found(start) if limit == len(text) and len(inside) <= most else None


def _said(found: _Found, text: str) -> str:
    from bot.outbox.formula.layout import display, inline  # a library comes with it, which most answers do not need

    source = text[found.begin : found.end]
    if found.prefix is None or text[found.end : (found.end or 0) + 1] not in ("", "\n"):
        line = inline(found.source)
        return _ticked(source) if line is None else _escaped(line)
    margin = "\n" + _NOT_SPACE.sub(" ", found.prefix)
    shown = display(found.source, WIDEST_COLUMNS)
    if shown is not None and not shown.columns:
        return margin.join(_escaped(line) for line in shown.text)
    lines = shown.text if shown else source.split("\n")
    return margin.join(("```", *lines, "```"))


def _escaped(line: str) -> str:
    line = _MARKS.sub(r"\\\1", line)
    found = _BLOCK_MARK.match(line)
    at = (found.end() if found[0].isdigit() else 0) if found else -1
    return line[:at] + "\\" + line[at:] if at >= 0 else line


def _ticked(source: str) -> str:
    return f"`{source}`".replace("\n", " ") if "`" not in source else source
