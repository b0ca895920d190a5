"""Reads messages: by signs and keywords always, by nearness and by a small model where something depends on it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.brain.routing.catalogue import Slot
from bot.brain.routing.classify import Classifier, Verdict
from bot.brain.routing.examples import Examples
from bot.brain.routing.intents import Guess, Intents
from bot.brain.routing.parameters import parameters_of
from bot.brain.routing.privacy import PRIVACIES
from bot.brain.routing.reading import Asked, Reading, Wish
from bot.brain.routing.signals import Signals, signals_of
from bot.core.errors import ProviderError
from bot.core.ports import Clock, Embedder
from bot.memory.likeness import Likeness, is_possible

log = logging.getLogger(__name__)

KEPT: Final = 512
"""Messages whose intent is remembered."""
EMBED_CHARS: Final = 1_000
WAIT_SECONDS: Final = 0.5
"""What a first answer may wait for the examples to be learnt; until they are, words tell."""
LEARN_AFTER_SECONDS: Final = 5.0
"""How long the examples wait after the start where nothing depends on them: the first messages need the machine."""
_NEED_NEARNESS: Final = frozenset({"intent", "privacy"})
"""Facts that hang on the intent."""


class Reader:
    """Implements ``bot.brain.routing.reading.Read``. ``slots`` are read when first needed; ``embedder`` None: intents by
    words alone. ``zone`` is the house's, for chats that have none of their own."""

    def __init__(
        self,
        slots: Callable[[], Sequence[Slot]],
        embedder: Embedder | None,
        data_dir: Path,
        clock: Clock,
        zone: str,
        classifier: Callable[[Sequence[Slot]], Classifier | None] = lambda slots: None,
    ) -> None:
        self._slots, self._embedder, self._data_dir, self._clock, self._zone = slots, embedder, data_dir, clock, zone
        self._make_classifier = classifier
        self._intents: Intents | None = None
        self._classifier: Classifier | None = None
        self._examples: Examples | None = None
        self._kept: OrderedDict[bytes, tuple[Guess, Verdict | None]] = OrderedDict()

    async def __call__(self, wish: Wish, asked: Asked) -> Reading:
        intents = self._ready()
        guess, verdict = await self._judged(intents, wish, asked)
        intent = guess.intent
        signals = signals_of(wish.text, intent, wish.files, pictures=wish.pictures, private=guess.private)
        if verdict is not None:
            if not guess.sure:
                intent = verdict.intent
            signals = _corrected(signals, verdict)
        near = tuple(name for name in guess.near if name != intent)
        parameters = parameters_of(wish.text, intent, self._clock.now(), wish.turn.zone or self._zone)
        return Reading(intent, signals.complexity, signals.privacy, guess.scores, parameters, near)

    async def ready(self) -> None:
        """What the first message would otherwise wait for."""
        await asyncio.to_thread(self._ready)

    async def warm(self, asked: Asked) -> None:
        """The same, with what takes longer: what the examples teach, at once where something depends on it."""
        await self.ready()
        if not asked.facts:
            await self._clock.sleep(LEARN_AFTER_SECONDS)
        await self._learnt()
        if self._examples is not None and asked.facts & _NEED_NEARNESS:
            try:
                await self._examples.get()
            except ProviderError as error:
                log.info("intents are told by words alone: %s", error)

    async def _judged(self, intents: Intents, wish: Wish, asked: Asked) -> tuple[Guess, Verdict | None]:
        """Remembered where anything was computed or asked for it, and nothing went wrong."""
        if not asked.facts:
            return intents.by_words(wish.text) if intents.is_learnt else intents.by_keywords(wish.text), None
        key = _key(wish, asked)
        if (known := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return known
        await self._learnt()
        guess, by_nearness = intents.by_words(wish.text), True
        if asked.facts & _NEED_NEARNESS and self._examples is not None:
            nearest = await self._nearest(intents, self._examples, wish.text)
            guess, by_nearness = nearest or guess, nearest is not None
        verdict, is_settled = None, True
        if self._classifier is not None and asked.facts & _unsure(guess, wish):
            verdict = await self._classifier.ask(wish, asked)
            is_settled = verdict is not None
        if by_nearness and is_settled:
            self._kept[key] = guess, verdict
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return guess, verdict

    async def _nearest(self, intents: Intents, examples: Examples, text: str) -> Guess | None:
        """None where there are no vectors, or not yet."""
        assert self._embedder is not None, "there are examples only with an embedder"
        try:
            likeness = examples.known or await _soon(examples)
            if likeness is None:
                return None
            (vector,) = await self._embedder.embed([_both_ends(text)])
        except ProviderError as error:
            log.info("the intent is told by words alone: %s", error)
            return None
        return intents.by_vectors(text, vector, likeness)

    async def _learnt(self) -> None:
        intents = self._ready()
        if not intents.is_learnt:
            await asyncio.to_thread(lambda: intents.words)

    def _ready(self) -> Intents:
        if self._intents is None:
            intents = Intents(self._slots())
            self._classifier = self._make_classifier(intents.slots)
            if self._embedder is not None and any(slot.texts for slot in intents.slots) and is_possible():
                self._examples = Examples(self._embedder, intents.slots, self._data_dir)
            self._intents = intents
        return self._intents


async def _soon(examples: Examples) -> Likeness | None:
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            return await examples.get()
    except TimeoutError:
        return None


def _unsure(guess: Guess, wish: Wish) -> frozenset[str]:
    signals = signals_of(wish.text, guess.intent, wish.files, pictures=wish.pictures, private=guess.private)
    return signals.unsure | (frozenset() if guess.sure else frozenset({"intent"}))


def _corrected(signals: Signals, verdict: Verdict) -> Signals:
    """Complexity where the signs were unsure; privacy never less than they say."""
    complexity = verdict.complexity if "complexity" in signals.unsure else signals.complexity
    return replace(signals, complexity=complexity, privacy=max(signals.privacy, verdict.privacy, key=PRIVACIES.index))


def _both_ends(text: str) -> str:
    """What is asked of a long text stands before or behind it."""
    return text if len(text) <= EMBED_CHARS else f"{text[: EMBED_CHARS // 2]}\n{text[-EMBED_CHARS // 2 + 1 :]}"


def _key(wish: Wish, asked: Asked) -> bytes:
    """The same for messages that differ only in spaces and capitals. The text itself is not kept."""
    said = " ".join(unicodedata.normalize("NFKC", wish.text).casefold().split())
    facts = (said, *wish.files, str(wish.pictures), *sorted(asked.facts), *map(str, asked.routes), str(asked.private))
    return hashlib.sha256("\0".join(facts).encode("utf-8", "replace")).digest()
