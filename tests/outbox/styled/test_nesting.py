"""Markers around styled text."""

from __future__ import annotations

import pytest

from bot.outbox.styled.nesting import Atom, nested

MARKS = {"bold": "B", "italic": "I"}


def atoms(*pieces: str) -> list[Atom]:
    """``text/styles``; the styles are b and i."""
    kinds = {"b": "bold", "i": "italic", "u": "underline"}
    parts = (piece.rpartition("/") for piece in pieces)
    return [Atom(text, frozenset(kinds[style] for style in styles)) for text, _, styles in parts]


@pytest.mark.parametrize(
    ("pieces", "markup"),
    [
        (("a/", "b/b", "c/"), "a[B]b[B]c"),
        (("a/b", "b/bi", "c/b"), "[B]a[I]b[I]c[B]"),
        (("a/bi", "b/b"), "[BI]a[I]b[B]"),
        (("a/bi", "b/i"), "[IB]a[B]b[I]"),
        (("a/b", "b/i"), "[B]a[B|I]b[I]"),
        ((" a /b", "b/"), " [B]a[B] b"),
        (("a/b", " /b", "b/b"), "[B]a b[B]"),
        (("a/b", " /", "b/b"), "[B]a[B] [B]b[B]"),
        (("a/u",), "a"),
        (("/b", " /b"), " "),
    ],
)
def test_markers_are_opened_and_closed_in_turn(pieces: tuple[str, ...], markup: str) -> None:
    def border(before: str, closing: str, opening: str, after: str) -> str:
        return f"[{closing}{'|' if closing and opening else ''}{opening}]"

    assert nested(atoms(*pieces), MARKS, border) == markup


def test_a_border_sees_its_neighbours() -> None:
    seen: list[tuple[str, str, str, str]] = []

    def border(before: str, closing: str, opening: str, after: str) -> str:
        seen.append((before, closing, opening, after))
        return closing + opening

    nested(atoms("ab/", "cd/b", "ef/"), MARKS, border)
    assert seen == [("b", "", "B", "c"), ("d", "B", "", "e")]
