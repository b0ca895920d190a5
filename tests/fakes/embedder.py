"""An embedder that knows a handful of words, so that nearness can be reckoned by hand."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from bot.core.errors import ProviderError
from bot.core.ports import Vector


class FakeEmbedder:
    """Implements ``bot.core.ports.Embedder``: one dimension for each of ``words``, and one for everything else. Other words
    mean the same as those in ``meaning``."""

    name = "fake"

    def __init__(self, *words: str) -> None:
        self._words = words
        self.asked: list[list[str]] = []
        self.meaning: dict[str, str] = {}
        self.failure: ProviderError | None = None

    def ready(self) -> bool:
        return True

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.append(list(texts))
        if self.failure is not None:
            raise self.failure
        return [self._vector(self._plain(text.lower())) for text in texts]

    async def aclose(self) -> None:
        pass

    def _plain(self, text: str) -> str:
        for word, same in self.meaning.items():
            text = text.replace(word, same)
        return text

    def _vector(self, text: str) -> Vector:
        counts = [float(text.count(word)) for word in self._words]
        length = math.sqrt(sum(count * count for count in counts))
        return array("f", [*(count / length for count in counts), 0.0] if length else [*counts, 1.0])
