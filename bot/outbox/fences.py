"""Code fences and tables of Markdown, as far as a text must know of them that is parted inside one."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(
    r"^([ \t>]{0,32}+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?)(`{3,32}+(?!`)|~{3,32}+(?!~))([^\n]*)", re.MULTILINE
)
"""Indentation, markers, and what follows. Longer ones are text: no page has room to close and reopen them."""
_NO_SPACE = re.compile(r"[^>\t ]")
_UNQUOTED = re.compile(r"^(?![ \t]*>)", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}(?![\w+#.-])")
_RULE_ROW = r"(?=[^\n]*\|)[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\n"
_TABLE_HEAD = re.compile(rf"^(?=[^\n]*\|)[^\n]*\n{_RULE_ROW}", re.MULTILINE)
TABLE_RULE = re.compile(_RULE_ROW)


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

    def closed(self, close: int, end: int) -> Fence:
        return Fence(self.start, self.body, self.prefix, self.marker, self.language, close, end)

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
    for line in _FENCE.finditer(text, start, end):
        prefix, marker, info = line.groups()
        if open_now and (unquoted := _unquoted(text, open_now, start, line.start(3))) is not None:
            found.append(open_now.closed(unquoted, unquoted))
            open_now = None
        if open_now is None:
            if marker[0] == "~" or "`" not in info:
                body = min(line.end() + 1, end)
                open_now = Fence(line.start(), body, _NO_SPACE.sub(" ", prefix), marker, _language(info.strip()))
        elif marker.startswith(open_now.marker) and not info.strip() and len(prefix) <= len(open_now.prefix) + 3:
            found.append(open_now.closed(line.start(), line.end(2)))
            open_now = None
    if open_now and (unquoted := _unquoted(text, open_now, start, end)) is not None:
        open_now = open_now.closed(unquoted, unquoted)
    return [*found, open_now] if open_now else found


def _language(info: str) -> str:
    language = _LANGUAGE.match(info)
    return language[0] if language else ""


def _unquoted(text: str, fence: Fence, start: int, end: int) -> int | None:
    """Where a fence inside a quotation ends because the quotation does, if that is before ``end``."""
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
