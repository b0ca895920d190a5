"""Lists in Discord's Markdown: which markers they can have, and how far the lines below them are indented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from bot.outbox.styled.leaves import Leaf

DEEPEST: Final = 11
"""Levels that Discord shows; a deeper list would be text."""
_UNNUMBERED: Final = ("", "☐", "☑")


class Siblings:
    """Items of one list, as Discord will see it: it numbers them on from the first one, whatever they say. How it looks
    may be asked for once it is complete."""

    def __init__(self) -> None:
        self.values: list[str] = []

    def go_on(self, value: str) -> bool:
        """Whether ``value`` may follow the last one."""
        if value in _UNNUMBERED or self.values[-1] in _UNNUMBERED:
            return value in _UNNUMBERED and self.values[-1] in _UNNUMBERED
        return int(value[:-1]) == int(self.values[-1][:-1]) + 1

    @cached_property
    def ordered(self) -> bool:
        """Whether Discord's own numbers would be those that are wanted."""
        if any(value in _UNNUMBERED for value in self.values):
            return False
        numbers = [int(value[:-1]) for value in self.values]
        return numbers[0] > 0 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))

    @cached_property
    def width(self) -> int:
        """Of every marker, so that the lines below each item begin at the same place."""
        return max(len(value) for value in self.values) + 1 if self.ordered else len("- ")

    def marker(self, number: int) -> str:
        """Of the item ``number``, counted from 0. What is no number of Discord's is text behind a bullet."""
        value = self.values[number]
        if self.ordered:
            return f"{value[:-1]}.".ljust(self.width)
        if value in _UNNUMBERED:
            return f"- {value} " if value else "- "
        return f"- {value[:-1]}\\{value[-1]} "


@dataclass(frozen=True, slots=True)
class Place:
    """Where a leaf stands: the space before the bar of its quotation, if it has one, the space before its own lines, and
    the markers of the items that begin with it, of which the last one stands before its first line. ``apart``: a blank
    line must part it from the item above, or Discord would go on counting."""

    outer: str = ""
    indent: str = ""
    markers: tuple[str, ...] = ()
    apart: bool = False


def places(leaves: Sequence[Leaf]) -> list[Place]:
    """The place of each leaf."""
    plan = _Plan()
    stands = [plan.stand(leaf) for leaf in leaves]
    return [stand.place() for stand in stands]


@dataclass(slots=True)
class _Stand:
    """The lists around a leaf, and the items that begin with it."""

    outer: tuple[Siblings, ...]
    around: tuple[Siblings, ...] = ()
    begun: list[tuple[Siblings, int]] = field(default_factory=list)
    apart: bool = False

    def place(self) -> Place:
        """To be asked for once every list is complete: only then its markers' width is known."""
        outer, indent = (" " * sum(siblings.width for siblings in lists) for lists in (self.outer, self.around))
        markers, below = list[str](), ""
        for siblings, at in self.begun:
            markers.append(below + siblings.marker(at))
            below += " " * siblings.width
        return Place(outer, indent, tuple(markers), self.apart)


class _Plan:
    """Follows the leaves in order. ``_open`` are the lists of the quotation, or those outside, ``_outer`` those around it."""

    def __init__(self) -> None:
        self._quote = 0
        self._outer: list[Siblings] = []
        self._open: list[Siblings] = []

    def stand(self, leaf: Leaf) -> _Stand:
        if leaf.quote != self._quote:
            lists = self._outer if self._quote else self._open
            self._outer, self._open = (lists, []) if leaf.quote else ([], lists)
            self._quote = leaf.quote
        del self._outer[leaf.outer :]
        stand = _Stand(tuple(self._outer))
        if leaf.items:
            self._begin(leaf, stand)
        else:
            del self._open[leaf.depth :]
            stand.around = tuple(self._open)
        return stand

    def _begin(self, leaf: Leaf, stand: _Stand) -> None:
        for item in leaf.items:
            level = min(item.level, DEEPEST, len(self._open) + 1)
            if stand.begun and level == DEEPEST == len(self._open):
                continue
            del self._open[level:]
            siblings = self._open.pop() if len(self._open) == level else None
            if not stand.begun:
                stand.around = tuple(self._open)
            if siblings and level == 1 and leaf.gap <= 1:
                stand.apart = not siblings.go_on(item.value)
            if siblings is None or (level == 1 and (leaf.gap > 1 or stand.apart)):
                siblings = Siblings()
            siblings.values.append(item.value)
            self._open.append(siblings)
            stand.begun.append((siblings, len(siblings.values) - 1))
