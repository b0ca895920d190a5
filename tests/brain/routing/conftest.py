"""What the embedded model learns of the built-in examples: once for all tests, as it takes some seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Protocol

import pytest

from bot.brain.routing.catalogue import Slot, built_in
from bot.brain.routing.examples import Examples
from bot.brain.routing.intents import Guess, Intents
from bot.core.ports import Vector
from bot.memory.embedding import EmbeddedEmbedder, is_installed
from bot.memory.likeness import Likeness


class GuessAll(Protocol):
    def __call__(self, texts: Sequence[str], slots: Sequence[Slot] = ...) -> list[Guess]: ...


class RememberingEmbedder:
    """Implements ``bot.core.ports.Embedder``: the embedded one, which is asked for a text only once."""

    name = EmbeddedEmbedder.name

    def __init__(self) -> None:
        self._embedded, self._known = EmbeddedEmbedder(), dict[str, Vector]()

    def ready(self) -> bool:
        return self._embedded.ready()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, await self._embedded.embed(new), strict=True))
        return [self._known[text] for text in texts]

    async def aclose(self) -> None:
        await self._embedded.aclose()


@pytest.fixture(scope="session")
def guess_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuessAll]:
    """Reads messages by the embedded model."""
    if not is_installed():
        pytest.skip("the package with the embedded model is not installed")
    learnt: dict[Sequence[Slot], tuple[Intents, Likeness]] = {}
    embedder = RememberingEmbedder()

    async def embedded(texts: Sequence[str], slots: Sequence[Slot]) -> Sequence[Vector]:
        if slots not in learnt:
            examples = Examples(embedder, slots, tmp_path_factory.mktemp("learnt"))
            learnt[slots] = Intents(slots), await examples.get()
        return await embedder.embed(texts)

    def guesses(texts: Sequence[str], slots: Sequence[Slot] = built_in()) -> list[Guess]:
        vectors = asyncio.run(embedded(texts, slots))
        intents, likeness = learnt[slots]
        return [intents.by_vectors(text, vector, likeness) for text, vector in zip(texts, vectors, strict=True)]

    yield guesses
    asyncio.run(embedder.aclose())
