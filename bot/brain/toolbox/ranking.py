"""Which tools are near to what was said: by what they say of themselves and by their names, in vectors and in words."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from statistics import fmean
from typing import Final

from bot.brain.routing.catalogue import built_in
from bot.brain.routing.fillers import telling
from bot.core.errors import ProviderError
from bot.core.ports import Embedder, Vector
from bot.memory.kept import KeptVectors
from bot.memory.nearness import VectorTable, WordIndex
from bot.memory.stems import pieces, stems

log = logging.getLogger(__name__)

WORDS_SHARE: Final = 0.3
"""What words weigh beside vectors. Measured with ``python -m tests.bench tools``, where 0.25 to 0.35 make no difference."""
SURE: Final = 0.45
"""The least cosine of a message and what a tool says of itself for the tool to be what it wants."""
SURE_WORDS: Final = 2
"""Where there are no vectors, so many rare words in common."""
READ_CHARS: Final = 1_000
MOST_SENTENCES: Final = 8
EXAMPLES: Final = 6
"""Of each intent, for what messages have in common."""
_BREAK: Final = re.compile(r"(?<=[.!?])\s+|[,;] |[。！？；，]")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./:]+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """``names`` are the nearest first. ``near``: there is something to it; ``sure``: the first is what was asked for, as far
    as can be told."""

    names: tuple[str, ...] = ()
    near: bool = False
    sure: bool = False


@dataclass(frozen=True, slots=True)
class _Tables:
    """The vectors of the tools' names, of what they say, of both, and of each sentence with the tool it belongs to.
    ``common`` is what any message has in common with any other: it tells nothing, and without it a tool that is a little
    near to everything does not stand before the right one."""

    whole: Sequence[VectorTable]
    sentences: VectorTable
    owners: Sequence[int]
    common: Vector

    def near(self, query: Vector) -> tuple[list[list[float]], list[float]]:
        """Four scores of each tool, to be mixed; and how near its words come to the query as it is."""
        kinds = [table.near(query, self.common) for table in self.whole]
        kinds.append(self._best(self.sentences.near(query, self.common), len(kinds[0])))
        plain = zip(self.whole[0].near(query), self._best(self.sentences.near(query), len(kinds[0])), strict=True)
        return kinds, list(starmap(max, plain))

    def _best(self, scores: Sequence[float], count: int) -> list[float]:
        best = [-1.0] * count
        for owner, score in zip(self.owners, scores, strict=True):
            best[owner] = max(best[owner], score)
        return best


class Ranking:
    """Over tools that do not change: ``about`` is what they say of themselves, by name. Until ``warm`` is through, and
    without an embedder, words alone tell."""

    def __init__(self, about: Mapping[str, str], embedder: Embedder | None, data_dir: Path | None) -> None:
        self.names = tuple(about)
        self._about = about
        self._embedder = embedder
        self._kept = KeptVectors(embedder, data_dir, "tools") if embedder is not None else None
        texts = [f"{spoken(name)} {spoken(name)} {text}" for name, text in about.items()]
        self._by_stem, self._by_piece = WordIndex(texts, stems), WordIndex(texts, pieces)
        self._tables: _Tables | None = None

    async def warm(self) -> None:
        """Read or reckon the vectors: about 10 ms of one core for each text that is new, four or five a tool."""
        if self._kept is None or self._embedder is None or not self.names:
            return
        self._embedder.ready()  # it begins to load, also where all vectors are kept
        names = [spoken(name) for name in self.names]
        about = [text or name for name, text in zip(names, self._about.values(), strict=True)]
        whole = [[f"{name}: {text}" for name, text in zip(names, about, strict=True)], about, names]
        parts = [(number, part) for number, text in enumerate(about) for part in (names[number], *_sentences(text))]
        said = [text for slot in built_in() for text in slot.texts[:EXAMPLES]]
        texts = [*(text for kind in whole for text in kind), *(part for _, part in parts), *said]
        try:
            vectors = iter(await self._kept.of(texts))
        except ProviderError as error:
            log.info("tools are chosen by words alone: %s", error)
            return
        tables = [VectorTable([next(vectors) for _ in kind]) for kind in whole]
        sentences = VectorTable([next(vectors) for _ in parts])
        self._tables = _Tables(tables, sentences, [owner for owner, _ in parts], VectorTable(list(vectors)).mean())

    async def of(self, text: str) -> Ranked:
        """Nothing for a message that says nothing by itself ("and the other one?"), or has no word in common with a tool
        where words alone tell."""
        said = text if len(text) <= READ_CHARS else f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 + 1 :]}"
        told = " ".join(telling(said))
        if not told or not self.names:
            return Ranked()
        words = [self._by_stem.scores(told), self._by_piece.scores(told)]
        mixed = [WORDS_SHARE * fmean(scores) for scores in zip(*map(_even, words), strict=True)]
        query = await self._vector(said)
        if self._tables is None or query is None:
            return self._by_words(told, words, mixed)
        kinds, plain = self._tables.near(query)
        for kind in map(_even, kinds):
            mixed = [before + score / len(kinds) for before, score in zip(mixed, kind, strict=True)]
        order = _order(mixed)
        return Ranked(tuple(self.names[number] for number in order), True, plain[order[0]] >= SURE)

    def _by_words(self, told: str, words: Sequence[Sequence[float]], mixed: Sequence[float]) -> Ranked:
        """Those that have a word, or a piece of one, in common with what was told."""
        order = [number for number in _order(mixed) if any(scores[number] > 0 for scores in words)]
        shared = self._by_stem.shared(order[0], told) if order else 0
        return Ranked(tuple(self.names[number] for number in order), shared > 0, shared >= SURE_WORDS)

    async def _vector(self, text: str) -> Vector | None:
        """None where there is nothing to compare it with, or it would have to be waited for."""
        if self._embedder is None or self._tables is None or not self._embedder.ready():
            return None
        try:
            (vector,) = await self._embedder.embed([text])
        except ProviderError as error:
            log.info("tools are chosen by words alone: %s", error)
            return None
        return vector


def spoken(name: str) -> str:
    """A name as words: ``file_read`` and ``fileRead`` are ``file Read``."""
    return " ".join(_HUMP.sub(" ", name).split())


def _sentences(text: str) -> list[str]:
    return [part for part in _BREAK.split(text) if len(part) > 2][:MOST_SENTENCES]


def _even(scores: Sequence[float]) -> list[float]:
    """So that kinds of scores can be added: their mean is 0, and they lie about 1 from it."""
    mean = fmean(scores)
    width = math.sqrt(fmean((score - mean) ** 2 for score in scores))
    return [(score - mean) / width for score in scores] if width > 0 else [0.0] * len(scores)


def _order(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda number: -scores[number])
