"""What a person sees of a message on Discord, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Final
from urllib.parse import unquote

from bot.outbox.styled.spans import Styled
from tests.channels.discord.reader import DEEPEST_LIST, Client, Node, read
from tests.outbox.styled.sight import Look, Page, Sight, look, sights

HEADINGS: Final = 3
MARKS: Final = {"bold": "*", "italic": "*", "underline": "_", "strikethrough": "~~", "spoiler": "||"}
STYLES: Final = {"strong": "bold", "em": "italic", "u": "underline", "s": "strikethrough", "spoiler": "spoiler"}


def wanted(styled: Styled) -> list[Sight]:
    """An address that is shown itself has no style whose markers it holds."""
    found = sights(styled, headings=HEADINGS, deepest=DEEPEST_LIST)
    return [replace(sight, looks=tuple(_looks(sight))) for sight in found]


def _looks(sight: Sight) -> Iterator[Look]:
    chars = zip((char for char in sight.text if not char.isspace()), sight.looks, strict=False)
    for link, group in groupby(chars, key=lambda pair: pair[1].link):
        pairs = list(group)
        text = "".join(char for char, _ in pairs)
        bare = bool(link) and not unquote(text).replace(link, "")
        lost = {style for style, mark in MARKS.items() if bare and mark in text}
        yield from (replace(one, styles=one.styles - lost) for _, one in pairs)


def seen(content: str, client: Client = Client.NEW) -> list[Sight]:
    page = Page()
    _write(page, read(content, client), Look())
    return page.seen()


def _write(page: Page, nodes: Iterable[Node], now: Look) -> None:
    for node in nodes:
        if node.kind in ("text", "br"):
            page.write(node.text, now)
        elif node.kind == "code":
            page.write(node.text, look(link=now.link, code=True))
        elif node.kind == "codeBlock":
            page.code(node.text, node.value)
        elif node.kind == "link":
            _write(page, node.children or [Node("text", node.text)], replace(now, link=look(link=node.value).link))
        elif node.kind in STYLES:
            _write(page, node.children, replace(now, styles=now.styles | {STYLES[node.kind]}))
        elif node.kind == "list":
            _list(page, node, now)
        else:
            _block(page, node, now)


def _block(page: Page, node: Node, now: Look) -> None:
    """A heading or a quotation; what is none of ours stands out."""
    page.end()
    around = page.where
    if node.kind == "quote":
        page.where = Sight("", quoted=True, outer=around.depth)
    else:
        page.where = replace(around, kind=f"{node.kind} {node.value}".strip())
    _write(page, node.children or [Node("text", node.text)], now)
    page.end()
    page.where = around


def _list(page: Page, node: Node, now: Look) -> None:
    page.end()
    around = page.where
    page.where = replace(around, depth=around.depth + 1)
    for number, item in enumerate(node.items):
        page.mark(f"{int(node.value) + number}." if node.value else "•")
        _write(page, item, now)
        page.end()
    page.where = around
