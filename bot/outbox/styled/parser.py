"""The parser: the house's dialect of Markdown, with what chats add to it and what must not vanish in one."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline

from bot.outbox.dialect import speak, trimmed

Env = MutableMapping[str, Any]

MAX_NESTING: Final = 60
"""Levels of quotes and lists; the library drops what lies deeper, so such a block is shown as it was written."""
LONGEST_SPOILER_CHARS: Final = 800

_BREAK = re.compile(r"(?<![\"'`(])<br[ ]*/?>[ \t]*(?![\"'`)])", re.IGNORECASE)
_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
_ADDRESS = re.compile(r"://[^\s<>\"'`|\\^{}\[\]\u3000-\u303f\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]+")
_OPERATORS = r"*·×/=+<>≤≥^|∥\-"
_SPOILER = re.compile(rf"\|\|(?![\s|])((?:(?!\|\|).)+?)(?<!\s)\|\|(?![\w|)\]]|[ ]?[{_OPERATORS}])", re.DOTALL)
_BEFORE_SPOILER = re.compile(rf"(?:^|[^{_OPERATORS}\s][ ]|\n)$|^ $")
_DEFINITION = re.compile(r"\[(?P<label>(?:\\.|[^\]\\])*)\]:[ \t]*(?P<target>\S*)")
_TARGET = re.compile(r"<|[/#.]|[A-Za-z][\w+.-]*:|\S*[/]|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """Every link is parsed, whatever its scheme, so that its raw markup never shows."""
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    md.enable(["table", "strikethrough"])
    speak(md)
    md.inline.ruler.at("newline", _newline)
    md.inline.ruler.before("link", "address", _address)
    md.inline.ruler.before("autolink", "break", _line_break)
    md.inline.ruler.before("emphasis", "spoiler", _spoiler)
    md.inline.add_terminator_char("|")
    md.block.ruler.at("reference", _reference)
    md.validateLink = lambda url: True  # type: ignore[method-assign]
    return md


def _address(state: StateInline, silent: bool) -> bool:
    """A bare address is text in which no underscore or asterisk means anything. Called at its colon."""
    start = state.pos
    if not state.src.startswith("://", start) or not _SCHEME.search(state.src[max(0, start - 6) : start]):
        return False
    found = _ADDRESS.match(state.src, start, state.posMax)
    rest = trimmed(found[0]) if found else ""
    if len(rest) <= len("://"):
        return False
    if not silent:
        state.pending += rest
    state.pos += len(rest)
    return True


def _newline(state: StateInline, silent: bool) -> bool:
    """Every line break is shown, and the space behind it: models write code and verse without marking them as such."""
    if state.src[state.pos] != "\n":
        return False
    if not silent:
        state.pending = state.pending.rstrip(" ")
        state.push("softbreak", "br", 0)
    state.pos += 1
    return True


def _line_break(state: StateInline, silent: bool) -> bool:
    """The one piece of HTML that models write into table cells; in quotes or brackets it is spoken about."""
    found = _BREAK.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.pending = state.pending.rstrip(" ")
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _spoiler(state: StateInline, silent: bool) -> bool:
    """``||hidden||``, where the bars stand between spaces and are not those of a norm in a formula."""
    start = state.pos
    limit = min(state.posMax, start + LONGEST_SPOILER_CHARS)
    found = _SPOILER.match(state.src, start, limit)
    if not found or not _BEFORE_SPOILER.search(state.src[max(0, start - 3) : start]):
        return False
    end = found.end() - len("||")
    if not silent:
        furthest = state.posMax
        state.push("spoiler_open", "span", 1)
        state.pos, state.posMax = start + 2, end
        state.md.inline.tokenize(state)
        state.posMax = furthest
        state.push("spoiler_close", "span", -1)
    state.pos = found.end()
    return True


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A definition is shown nowhere, so ``[^1]: a note`` and ``[Answer]: 42`` are none."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = _DEFINITION.match(line)
    if found and (found["label"].startswith("^") or (found["target"] and not _TARGET.match(found["target"]))):
        return False
    return reference(state, start, end, silent)
