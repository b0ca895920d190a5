"""Pieces of a formula that are taken one after the other, and the plain words among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

from bot.outbox.formula.commands import SPACES, TEXTS, UPRIGHT
from bot.outbox.formula.source import Char, Command, Group, Piece, symbol
from bot.outbox.formula.tree import Unreadable

NO_BREAK = "\u00a0"


class Stream:
    """Space means nothing, but for the one that is not to be broken."""

    def __init__(self, found: Sequence[Piece]) -> None:
        self._pieces, self._at = found, 0

    def _peek(self) -> Piece | None:
        """The next piece that is no space."""
        at = self._at
        while at < len(self._pieces):
            piece = self._pieces[at]
            if not (isinstance(piece, Char) and piece.text.isspace() and piece.text != NO_BREAK):
                return piece
            at += 1
        return None

    def _take(self) -> Piece:
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            if not (isinstance(piece, Char) and piece.text.isspace() and piece.text != NO_BREAK):
                return piece
        raise Unreadable

    def _name(self) -> str:
        piece = self._peek()
        return piece.name if isinstance(piece, Command) else ""

    def _char(self) -> str:
        piece = self._peek()
        return piece.text if isinstance(piece, Char) else ""

    def _spaced(self, at: int) -> bool:
        piece = self._pieces[at] if 0 <= at < len(self._pieces) else None
        return isinstance(piece, Char) and piece.text.isspace()


def refuse() -> Never:
    raise Unreadable


def words_of(group: Group | None) -> str:
    """The words of a group in which nothing but letters and signs is expected."""
    words = ""
    for piece in group.pieces if group else refuse():
        if isinstance(piece, Char):
            words += " " if piece.text.isspace() else {"~": " ", "`": "‘"}.get(piece.text, piece.text)
        elif isinstance(piece, Group):
            words += words_of(piece)
        elif isinstance(piece, Command) and piece.arguments and (piece.name in TEXTS or piece.name in UPRIGHT):
            words += words_of(piece.arguments[-1])
        elif isinstance(piece, Command) and piece.name in SPACES:
            words += " " if SPACES[piece.name] else ""
        elif isinstance(piece, Command) and not piece.arguments and (sign := symbol(piece.name)):
            words += sign
        else:
            raise Unreadable
    return words
