"""The blocks of Markdown as lines of a chat: headings, lists, quotations, code and tables, written onto a canvas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from bot.outbox.styled import tables
from bot.outbox.styled.inline import draw
from bot.outbox.styled.spans import Canvas, Margin

BULLETS: Final = "•◦▪"
RULE: Final = "———"
INDENT: Final = "    "
DEEPEST_INDENT: Final = 6
"""Levels of lists that are told apart by indentation; a phone has no room for more."""

_BLANK_START = re.compile(r"\A(?:[ \t]*\n)+")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}(?![\w+#.-])")
_TASK = re.compile(r"\[([ xX])\][ \n]")


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = -1


@dataclass(slots=True)
class _Marker:
    """What waits for an item's first line. Where ``level`` is 0 it is but text. ``quoted``: it is part of a quotation."""

    text: str
    value: str
    level: int
    quoted: bool


class Scribe:
    """Writes block tokens. Where the source has a blank line between two blocks, so has the text."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._lists: list[_List] = []
        self._margins = [Margin()]
        self._markers: list[_Marker] = []
        self._marked_margin = Margin()
        self._marked_line = 0
        self._quotes = 0
        self._quote_level = 0
        self._quote_start: int | None = None
        self._quote_opens = ""
        self._end_line = 0
        self._after_heading = False

    def write(self, tokens: Sequence[Token]) -> None:
        at = 0
        while at < len(tokens):
            at = self._token(tokens, at)

    def _token(self, tokens: Sequence[Token], at: int) -> int:
        """Write ``tokens[at]``, with its content if it is a leaf; where to go on."""
        token = tokens[at]
        if token.type in ("paragraph_open", "heading_open"):
            self._paragraph(token, tokens[at + 1])
            return at + 3
        if token.type == "table_open":
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
            self._table(token, tokens[at:end])
            return end + 1
        if token.type in ("fence", "code_block"):
            language = _LANGUAGE.match(token.info.strip()) if token.type == "fence" else None
            self._code(token, token.content, language[0] if language else "")
        elif token.type == "formula_block":
            self._formula(token)
        elif token.type == "hr":
            self._begin(token.map)
            self._canvas.write(RULE)
        else:
            self._container(token)
        return at + 1

    def _container(self, token: Token) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            self._lists.append(_List(token.type == "ordered_list_open"))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif token.type == "list_item_open":
            self._item(token)
        elif token.type == "list_item_close":
            if self._markers:
                self._markers[-1].text = self._markers[-1].text.rstrip()
                self._begin([self._marked_line, self._marked_line + 1])
            self._margins.pop()
        elif token.type == "blockquote_open":
            if not self._quotes:
                self._quote_level, self._quote_opens = self._margins[-1].level, ""
            self._quotes += 1
            self._margins.append(Margin())
        elif token.type == "blockquote_close":
            self._quotes -= 1
            self._margins.pop()
            if not self._quotes and self._quote_start is not None:
                self._canvas.mark("blockquote", self._quote_start, self._quote_opens, self._quote_level)
                self._quote_start = None

    def _item(self, token: Token) -> None:
        """The item's marker waits for the first line; lists that number every item 1 count on."""
        items, margin = self._lists[-1], self._margins[-1]
        items.number = max(items.number + 1, int(token.info or 0)) if items.ordered else 0
        number = f"{items.number}{token.markup}" if items.ordered else ""
        if not self._markers:
            self._marked_margin = margin
        bullet = number or BULLETS[min(len(self._lists), len(BULLETS)) - 1]
        self._markers.append(_Marker(bullet + " ", number, margin.level + 1, self._quotes > 0))
        self._marked_line = token.map[0] if token.map else self._end_line
        deeper = INDENT if len(self._margins) <= DEEPEST_INDENT else ""
        self._margins.append(Margin(margin.space + deeper, margin.level + 1))

    def _begin(self, lines: Sequence[int] | None, *, heading: bool = False, block: bool = False) -> None:
        """Start a leaf on a line of its own, behind the marker that waits. A ``block`` begins at the very edge.

        ``lines`` of the source are the leaf's first one and the one behind its last.
        """
        canvas = self._canvas
        start, end = lines or (self._end_line, self._end_line)
        if canvas.size:
            canvas.write("\n\n" if start > self._end_line or heading or self._after_heading else "\n")
        opens_quote = self._quotes > 0 and self._quote_start is None
        block = block or (opens_quote and not (self._markers and self._markers[-1].quoted))
        if self._markers:
            self._write_markers(alone=block)
        elif not block:
            canvas.indent(self._margins[-1])
        self._after_heading, self._end_line = heading, end
        if self._quotes and self._quote_start is None:
            self._quote_start = canvas.size

    def _write_markers(self, *, alone: bool) -> None:
        canvas = self._canvas
        if alone:
            self._markers[-1].text = self._markers[-1].text.rstrip()
        canvas.indent(self._marked_margin)
        for marker in self._markers:
            start = canvas.size
            if marker.quoted and self._quote_start is None:
                self._quote_start, self._quote_opens = start, "item"
            canvas.write(marker.text)
            if marker.level:
                canvas.mark("item", start, marker.value, marker.level)
        if alone:
            canvas.write("\n")
        self._markers.clear()

    def _paragraph(self, token: Token, inline: Token) -> None:
        heading = token.type == "heading_open"
        children = list(inline.children or ())
        if not children:
            return
        if self._markers and not heading and (task := _TASK.match(inline.content)) and children[0].type == "text":
            self._check(task[1] != " ")
            children[0] = children[0].copy(content=children[0].content[4:])
        self._begin(token.map, heading=heading)
        start = self._canvas.size
        draw(children, self._canvas, self._margins[-1])
        if heading:
            self._canvas.mark("heading", start, "", int(token.tag[1:]))

    def _check(self, done: bool) -> None:
        box = "☑" if done else "☐"
        if self._lists[-1].ordered:
            self._markers.append(_Marker(box + " ", "", 0, self._quotes > 0))
        else:
            self._markers[-1].text, self._markers[-1].value = box + " ", box

    def _code(self, token: Token, code: str, language: str) -> None:
        code = _BLANK_START.sub("", code).rstrip().expandtabs(4)
        if not code:
            return
        self._begin(token.map, block=True)
        start = self._canvas.size
        self._canvas.write(code)
        self._canvas.mark("pre", start, language, self._margins[-1].level)

    def _formula(self, token: Token) -> None:
        """Lines of text, or of monospace where they have to stand below each other; else its source."""
        from bot.outbox.formula.layout import display  # a library comes with it, which most answers do not need

        shown = display(token.content, tables.WIDEST_COLUMNS)
        if shown is None:
            self._code(token, str(token.meta["source"]), "")
            return
        lines = "\n".join(shown.text) + str(token.meta["behind"])
        if shown.columns:
            self._code(token, lines, "")
            return
        self._begin(token.map)
        for number, line in enumerate(lines.split("\n")):
            if number:
                self._canvas.write("\n")
                self._canvas.indent(self._margins[-1])
            self._canvas.write(line)

    def _table(self, token: Token, tokens: Sequence[Token]) -> None:
        rows = tables.table(tokens, self._canvas)
        if not any(cell.text for row in rows for cell in row):
            return
        if drawn := tables.columns(rows):
            self._code(token, drawn, "")
            return
        self._begin(token.map, block=True)
        tables.draw_rows(rows, self._canvas, self._margins[-1])
