"""What stands within a paragraph: styles, code, links and line breaks, written onto a canvas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from markdown_it.token import Token

from bot.outbox.styled.spans import Canvas, Margin

_STYLES: Final = {"strong": "bold", "em": "italic", "s": "strikethrough", "spoiler": "spoiler"}
_SCHEMES: Final = ("http", "https", "tg", "mailto")


def draw(tokens: Sequence[Token], canvas: Canvas, margin: Margin | None = None) -> None:
    """Write ``tokens``, the children of an inline token; lines begin with ``margin``, or all is one line without it."""
    opened: list[tuple[int, str]] = []
    for token in tokens:
        kind, _, side = token.type.rpartition("_")
        if token.type in ("softbreak", "hardbreak"):
            _break(canvas, margin)
        elif token.type == "code_inline":
            _code(token.content, canvas)
        elif token.type == "formula_inline":
            _formula(token, canvas)
        elif token.type == "image":
            _picture(token, canvas, linked=any(url for _, url in opened))
        elif side == "open":
            opened.append((canvas.size, target(token, "href") if kind == "link" else ""))
        elif side == "close":
            start, url = opened.pop()
            if kind in _STYLES:
                canvas.mark(_STYLES[kind], start)
            elif url:
                canvas.mark("address" if token.info == "auto" else "text_link", start, url)
        else:
            canvas.write(token.content)


def plain(tokens: Sequence[Token], canvas: Canvas) -> str:
    """What :func:`draw` would write on the empty ``canvas``, on one line."""
    draw(tokens, canvas)
    return " ".join(canvas.finished().text.split())


def target(token: Token, name: str) -> str:
    """The address that a link or picture leads to; "" for one that no chat would make a link of."""
    url = str(token.attrGet(name) or "").strip()
    return url if is_link(url) else ""


def is_link(url: str) -> bool:
    """Whether ``url`` is an address of the web, of Telegram itself or of a mailbox."""
    if not url or re.search(r"[\s\x00-\x1f]", url):
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return bool(parts.path)
    if parts.scheme == "tg":
        return bool(host)
    return parts.scheme in _SCHEMES and (host == "localhost" or "." in host.strip(".") or ":" in host)


def _break(canvas: Canvas, margin: Margin | None) -> None:
    if margin is None:
        canvas.write(" ")
    else:
        canvas.write("\n")
        canvas.indent(margin)


def _code(code: str, canvas: Canvas) -> None:
    start = canvas.size
    canvas.write(code.replace("\n", " "))
    canvas.mark("code", start)


def _formula(token: Token, canvas: Canvas) -> None:
    """What it says; what cannot be said in a line is shown as it was written."""
    from bot.outbox.formula.layout import inline  # a library comes with it, which most answers do not need

    said = inline(token.content)
    if said is None:
        _code(str(token.meta["source"]), canvas)
    else:
        canvas.write(said)


def _picture(token: Token, canvas: Canvas, *, linked: bool) -> None:
    url = target(token, "src")
    start = canvas.size
    draw(token.children or [], canvas)
    if canvas.size == start:
        canvas.write(url)
    elif url and not linked:
        canvas.spans = [span for span in canvas.spans if span.start < start or span.kind != "text_link"]
        canvas.mark("text_link", start, url)
