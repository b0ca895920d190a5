"""Formulas in an answer on the terminal: tokens of Markdown with what each of them says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token

WIDEST_COLUMNS: Final = 72
"""Equations that are wider are not aligned below each other."""


def spoken(tokens: Sequence[Token]) -> list[Token]:
    """``tokens`` of the house's dialect in the terms of CommonMark."""
    found: list[Token] = []
    for token in tokens:
        if token.type == "formula_block":
            found += _block(token)
        else:
            if token.children and any(child.type == "formula_inline" for child in token.children):
                token.children = [
                    _inline(child) if child.type == "formula_inline" else child for child in token.children
                ]
            found.append(token)
    return found


def _inline(token: Token) -> Token:
    from bot.outbox.formula.layout import inline  # a library comes with it, which most answers do not need

    said = inline(token.content)
    if said is None:
        return Token("code_inline", "code", 0, content=str(token.meta["source"]), markup="`", level=token.level)
    return Token("text", "", 0, content=said, level=token.level)


def _block(token: Token) -> list[Token]:
    from bot.outbox.formula.layout import display  # a library comes with it, which most answers do not need

    shown = display(token.content, WIDEST_COLUMNS)
    if shown is None or shown.columns:
        lines = "\n".join(shown.text) + str(token.meta["behind"]) if shown else str(token.meta["source"])
        return [
            Token("fence", "code", 0, content=lines + "\n", markup="```", block=True, map=token.map, level=token.level)
        ]
    last = len(shown.text) - 1
    lines_of_text = [line + (str(token.meta["behind"]) if at == last else "") for at, line in enumerate(shown.text)]
    inline = Token(
        "inline", "", 0, content="\n".join(lines_of_text), level=token.level + 1, children=list(_lines(lines_of_text))
    )
    return [
        Token("paragraph_open", "p", 1, block=True, map=token.map, level=token.level),
        inline,
        Token("paragraph_close", "p", -1, block=True, level=token.level),
    ]


def _lines(lines: Sequence[str]) -> Iterator[Token]:
    for number, line in enumerate(lines):
        if number:
            yield Token("hardbreak", "br", 0)
        yield Token("text", "", 0, content=line)
