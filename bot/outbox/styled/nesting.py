"""Markers around styled text, for markups that have them: opened and closed in turn, and never beside white space."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

FURTHEST_REACH: Final = 50

Border = Callable[[str, str, str, str], str]
"""What stands between two atoms: made of the character before, what closes there, what opens there, the one behind."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A piece of finished markup, and the styles that are to be put around it."""

    markup: str
    styles: frozenset[str] = frozenset()


def nested(atoms: Sequence[Atom], marks: Mapping[str, str], border: Border) -> str:
    """``atoms`` with the markers of their styles; a style that ``marks`` does not name has none."""
    drawn = _trimmed([replace(atom, styles=atom.styles & marks.keys()) for atom in atoms if atom.markup])
    pieces: list[str] = []
    opened: list[str] = []
    for number, atom in enumerate([*drawn, Atom("")]):
        kept = next((at for at, style in enumerate(opened) if style not in atom.styles), len(opened))
        closing = "".join(marks[style] for style in reversed(opened[kept:]))
        fresh = sorted(atom.styles.difference(opened[:kept]), key=lambda style: (-_reach(drawn, number, style), style))
        opening = "".join(marks[style] for style in fresh)
        if closing or opening:
            pieces.append(border(pieces[-1][-1:] if pieces else "", closing, opening, atom.markup[:1]))
        opened[kept:] = fresh
        pieces.append(atom.markup)
    return "".join(pieces)


def _reach(atoms: Sequence[Atom], start: int, style: str) -> int:
    """How many atoms from ``start`` on have ``style``, as far as it matters."""
    end = start
    while end < min(len(atoms), start + FURTHEST_REACH) and style in atoms[end].styles:
        end += 1
    return end - start


def _trimmed(atoms: Sequence[Atom]) -> list[Atom]:
    """White space has the styles that go on across it, and no others."""
    found = [piece for atom in atoms for piece in _pieces(atom)]
    before: frozenset[str] = frozenset()
    for at, atom in enumerate(found):
        if atom.markup.isspace():
            found[at] = replace(atom, styles=before & atom.styles)
        else:
            before = atom.styles
    behind: frozenset[str] = frozenset()
    for at in range(len(found) - 1, -1, -1):
        if found[at].markup.isspace():
            found[at] = replace(found[at], styles=found[at].styles & behind)
        else:
            behind = found[at].styles
    return found


def _pieces(atom: Atom) -> Iterator[Atom]:
    """``atom`` apart from the white space at its ends."""
    core = atom.markup.strip()
    if not core or not atom.styles:
        yield atom
        return
    start = atom.markup.index(core)
    for piece in (atom.markup[:start], core, atom.markup[start + len(core) :]):
        if piece:
            yield replace(atom, markup=piece)
