"""Which slot a message belongs to: by how like it is to the slots' examples, their words, and keywords that run beside."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from bot.brain.routing.catalogue import PRIVATE, Slot
from bot.brain.routing.fillers import telling
from bot.brain.routing.wording import WordOdds
from bot.core.ports import Vector
from bot.core.text import CJK
from bot.memory.likeness import Likeness
from bot.memory.nearness import is_cjk

READ_CHARS: Final = 2_000
"""Of a message: what it asks for stands at its beginning or at its end."""
WORDS_SHARE: Final = 0.05
CALLED_SHARE: Final = 0.2
"""What words and keywords add to likeness. These and the next by cross-validation over the examples."""
STEEPNESS: Final = 11.0
"""Of likeness, for shares that come true as often as they say."""
CALLED_ALONE: Final = 3.0
STEEPNESS_ALONE: Final = 1.8
"""The same where words are all there is."""
FIRM: Final = 3.0
"""How much more a keyword of the owner's own counts."""
PATTERN_HITS: Final = 2
"""A pattern says as much as two keywords."""
SURE_MARGIN: Final = 0.4
"""How far the best share must be ahead of the next to be sure: then 93 of 100 are right."""
NEAR_SHARE: Final = 0.2
"""The least share of a slot that a message may as well belong to."""
PRIVATE_SHARE: Final = 0.2
"""The least share of the private slots together to keep a message to the house: 91 of 100 of theirs reach it, 5 of others'."""
PRIVATE_LEAST: Final = 0.45
"""The least score of being private by itself, whatever the slot: 38 of 100 that nothing else tells, and 1 of others'."""
PRIVATE_SHARE_ALONE: Final = 0.3
"""By words alone: 66, and 7 of others'."""
SHORT_UNITS: Final = 5.0
SHORT_MORE: Final = 0.02
"""What the threshold rises for each word that a message has less than ``SHORT_UNITS``: short ones are unsure."""
LONG_UNITS: Final = 40.0
LONG_LESS: Final = 0.05
"""What it falls for a long one, in which the request is only a part."""
_SCORES_KEPT: Final = 4
_LEAST_SCORE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Guess:
    """``intent`` is "" where the message says nothing, or where no slot reaches its threshold. ``sure``: another look would
    hardly say otherwise. ``near`` are the slots it may as well belong to, ``private`` whether it may be one of those that
    concern nobody else: on both counts rather too often than not."""

    intent: str
    scores: Mapping[str, float] = field(default_factory=dict)
    sure: bool = False
    near: tuple[str, ...] = ()
    private: bool = False


class Intents:
    """Shares of messages over a fixed catalogue: of all slots together 1."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = tuple(slots)
        self._keywords = [_keywords(slot.keywords) for slot in self.slots]
        self._firm = [_keywords(slot.firm) for slot in self.slots]
        self._patterns = [[re.compile(one, re.IGNORECASE) for one in slot.patterns] for slot in self.slots]

    @cached_property
    def words(self) -> WordOdds:
        """Learnt when first needed: 0.15 s of CPU for the built-in examples."""
        return WordOdds([slot.texts for slot in self.slots])

    @property
    def is_learnt(self) -> bool:
        return "words" in vars(self)

    def by_words(self, text: str) -> Guess:
        """By words alone, without a model."""
        return self._by(text, self.words.scores)

    def by_keywords(self, text: str) -> Guess:
        """The same by what was gathered by hand: what can be had before anything is learnt."""
        return self._by(text, lambda said: [0.0] * len(self.slots))

    def _by(self, text: str, scores_of: Callable[[str], Sequence[float]]) -> Guess:
        said = _both_ends(text)
        called = self._called(said)
        if not any(called) and not telling(said):
            return _NOTHING
        words = scores_of(said)
        if not any(called) and not any(words):
            return Guess("")
        scores = [word + CALLED_ALONE * call for word, call in zip(words, called, strict=True)]
        return self._best(text, scores, STEEPNESS_ALONE, PRIVATE_SHARE_ALONE)

    def by_vectors(self, text: str, vector: Vector, likeness: Likeness) -> Guess:
        """``vector`` is that of the message, ``likeness`` was learnt from those of the slots."""
        said = _both_ends(text)
        called = self._called(said)
        if not any(called) and not telling(said):
            return _NOTHING
        alike, private = likeness.scores(vector)
        parts = zip(alike, self.words.scores(said), called, strict=True)
        scores = [like + WORDS_SHARE * word + CALLED_SHARE * call for like, word, call in parts]
        guess = self._best(text, scores, STEEPNESS, PRIVATE_SHARE)
        return replace(guess, private=guess.private or private >= PRIVATE_LEAST)

    def _called(self, said: str) -> list[float]:
        """From 0 for no keyword towards 1, each one more halves what is missing; and more for what the owner wrote."""
        lower = said.lower()
        scores = []
        for keywords, firm, patterns in zip(self._keywords, self._firm, self._patterns, strict=True):
            hits = len(set(keywords.findall(lower))) if keywords else 0
            hits += PATTERN_HITS * sum(1 for pattern in patterns if pattern.search(said))
            scores.append(1.0 - 0.5**hits + (FIRM if firm and firm.search(lower) else 0.0))
        return scores

    def _best(self, text: str, scores: Sequence[float], steepness: float, private_share: float) -> Guess:
        shares = dict(zip((slot.name for slot in self.slots), _shares(scores, steepness), strict=True))
        order = sorted(shares, key=lambda name: -shares[name])
        shown = {name: round(shares[name], 3) for name in order[:_SCORES_KEPT] if shares[name] >= _LEAST_SCORE}
        private = sum(shares.get(name, 0.0) for name in PRIVATE) >= private_share
        more = _length_correction(text)
        least = {slot.name: slot.least + more for slot in self.slots}
        reached = [name for name in order if shares[name] >= least[name]]
        intent = reached[0] if reached else ""
        near = tuple(name for name in order if shares[name] >= NEAR_SHARE and name != intent)
        ahead = shares[intent] - max((shares[name] for name in order if name != intent), default=0.0) if intent else 0.0
        return Guess(intent, shown, ahead >= SURE_MARGIN, near, private)


_NOTHING: Final = Guess("", sure=True)
"""Only what went before could tell: "and the other one?"."""


def _shares(scores: Sequence[float], steepness: float) -> list[float]:
    highest = max(scores, default=0.0)
    parts = [math.exp(steepness * (score - highest)) for score in scores]
    return [part / sum(parts) for part in parts]


def _keywords(words: Sequence[str]) -> re.Pattern[str] | None:
    """For a text in lower case, which is much quicker to compile than a pattern that ignores case. The longest first, so
    that a phrase counts as itself."""
    ordered = sorted((word.strip().lower() for word in words if word.strip()), key=len, reverse=True)
    whole = "|".join(re.escape(word) for word in ordered if not is_cjk(word))
    anywhere = [re.escape(word) for word in ordered if is_cjk(word)]
    found = [*([rf"(?<![^\W_])(?:{whole})(?![^\W_])"] if whole else []), *anywhere]
    return re.compile("|".join(found)) if found else None


def _both_ends(text: str) -> str:
    return text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"


def length_units(text: str) -> float:
    """Its length in words; two Chinese characters count as one."""
    return len(CJK.sub(" ", text).split()) + len(CJK.findall(text)) / 2


def _length_correction(text: str) -> float:
    """What length adds to a threshold."""
    units = length_units(text)
    return -LONG_LESS if units >= LONG_UNITS else max(0.0, SHORT_UNITS - units) * SHORT_MORE
