"""Reads a formula: the source in TeX becomes a tree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from bot.outbox.formula import chemistry
from bot.outbox.formula.commands import (
    ACCENTS,
    ALIGNED,
    ALPHABETS,
    FENCES,
    FRAMES,
    FUNCTIONS,
    IGNORED,
    RELATIONS,
    SPACES,
    TABLES,
    TEXTS,
    TRANSPARENT,
    UNSEEN,
    UPRIGHT,
    kind_of,
)
from bot.outbox.formula.source import DEEPEST, Char, Command, Environment, Group, Piece, pieces, symbol
from bot.outbox.formula.stream import NO_BREAK, Stream, refuse, words_of
from bot.outbox.formula.tree import (
    Accent,
    Fenced,
    Fraction,
    Framed,
    Kind,
    Node,
    Root,
    Row,
    Scripted,
    Space,
    Stacked,
    Symbol,
    Table,
    Unreadable,
)

FORMULAS_KEPT: Final = 1024
ARROWS: Final = {"xrightarrow": "→", "xleftarrow": "←", "xleftrightarrow": "↔", "xRightarrow": "⇒"}

_PROSE = re.compile(r"\s*(?:and|or|[a-z]{2,}(?:\s+[a-z]{2,})+)\s*")
"""Brackets with a backslash, or dollars, around plain words: somebody writes about the signs."""
_LOOKS: Final = {"-": "−", "~": NO_BREAK, "`": "‘"}
_PRIMES: Final = ("", "′", "″", "‴")


@lru_cache(maxsize=FORMULAS_KEPT)
def read(source: str) -> Row | None:
    """The formula, without what stands around it; None where its source is better shown as it is. Never raises."""
    if not source.strip() or _PROSE.fullmatch(source):
        return None
    try:
        return _Reader(pieces(source)).whole()
    except (Unreadable, RecursionError):
        return None


class _Reader(Stream):
    """Reads pieces that stand next to each other. ``alphabet`` is that of the letters among them."""

    def __init__(self, found: Sequence[Piece], alphabet: str = "", depth: int = 0) -> None:
        super().__init__(found)
        self._alphabet, self._depth = alphabet, depth
        if depth > 2 * DEEPEST:
            raise Unreadable

    def whole(self) -> Row:
        """All of it as one row; at the top level, where lines are broken, a table of them."""
        for name in ("over", "choose"):
            if Command(name) in self._pieces:
                return self._split(name)
        rows, _ = self._rows()
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]
        if self._depth or any(len(cells) > 1 for cells in rows):
            raise Unreadable
        return Row((Table(tuple(rows), sides="l"),))

    def _split(self, name: str) -> Row:
        """``{a \\over b}``, as TeX itself has it."""
        at = self._pieces.index(Command(name))
        halves = (self._pieces[:at], self._pieces[at + 1 :])
        top, bottom = (_Reader(half, self._alphabet, self._depth + 1).whole() for half in halves)
        return Row((Fraction(top, bottom, bar=name == "over"),)) if top.items and bottom.items else refuse()

    def _rows(self) -> tuple[list[tuple[Row, ...]], frozenset[int]]:
        rows: list[tuple[Row, ...]] = []
        rules: set[int] = set()
        cells: list[Row] = []
        while True:
            while self._name() == "hline":
                self._take()
                rules.add(len(rows))
            cells.append(self._row())
            end = self._peek()
            if end is not None:
                self._take()
            if end != Char("&"):
                rows.append(tuple(cells))
                cells = []
            if end is None:
                if len(rows) > 1 and not any(cell.items for cell in rows[-1]):
                    rows.pop()
                return rows, frozenset(rules)

    def _row(self, *, fenced: bool = False) -> Row:
        """Up to the end of a cell, which is not taken."""
        items: list[Node] = []
        while (piece := self._peek()) is not None and piece != Char("&"):
            name = self._name()
            if name in ("\\", "cr", "newline") or (name == "hline" and not items):
                break
            if name == "right" and fenced:
                break
            items += self._scripted()
        return Row(tuple(items))

    def _scripted(self) -> list[Node]:
        """An atom with its scripts; nothing where the source has only what is not seen."""
        base: Node | None = Row() if self._char() in ("^", "_", "'") else self._atom()
        if base is None:
            return []
        while self._name() in ("limits", "nolimits"):
            self._take()
        below: Row | None = None
        above: Row | None = None
        primes = False
        while (mark := self._char()) in ("^", "_", "'"):
            if mark == "'":
                if above is not None:
                    raise Unreadable
                above, primes = self._primes(), True
                continue
            self._take()
            script = self._argument()
            if mark == "_":
                if below is not None:
                    raise Unreadable
                below = script
            elif above is not None and not primes:
                raise Unreadable
            else:
                above, primes = Row((*above.items, *script.items)) if above else script, False
        return [base] if below is None and above is None else [Scripted(base, below, above)]

    def _primes(self) -> Row:
        count = 0
        while self._char() == "'":
            self._take()
            count += 1
        return Row((Symbol(_PRIMES[count] if count < len(_PRIMES) else "′" * count, "postfix"),))

    def _argument(self) -> Row:
        """Of a script: a group, or one sign."""
        piece = self._peek()
        if isinstance(piece, Group):
            self._take()
            return self._inside(piece)
        if isinstance(piece, Char):
            if piece.text in ("^", "_", "&", "'"):
                raise Unreadable
            if piece.text[0].isdigit() and len(piece.text) > 1:
                self._pieces = [*self._pieces]
                at = self._pieces.index(piece, self._at)
                self._pieces[at : at + 1] = [Char(piece.text[0]), *map(Char, piece.text[1:])]
        atom = self._atom()
        if atom is None:
            raise Unreadable
        return atom if isinstance(atom, Row) else Row((atom,))

    def _inside(self, group: Group | None, alphabet: str | None = None) -> Row:
        if group is None:
            raise Unreadable
        alphabet = self._alphabet if alphabet is None else alphabet
        return _Reader(group.pieces, alphabet, self._depth + 1).whole()

    def _atom(self) -> Node | None:
        piece = self._take()
        if isinstance(piece, Char):
            return self._sign(_LOOKS.get(piece.text, piece.text))
        if isinstance(piece, Group):
            return self._inside(piece) if not piece.math else refuse()
        if isinstance(piece, Environment):
            return self._table(piece)
        return self._command(piece)

    def _sign(self, text: str) -> Node:
        if text == NO_BREAK:
            return Space(SPACES["~"])
        if text[0].isdigit():
            return Symbol(text, "number", self._alphabet)
        kind = kind_of(text)
        before, after = self._spaced(self._at - 2), self._spaced(self._at)
        if kind == "letter" and self._alphabet == "upright" and text.isalpha():
            return self._word(text)
        return Symbol(text, kind, self._alphabet if kind == "letter" else "", before, after)

    def _word(self, text: str) -> Symbol:
        """Upright letters in a row are one word."""
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            if not (isinstance(piece, Char) and piece.text.isalpha()):
                break
            text += piece.text
            self._at += 1
        return Symbol(text, "word" if len(text) > 1 else "letter", "upright")

    def _command(self, command: Command) -> Node | None:
        name = command.name
        if name in IGNORED:
            return None
        if name in SPACES:
            return Space(SPACES[name])
        if name in FUNCTIONS:
            return Symbol(name, "function")
        if name in TEXTS:
            return _text(command.arguments[-1], self._depth)
        if name in UPRIGHT or name in ALPHABETS:
            return _only(self._inside(command.arguments[-1], ALPHABETS.get(name, "upright")))
        if (sign := symbol(name)) and not command.arguments:
            before, after = self._spaced(self._at - 2), self._spaced(self._at)
            kind = "relation" if name in RELATIONS else kind_of(sign)
            return Symbol(sign, kind, self._alphabet if kind == "letter" else "", before, after or name == "colon")
        return self._structure(command)

    def _structure(self, command: Command) -> Node | None:
        name, arguments = command.name, command.arguments
        if name in ("frac", "dfrac", "tfrac", "cfrac", "binom", "dbinom", "tbinom"):
            top, bottom = self._inside(arguments[0]), self._inside(arguments[1])
            return Fraction(top, bottom, bar=name.endswith("frac")) if top.items and bottom.items else refuse()
        if name == "sqrt":
            return Root(self._inside(arguments[1]), self._inside(arguments[0]) if arguments[0] else None)
        if name in ACCENTS:
            return Accent(name, self._inside(arguments[0]))
        if name in FENCES:
            return Fenced(FENCES[name][0], self._inside(arguments[0]), FENCES[name][1])
        if name in FRAMES:
            return Framed(FRAMES[name], self._inside(arguments[0]))
        if name in TRANSPARENT:
            return self._inside(arguments[0])
        if name == "left":
            return self._fenced()
        if name in ("overset", "stackrel"):
            return Stacked(self._inside(arguments[1]), self._inside(arguments[0]), None)
        if name == "underset":
            return Stacked(self._inside(arguments[1]), None, self._inside(arguments[0]))
        if name in ARROWS:
            arrow = Row((Symbol(ARROWS[name], "relation"),))
            below = self._inside(arguments[0]) if arguments[0] else None
            return Stacked(arrow, self._inside(arguments[1]), below, stretches=True)
        return self._remark(command)

    def _remark(self, command: Command) -> Node | None:
        name, arguments = command.name, command.arguments
        if name in UNSEEN or name == "color":
            return None
        if name == "textcolor":
            return self._inside(arguments[1])
        if name == "hspace":
            return Space(1.0)
        if name == "operatorname":
            return Symbol(words_of(arguments[1]), "function", "upright") if arguments[1] else refuse()
        if name == "not":
            return _negated(self._inside(arguments[0]))
        if name in ("bmod", "pmod", "pod"):
            return self._modulo(name, arguments)
        if name == "tag":
            return Row((Space(1.0), Symbol(f"({words_of(arguments[0])})", "word", "upright")))
        if name == "ce":
            return _Reader(pieces(chemistry.formula(command.raw)), "upright", self._depth + 1).whole()
        if name == "substack":
            rows, _ = _Reader(arguments[0].pieces if arguments[0] else (), self._alphabet, self._depth + 1)._rows()
            return Table(tuple(rows))
        raise Unreadable

    def _modulo(self, name: str, arguments: tuple[Group | None, ...]) -> Node:
        mod = Symbol("mod", "function")
        if name == "bmod":
            return Row((Space(0.28), mod, Space(0.28)))
        body = self._inside(arguments[0])
        within = Row((mod, Space(0.28), *body.items)) if name == "pmod" else body
        return Row((Space(0.5), Fenced("(", within, ")")))

    def _fenced(self) -> Node:
        opening = self._fence()
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable
        body = self._row(fenced=True)
        self._depth -= 1
        if self._name() != "right":
            raise Unreadable
        self._take()
        return Fenced(opening, body, self._fence())

    def _fence(self) -> str:
        piece = self._take()
        if piece == Char("."):
            return ""
        sign = piece.text if isinstance(piece, Char) else symbol(piece.name) if isinstance(piece, Command) else ""
        if len(sign) != 1 or sign.isalnum() or sign.isspace():
            raise Unreadable
        return {"<": "⟨", ">": "⟩"}.get(sign, sign)

    def _table(self, environment: Environment) -> Node:
        opening, closing, sides = TABLES[environment.name]
        rows, rules = _Reader(environment.pieces, "", self._depth + 1)._rows()
        if environment.name == "array":
            sides = re.sub("[^lcr]", "", re.sub(r"\{[^}]*\}", "", environment.columns)) or sides
        if environment.name in ("equation", "math", "displaymath") and [len(row) for row in rows] == [1]:
            return rows[0][0]
        return Table(tuple(rows), opening, closing, sides, environment.name in ALIGNED, rules)


def _only(row: Row) -> Node:
    return row.items[0] if len(row.items) == 1 else row


def _negated(row: Row) -> Node:
    sign = row.items[0] if len(row.items) == 1 else None
    if not isinstance(sign, Symbol) or len(sign.text) != 1:
        raise Unreadable
    return Symbol(unicodedata.normalize("NFC", sign.text + "\u0338"), "relation")


def _text(group: Group | None, depth: int) -> Node:
    """Words as they are written, and the formulas between dollars among them."""
    items: list[Node] = []
    words = ""
    for piece in group.pieces if group else refuse():
        if isinstance(piece, Group) and piece.math:
            items += [Symbol(words, "word", "upright")] if words else []
            items.append(_Reader(piece.pieces, "", depth + 1).whole())
            words = ""
        else:
            words += words_of(Group((piece,)))
    items += [Symbol(words, _kind(words), "upright")] if words else []
    return _only(Row(tuple(items)))


def _kind(words: str) -> Kind:
    return "letter" if len(words) == 1 and words.isalpha() else "word"
