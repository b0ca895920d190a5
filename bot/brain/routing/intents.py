"""Which slot a message belongs to: by how near it is to the slots' examples, corrected by keywords that run beside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.brain.routing.catalogue import Slot
from bot.brain.routing.fillers import telling
from bot.core.ports import Vector
from bot.core.text import CJK
from bot.memory.nearness import is_cjk, similarities

READ_CHARS: Final = 2_000
"""Of a message: what it asks for stands at its beginning or at its end."""
KEYWORD_SHARE: Final = 0.3
"""What keywords can add to a score at most."""
PATTERN_HITS: Final = 2
"""A pattern says as much as two keywords."""
SURE_MARGIN: Final = 0.06
"""How far the best must be ahead of the next to be sure."""
SHORT_UNITS: Final = 5.0
SHORT_MORE: Final = 0.03
"""What the threshold rises for each word that a message has less than ``SHORT_UNITS``: short ones are unsure."""
LONG_UNITS: Final = 40.0
LONG_LESS: Final = 0.05
"""What it falls for a long one, in which the request is only a part."""
WORDS_ALONE: Final = 0.5
"""The least score by keywords where there are no vectors: one keyword."""
WORDS_MARGIN: Final = 0.1
"""How far the best must be ahead by them to be sure: as two keywords are of one, and one of none."""
_SCORES_KEPT: Final = 4
_LEAST_SCORE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Guess:
    """``intent`` is "" where no slot, or more than one alike, reaches its threshold. ``sure``: another look would hardly say otherwise."""

    intent: str
    scores: Mapping[str, float] = field(default_factory=dict)
    sure: bool = False


class Intents:
    """Scores of messages over a fixed catalogue."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = tuple(slots)
        self.texts = [text for slot in self.slots for text in slot.texts]
        """In the order in which ``by_vectors`` wants their vectors."""
        self._keywords = [_keywords(slot) for slot in self.slots]
        self._patterns = [[re.compile(one, re.IGNORECASE) for one in slot.patterns] for slot in self.slots]

    def by_words(self, text: str) -> Guess:
        """By keywords alone: what can be had for nothing."""
        scores = self._called(text)
        return self._best(scores, {slot.name: WORDS_ALONE for slot in self.slots}, margin=WORDS_MARGIN)

    def by_vectors(self, text: str, vector: Vector, vectors: Sequence[Vector]) -> Guess:
        """``vector`` is that of the message, ``vectors`` those of ``texts``."""
        called = self._called(text)
        if not any(called.values()) and not telling(text):
            return Guess("", sure=True)  # only what went before could tell: "and the other one?"
        near = iter(similarities(vector, vectors))
        scores = {}
        for slot in self.slots:
            nearest = max((next(near) for _ in slot.texts), default=0.0)
            scores[slot.name] = min(1.0, max(0.0, nearest) + KEYWORD_SHARE * called[slot.name])
        more = _length_correction(text)
        return self._best(scores, {slot.name: slot.least + more for slot in self.slots}, margin=SURE_MARGIN)

    def _called(self, text: str) -> dict[str, float]:
        """From 0 for no keyword towards 1; each one more halves what is missing."""
        said = text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"
        lower = said.lower()
        scores = {}
        for slot, keywords, patterns in zip(self.slots, self._keywords, self._patterns, strict=True):
            hits = len(set(keywords.findall(lower))) if keywords else 0
            hits += PATTERN_HITS * sum(1 for pattern in patterns if pattern.search(said))
            scores[slot.name] = 1.0 - 0.5**hits
        return scores

    def _best(self, scores: Mapping[str, float], least: Mapping[str, float], margin: float) -> Guess:
        order = sorted(scores, key=lambda name: -scores[name])
        shown = {name: round(scores[name], 3) for name in order[:_SCORES_KEPT] if scores[name] >= _LEAST_SCORE}
        reached = [name for name in order if scores[name] >= least[name]]
        if not reached:
            return Guess("", shown)
        ahead = scores[reached[0]] - max((scores[name] for name in order if name != reached[0]), default=0.0)
        return Guess(reached[0] if ahead > 0 else "", shown, sure=ahead >= margin)


def _keywords(slot: Slot) -> re.Pattern[str] | None:
    """For a text in lower case, which is much quicker to compile than a pattern that ignores case. The longest first, so
    that a phrase counts as itself."""
    words = sorted((word.strip().lower() for word in slot.keywords if word.strip()), key=len, reverse=True)
    whole = "|".join(re.escape(word) for word in words if not is_cjk(word))
    anywhere = [re.escape(word) for word in words if is_cjk(word)]
    found = [*([rf"(?<![^\W_])(?:{whole})(?![^\W_])"] if whole else []), *anywhere]
    return re.compile("|".join(found)) if found else None


def length_units(text: str) -> float:
    """Its length in words; two Chinese characters count as one."""
    return len(CJK.sub(" ", text).split()) + len(CJK.findall(text)) / 2


def _length_correction(text: str) -> float:
    """What length adds to a threshold."""
    units = length_units(text)
    return -LONG_LESS if units >= LONG_UNITS else max(0.0, SHORT_UNITS - units) * SHORT_MORE
