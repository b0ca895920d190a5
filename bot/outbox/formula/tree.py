"""A formula as a tree: what its parts are to each other, whatever shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "letter", "number", "word", "function", "big", "binary", "relation", "open", "close", "fence", "comma", "postfix"
]
"""``word``: letters that are read as one; ``function``: a name that is applied, as sin and lim; ``big``: a sum, an integral;
``fence``: a bar, which may open or close; ``comma``: any punctuation; ``postfix``: belongs to what stands before it."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """One sign or name. ``alphabet`` is Unicode's name of a mathematical one, or "upright"; ``before`` and ``after`` say
    where the source has space."""

    text: str
    kind: Kind
    alphabet: str = ""
    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True)
class Space:
    """``em``: its width; ``narrow`` space still multiplies what stands around it."""

    em: float

    @property
    def narrow(self) -> bool:
        return self.em < 1


@dataclass(frozen=True, slots=True)
class Row:
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Scripted:
    """``base`` is an empty row where the scripts stand before something."""

    base: Node
    below: Row | None
    above: Row | None


@dataclass(frozen=True, slots=True)
class Fraction:
    """Without its ``bar`` it is a binomial coefficient, in parentheses."""

    top: Row
    bottom: Row
    bar: bool = True


@dataclass(frozen=True, slots=True)
class Root:
    body: Row
    degree: Row | None = None


@dataclass(frozen=True, slots=True)
class Accent:
    """``name`` is that of TeX's command."""

    name: str
    body: Row


@dataclass(frozen=True, slots=True)
class Stacked:
    """Something small above or below ``base``, which may be an arrow as long as it needs to be."""

    base: Row
    above: Row | None
    below: Row | None
    stretches: bool = False


@dataclass(frozen=True, slots=True)
class Fenced:
    """Fences as high as what they enclose; "" for none."""

    opening: str
    body: Row
    closing: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells. ``sides`` has "l", "c" or "r" for the columns, the last one for all that follow; a pair of columns
    of ``aligned`` ones meets at the relation. ``rules`` are the numbers of the rows that have a line above them."""

    rows: tuple[tuple[Row, ...], ...]
    opening: str = ""
    closing: str = ""
    sides: str = "c"
    aligned: bool = False
    rules: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Framed:
    """``body`` in a box ("boxed") or struck out ("cancel")."""

    name: str
    body: Row


Node = Symbol | Space | Row | Scripted | Fraction | Root | Accent | Stacked | Fenced | Table | Framed


class Unreadable(Exception):
    """The formula uses something that is not understood here: its source is the better thing to show."""
