"""Tables in a chat: columns in monospace where a phone has room for them, else a list of what each row says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from bot.outbox.monospace import width
from bot.outbox.styled.inline import draw, plain
from bot.outbox.styled.spans import Canvas, Margin

WIDEST_COLUMNS: Final = 40
"""Characters of monospace in one line of a phone held upright; a wider block wraps and is no table any more."""

NOTHING: Final = "–"
"""Stands once for the values of a column that has none."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``side`` is "left", "right", "center" or ""."""

    inline: tuple[Token, ...]
    text: str
    side: str


def table(tokens: Sequence[Token], canvas: Canvas) -> list[list[Cell]]:
    """The rows of a table that is to stand on ``canvas``, the header first."""
    rows: list[list[Cell]] = []
    side = ""
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            side = str(token.attrGet("style") or "").rpartition(":")[2]
        elif token.type == "inline":
            children = tuple(token.children or ())
            rows[-1].append(Cell(children, plain(children, canvas.empty()), side))
    return rows


def columns(rows: list[list[Cell]]) -> str:
    """The table in monospace; "" where it is too wide, or has links that monospace would lose."""
    if any(token.type in ("link_open", "image") for row in rows for cell in row for token in cell.inline):
        return ""
    widths = [max(3, *(width(row[at].text) for row in rows)) for at in range(len(rows[0]))]
    if sum(widths) + 3 * (len(widths) - 1) > WIDEST_COLUMNS:
        return ""
    lines = [" | ".join(_padded(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    if not any(cell.text for cell in rows[0]):
        return "\n".join(lines[1:])
    return "\n".join([lines[0], "-+-".join("-" * size for size in widths), *lines[1:]])


def _padded(cell: Cell, size: int) -> str:
    room = size - width(cell.text)
    before = {"right": room, "center": room // 2}.get(cell.side, 0)
    return " " * before + cell.text + " " * (room - before)


def draw_rows(rows: list[list[Cell]], canvas: Canvas, margin: Margin) -> None:
    """One item a row, one line a cell: ``header: value``, the first value bold. Empty cells are left out."""
    header, *body = rows
    empty = {at for at in range(len(header)) if not any(row[at].text for row in body)}
    below = Margin(margin.space + "  ", margin.level + 1)
    begun = False
    for row in body or [header]:
        first = True
        for at, cell in enumerate(row):
            if not cell.text and not (body and at in empty and row is body[0] and header[at].text):
                continue
            if begun:
                canvas.write("\n")
            canvas.indent(margin if first else below)
            if first:
                canvas.write("• ")
                canvas.mark("item", canvas.size - 2, "", below.level)
            if body and header[at].text:
                draw(header[at].inline, canvas)
                canvas.write(": ")
            _draw_value(cell, canvas, below, bold=first)
            begun, first = True, False


def _draw_value(cell: Cell, canvas: Canvas, margin: Margin, *, bold: bool) -> None:
    start = canvas.size
    draw(cell.inline, canvas, margin)
    if not cell.text:
        canvas.write(NOTHING)
    elif bold:
        canvas.mark("bold", start)
