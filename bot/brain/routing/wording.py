"""What the words of a message say of its slot: the odds that the examples teach, without any model."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.memory.nearness import is_cjk

SMOOTHING: Final = 0.1
"""The share of an example that a slot is given of every word, so that one sight of it does not settle everything."""

_MARK: Final = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[^\W\d_a-z]|[?!？！]")
_LONGEST_NUMBER: Final = 5


def marks(text: str) -> set[str]:
    """The words of a text and the pairs of neighbours, in lower case; of Chinese, Japanese and Korean its characters and
    their pairs. Of numbers only the length counts."""
    found: set[str] = set()
    before, end = "", -1
    for match in _MARK.finditer(text.lower()):
        word = f"#{min(len(match[0]), _LONGEST_NUMBER)}" if match[0].isdigit() else match[0]
        found.add(word)
        if before and (match.start() == end or not is_cjk(match[0])):
            found.add(f"{before}_{word}")
        before, end = word, match.end()
    return found


class WordOdds:
    """Over the examples of each slot. A word speaks for the slots it was seen in, by how often; against none."""

    def __init__(self, examples: Sequence[Sequence[str]]) -> None:
        read = [[marks(text) for text in texts] for texts in examples]
        held = Counter(mark for texts in read for one in texts for mark in one)
        total = sum(map(len, read))
        self._slots = len(read)
        self._rarity = {mark: math.log(1 + total / count) for mark, count in held.items()}
        self._odds: dict[str, tuple[tuple[int, float], ...]] = {}
        mass: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        for slot, texts in enumerate(read):
            for one in texts:
                for mark, weight in self._weights(one).items():
                    mass[mark][slot] += weight
        for mark, slots in mass.items():
            self._odds[mark] = tuple((slot, math.log1p(weight / SMOOTHING)) for slot, weight in slots.items())

    def scores(self, text: str) -> list[float]:
        """One for each slot, from 0: no word in common."""
        scores = [0.0] * self._slots
        for mark, weight in self._weights(marks(text)).items():
            for slot, odds in self._odds[mark]:
                scores[slot] += weight * odds
        return scores

    def _weights(self, found: Iterable[str]) -> Mapping[str, float]:
        """The known ones by how rare they are, together of length 1."""
        known = {mark: self._rarity[mark] for mark in found if mark in self._rarity}
        length = math.sqrt(sum(weight * weight for weight in known.values()))
        return {mark: weight / length for mark, weight in known.items()}
