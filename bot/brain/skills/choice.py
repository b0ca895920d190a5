"""Which skills a message calls for: by their triggers, by their words, by what they are about."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from bot.brain.skills.skill import Skill
from bot.core.errors import ProviderError
from bot.core.ports import Embedder
from bot.memory.nearness import WordIndex, is_cjk, similarities, words

log = logging.getLogger(__name__)

MOST_AT_ONCE: Final = 2
"""Skills that join in one turn."""
NEAR: Final = 0.52
"""The least cosine of the embedded model between a message and a description for the skill to join by it alone."""
NEAR_WITH_WORDS: Final = 0.40
"""The least where rare words are shared as well."""
SHORT_WORDS: Final = 3
"""A message of fewer words says too little for anything but a trigger."""
_SHARED: Final = 2


class Chooser:
    """Choices over one state of the shelf. ``embedder`` None: by words alone."""

    def __init__(self, skills: Mapping[str, Skill], embedder: Embedder | None) -> None:
        self._skills = [skill for skill in skills.values() if skill.by_itself and not skill.needs.missing()]
        self._texts = [f"{skill.name.replace('-', ' ')}: {skill.description}" for skill in self._skills]
        self._index = WordIndex(
            [f"{text} {' '.join(skill.triggers)}" for text, skill in zip(self._texts, self._skills, strict=True)]
        )
        self._embedder = embedder

    async def choose(self, text: str, joined: Sequence[str]) -> list[Skill]:
        """Those that join now, the surest first; ``joined`` are there already."""
        open_ = [number for number, skill in enumerate(self._skills) if skill.name not in joined]
        if not open_ or not text.strip():
            return []
        called = [number for number in open_ if _is_called(self._skills[number], text)]
        chosen = called[:MOST_AT_ONCE]
        if len(chosen) < MOST_AT_ONCE and len(words(text)) >= SHORT_WORDS:
            near = await self._near(text, [number for number in open_ if number not in chosen])
            chosen += near[: MOST_AT_ONCE - len(chosen)]
        return [self._skills[number] for number in chosen]

    async def _near(self, text: str, open_: Sequence[int]) -> list[int]:
        """The nearest, of those that have a rare word in common with the message: without one no vector is reckoned, which
        would cost each message about 10 ms."""
        shared = {number: count for number in open_ if (count := self._index.shared(number, text))}
        if not shared:
            return []
        by_words = [number for number in sorted(shared, key=lambda n: -shared[n])[:1] if shared[number] > _SHARED]
        if self._embedder is None or not self._embedder.ready():
            return by_words
        try:
            query, *vectors = await self._embedder.embed([text, *(self._texts[number] for number in shared)])
        except ProviderError as error:
            log.info("skills are chosen by words alone: %s", error)
            return by_words
        near = dict(zip(shared, similarities(query, vectors), strict=True))
        best = sorted(shared, key=lambda number: -near[number])[:1]
        return [n for n in best if near[n] >= NEAR or (near[n] >= NEAR_WITH_WORDS and shared[n] >= _SHARED)]


def _is_called(skill: Skill, text: str) -> bool:
    """By its name or one of its triggers: as whole words, in Chinese as it stands."""
    low, said = text.lower(), f" {' '.join(words(text))} "
    names = (skill.name.replace("-", " "), *skill.triggers)
    return any(trigger.lower() in low if is_cjk(trigger) else _stands_in(trigger, said) for trigger in names)


def _stands_in(trigger: str, said: str) -> bool:
    wanted = words(trigger)
    return bool(wanted) and f" {' '.join(wanted)} " in said
