"""HTML as text: headings, lists, tables and links stay recognisable, scripts and styles go."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from bot.attachments.ends import Ends

_UNSEEN: Final = frozenset({"script", "style", "template", "noscript", "svg"})
_HEADINGS: Final = {"h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_BLOCKS: Final = frozenset(
    {
        *_HEADINGS,
        *("address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "figure", "footer", "form", "header"),
        *("hr", "main", "nav", "ol", "p", "pre", "section", "table", "title", "ul"),
    }
)
_LINES: Final = frozenset({"br", "li", "tr", "option"})
_BLANKS: Final = re.compile(r"[ \t\r\n\f]+")


class _Reader(HTMLParser):
    def __init__(self, ends: Ends) -> None:
        super().__init__(convert_charrefs=True)
        self._ends = ends
        self._unseen = self._pre = 0
        self._break = 0
        self._space = False
        self._link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        self._broken(tag)
        if tag == "pre":
            self._pre += 1
        elif tag == "li":
            self._write("- ")
        elif tag in ("td", "th"):
            self._write("| ")
        elif tag in _HEADINGS:
            self._write(_HEADINGS[tag])
        elif tag == "a":
            self._link = dict(attrs).get("href") or ""
        elif tag == "img" and (alt := dict(attrs).get("alt")):
            self._write(f"[picture: {alt}]")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
        elif tag == "a" and self._link.startswith(("http://", "https://")):
            self._write(f" ({self._link})")
            self._link = ""
        elif tag in ("td", "th"):
            self._space = True
        self._broken(tag)

    def handle_data(self, data: str) -> None:
        if self._pre:
            self._write(data)
            return
        words = _BLANKS.sub(" ", data)
        self._space = self._space or words.startswith(" ")
        if words.strip():
            self._write(words.strip())
            self._space = words.endswith(" ")

    def _broken(self, tag: str) -> None:
        self._break = max(self._break, 2 if tag in _BLOCKS else 1 if tag in _LINES else 0)

    def _write(self, text: str) -> None:
        if self._unseen:
            return
        if self._break:
            self._ends.add("\n" * self._break)
        elif self._space:
            self._ends.add(" ")
        self._break, self._space = 0, False
        self._ends.add(text)


def read_page(html: str, ends: Ends) -> None:
    """Any text is read, however broken its markup."""
    reader = _Reader(ends)
    for start in range(0, len(html), 65_536):
        reader.feed(html[start : start + 65_536])
    reader.close()
