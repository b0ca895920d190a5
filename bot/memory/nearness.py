"""How near texts are to each other: by their vectors, by their words, and by both together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from bot.core.ports import Vector

DENSE_SHARE: Final = 0.7
"""Of a mixed score; the rest is for words. 78 of 80 right, against 71 by vectors alone (LIBRARIES.md, 2b)."""

_WORD: Final = re.compile(r"[a-z0-9]+(?:[-_.'][a-z0-9]+)*|[^\W\d_a-z]", re.IGNORECASE)
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_K1: Final = 1.2
_B: Final = 0.75
"""The usual constants of BM25."""


def cosine(one: Vector, other: Vector) -> float:
    """Of unit vectors."""
    return sum(map(float.__mul__, one, other))


def similarities(query: Vector, vectors: Sequence[Vector]) -> list[float]:
    """The cosine of each with ``query``; all of them are unit vectors of one model."""
    if not vectors:
        return []
    import numpy as np  # comes with the embedded model; nothing else of the house needs it

    matrix = np.frombuffer(b"".join(bytes(vector) for vector in vectors), dtype=np.float32).reshape(len(vectors), -1)
    return [float(score) for score in matrix @ np.frombuffer(bytes(query), dtype=np.float32)]


def is_cjk(text: str) -> bool:
    """Whether any of it is Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None


def words(text: str) -> list[str]:
    """Lower-case words; of Chinese, Japanese and Korean each character and each pair of neighbours."""
    found: list[str] = []
    before = ""
    for match in _WORD.finditer(text):
        word = match[0].lower()
        is_cjk = bool(_CJK.match(word))
        found.append(word)
        if is_cjk and before and _CJK.match(before) and text[match.start() - 1] == before:
            found.append(before + word)
        before = word if is_cjk else ""
    return found


class WordIndex:
    """BM25 over a small set of texts that does not change."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = (sum(self._lengths) / len(texts)) if texts else 1.0
        seen: Counter[str] = Counter(word for counts in self._counts for word in counts)
        self._holders = seen
        self._rarity = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in seen.items()}

    def holders(self, word: str) -> int:
        """How many of the texts have the word."""
        return self._holders[word]

    def shared(self, number: int, text: str) -> int:
        """How many words that are rare here a text has in common with the one at ``number``."""
        most = max(1, len(self._counts) // 4)
        return sum(1 for word in set(words(text)) if word in self._counts[number] and self._holders[word] <= most)

    def scores(self, query: str) -> list[float]:
        """One for each text, 0 for no word in common."""
        wanted = Counter(words(query))
        return [self._score(wanted, counts, length) for counts, length in zip(self._counts, self._lengths, strict=True)]

    def _score(self, wanted: Mapping[str, int], counts: Mapping[str, int], length: int) -> float:
        norm = _K1 * (1 - _B + _B * length / (self._mean or 1.0))
        return sum(
            self._rarity[word] * counts[word] * (_K1 + 1) / (counts[word] + norm) for word in wanted if word in counts
        )


def spread(scores: Collection[float]) -> list[float]:
    """From 0 for the lowest to 1 for the highest; all 0 where there is no difference."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def mixed(dense: Sequence[float], sparse: Sequence[float]) -> list[float]:
    """Both kinds of scores of the same texts in one: ``DENSE_SHARE`` of vectors, the rest of words."""
    pairs = zip(spread(dense), spread(sparse), strict=True)
    return [DENSE_SHARE * near + (1 - DENSE_SHARE) * common for near, common in pairs]
