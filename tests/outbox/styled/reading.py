"""The referee of styled text: which words a reader of the same Markdown as HTML would see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from bot.outbox.dialect import formulas
from bot.outbox.formula.layout import display, inline
from bot.outbox.styled.tables import WIDEST_COLUMNS

WORD = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")


@dataclass
class Table:
    rows: list[list[str]] = field(default_factory=list)

    def as_columns(self) -> str:
        return " ".join(cell for row in self.rows for cell in row)

    def as_rows(self) -> str:
        header, *body = self.rows
        if not body:
            return self.as_columns()
        pairs = (zip(header, row, strict=True) for row in body)
        return " ".join(
            f"{name} : {cell}" if name.strip() else cell for row in pairs for name, cell in row if cell.strip()
        )


class Reading(HTMLParser):
    """What is read on a page: text, pictures' names, markers of lists, rules; tables apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.pieces: list[str | Table] = [""]
        self._lists: list[int | None] = []
        self._table: Table | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "ol":
            self._lists.append(int(values.get("start") or 1))
        elif tag == "ul":
            self._lists.append(None)
        elif tag == "li":
            self._say(self._marker())
        elif tag == "table":
            self._table = Table()
        elif tag == "tr" and self._table:
            self._table.rows.append([])
        elif tag in ("th", "td") and self._table:
            self._table.rows[-1].append("")
        elif tag == "img":
            self._say(values.get("alt") or "")
        elif tag == "hr":
            self._say(" ——— ")
        elif tag in ("br", "p", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"):
            self._say(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("ol", "ul"):
            self._lists.pop()
        elif tag == "table" and self._table:
            self.pieces += [self._table, ""]
            self._table = None
        elif tag in ("p", "pre", "li", "h1", "h2", "h3", "h4", "h5", "h6"):
            self._say(" ")

    def handle_data(self, data: str) -> None:
        self._say(data)

    def _marker(self) -> str:
        number = self._lists[-1]
        if number is None:
            return f" {'•◦▪'[min(len(self._lists), 3) - 1]} "
        self._lists[-1] = number + 1
        return f" {number}. "

    def _say(self, text: str) -> None:
        if self._table:
            if self._table.rows and self._table.rows[-1]:
                self._table.rows[-1][-1] += text
        else:
            self.pieces[-1] = str(self.pieces[-1]) + text


def reference() -> MarkdownIt:
    """CommonMark with tables and strikethrough, raw HTML shown: nothing of the house's dialect but its formulas, which
    tests/outbox/formula is about."""
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": 60})
    md.enable(["table", "strikethrough"])
    formulas(md)
    md.add_render_rule("formula_inline", _formula)
    md.add_render_rule("formula_block", _formula)
    md.validateLink = lambda url: True  # type: ignore[method-assign]
    return md


def _formula(renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: Any) -> str:
    token = tokens[at]
    shown = display(token.content, WIDEST_COLUMNS) if token.block else None
    line = "\n".join(shown.text) if shown else inline(token.content)
    said = escape(str(token.meta["source"]) if line is None else line)
    return f"\n{said}\n" if token.block else said


def words(text: str) -> list[str]:
    """The words of ``text``; a literal ``<br>`` may be read as a line break or as it stands."""
    return [word for word in WORD.findall(text) if word != "br"]


def misread(rendered: str, pieces: Sequence[str | Table]) -> str:
    """Where the words of ``rendered`` leave the expected ones; "" where they are the same in the same order."""
    seen, at = words(rendered), 0
    for piece in pieces:
        choices = [piece] if isinstance(piece, str) else [piece.as_columns(), piece.as_rows()]
        for choice in map(words, choices):
            if seen[at : at + len(choice)] == choice:
                at += len(choice)
                break
        else:
            wanted = words(choices[0])
            same = next((i for i, word in enumerate(wanted) if seen[at + i : at + i + 1] != [word]), len(wanted))
            return f"expected {wanted[max(0, same - 5) : same + 8]}, got {seen[at + max(0, same - 5) : at + same + 8]}"
    return "" if at == len(seen) else f"also {seen[at : at + 12]}"
