"""Lays a formula out that stands alone: matrices and systems of equations over several lines of monospace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bot.outbox.formula.letters import lowered, raised
from bot.outbox.formula.plain import plain
from bot.outbox.formula.reader import FORMULAS_KEPT, read
from bot.outbox.formula.tree import Fenced, Node, Row, Scripted, Table
from bot.outbox.monospace import width

_PIECES: Final = {
    "(": "⎛⎜⎜⎝",
    ")": "⎞⎟⎟⎠",
    "[": "⎡⎢⎢⎣",
    "]": "⎤⎥⎥⎦",
    "{": "⎧⎪⎨⎩",
    "}": "⎫⎪⎬⎭",
    "⌊": "⎢⎢⎢⎣",
    "⌋": "⎥⎥⎥⎦",
    "⌈": "⎡⎢⎢⎢",
    "⌉": "⎤⎥⎥⎥",
}
"""The top of a high fence, what goes on, its middle and its bottom."""
CELL_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Lines:
    """``columns``: the lines belong below each other, character by character."""

    text: tuple[str, ...]
    columns: bool


@dataclass(frozen=True, slots=True)
class _Box:
    """Lines of one width; ``base`` is the one that stands on the line of the text around."""

    lines: tuple[str, ...]
    base: int = 0

    @property
    def width(self) -> int:
        return width(self.lines[0]) if self.lines else 0


@lru_cache(maxsize=FORMULAS_KEPT)
def inline(source: str) -> str | None:
    """The formula on one line; None where its source is better shown as it is."""
    row = read(source)
    return (plain(row) or None) if row is not None else None


@lru_cache(maxsize=FORMULAS_KEPT)
def display(source: str, widest: int) -> Lines | None:
    """The formula over several lines where it needs them. Equations below each other that would be wider than ``widest``
    columns are not aligned."""
    row = read(source)
    if row is None:
        return None
    if not any(_is_high(item) for item in row.items):
        text = plain(row)
        return Lines((text,), columns=False) if text else None
    box = _row(row)
    table = row.items[0] if len(row.items) == 1 else None
    if isinstance(table, Table) and _is_open(table) and (box.width > widest or not table.aligned):
        return Lines(tuple(plain(_together(cells)) for cells in table.rows), columns=False)
    return Lines(tuple(line.rstrip() for line in box.lines), columns=True)


def _is_open(table: Table) -> bool:
    """Whether it is but equations, or lines, below each other."""
    if table.opening or table.closing or table.rules:
        return False
    if any(_is_high(item) for cells in table.rows for cell in cells for item in cell.items):
        return False
    return table.aligned or max(map(len, table.rows)) == 1


def _together(cells: Sequence[Row]) -> Row:
    return Row(tuple(item for cell in cells for item in cell.items))


def _is_high(node: Node) -> bool:
    if isinstance(node, Table):
        return len(node.rows) > 1 or any(_is_high(item) for cells in node.rows for cell in cells for item in cell.items)
    if isinstance(node, Scripted):
        return _is_high(node.base)
    if isinstance(node, Fenced):
        return any(_is_high(item) for item in node.body.items)
    return isinstance(node, Row) and any(_is_high(item) for item in node.items)


def _row(row: Row) -> _Box:
    """What stands side by side."""
    boxes: list[_Box] = []
    flat: list[Node] = []
    for item in row.items:
        if _is_high(item):
            boxes += _text(flat, beside=True)
            boxes.append(_high(item))
            flat = []
        else:
            flat.append(item)
    return _beside([*boxes, *_text(flat)])


def _text(items: Sequence[Node], *, beside: bool = False) -> list[_Box]:
    text = plain(Row(tuple(items)), beside=beside)
    return [_Box((text,))] if text else []


def _high(node: Node) -> _Box:
    match node:
        case Table():
            return _fenced(node.opening, _table(node), node.closing)
        case Fenced():
            return _fenced(node.opening, _row(node.body), node.closing)
        case Scripted():
            return _scripted(node)
        case Row():
            return _row(node)
    return _Box((plain(Row((node,))),))


def _scripted(node: Scripted) -> _Box:
    box = _high(node.base)
    above = plain(node.above) if node.above else ""
    below = plain(node.below) if node.below else ""
    ends = [""] * len(box.lines)
    ends[0] = raised(above) or (f"^({above})" if above else "")
    ends[-1] += lowered(below) or (f"_({below})" if below else "")
    most = max(map(width, ends))
    lines = (line + end + " " * (most - width(end)) for line, end in zip(box.lines, ends, strict=True))
    return _Box(tuple(lines), box.base)


def _beside(boxes: Sequence[_Box]) -> _Box:
    """Next to each other, a space apart but for punctuation."""
    if not boxes:
        return _Box(("",))
    above = max(box.base for box in boxes)
    below = max(len(box.lines) - box.base for box in boxes)
    lines = [""] * (above + below)
    for number, box in enumerate(boxes):
        start = above - box.base
        gap = "" if not number or box.lines[box.base][:1] in ".,;:" else " "
        for at in range(above + below):
            inside = start <= at < start + len(box.lines)
            lines[at] += gap + (box.lines[at - start] if inside else " " * box.width)
    return _Box(tuple(lines), above)


def _fenced(opening: str, box: _Box, closing: str) -> _Box:
    height = len(box.lines)
    left, right = _fence(opening, height), _fence(closing, height)
    gap = " " if opening == "{" else ""
    lines = (f"{left[at]}{gap}{line}{right[at]}" for at, line in enumerate(box.lines))
    return _Box(tuple(lines), box.base)


def _fence(sign: str, height: int) -> Sequence[str]:
    if not sign or height == 1:
        return [sign] * height
    top, on, middle, bottom = tuple(_PIECES.get(sign, sign * 4))
    return [top, *(middle if 2 * at == height - 1 else on for at in range(1, height - 1)), bottom]


def _table(table: Table) -> _Box:
    columns = max(map(len, table.rows))
    cells = [[_row(row) for row in cells] + [_Box(("",))] * (columns - len(cells)) for cells in table.rows]
    sides = [table.sides[min(at, len(table.sides) - 1)] for at in range(columns)]
    if table.aligned:
        sides = [table.sides[at % len(table.sides)] for at in range(columns)]
    widths = [max(cells[number][at].width for number in range(len(cells))) for at in range(columns)]
    lines: list[str] = []
    for number, row in enumerate(cells):
        if number in table.rules:
            lines.append("─" * _whole_width(table, widths))
        lines += _cells(table, row, sides, widths)
    return _Box(tuple(lines), (len(lines) - 1) // 2)


def _whole_width(table: Table, widths: Sequence[int]) -> int:
    return sum(widths) + sum(len(_gap(table, at)) for at in range(len(widths)))


def _gap(table: Table, at: int) -> str:
    """Before the column ``at``: a relation meets what stands left of it."""
    if not at:
        return ""
    return (" " if at % len(table.sides) else CELL_GAP + " ") if table.aligned else CELL_GAP


def _cells(table: Table, row: Sequence[_Box], sides: Sequence[str], widths: Sequence[int]) -> list[str]:
    above = max(box.base for box in row)
    below = max(len(box.lines) - box.base for box in row)
    lines = [""] * (above + below)
    for at, box in enumerate(row):
        start = above - box.base
        room = widths[at] - box.width
        lead = {"r": room, "c": room // 2}.get(sides[at], 0)
        for number in range(above + below):
            inside = start <= number < start + len(box.lines)
            text = box.lines[number - start] if inside else " " * box.width
            lines[number] += _gap(table, at) + " " * lead + text + " " * (room - lead)
    return lines
