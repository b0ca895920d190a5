"""The skills of a conversation: which join with a message, and what the prompt has of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from bot.brain.prompt import Guide
from bot.brain.skills.choice import Chooser
from bot.brain.skills.shelf import SkillShelf
from bot.brain.skills.skill import Skill
from bot.core.ports import Embedder
from bot.core.transcript import JoinedRow

ACTIVE_AT_MOST: Final = 6
"""Skills of one conversation; the one that came first makes room."""
_BY_HAND: Final = re.compile(r"\s*/skill(?:@\S+)?\s+(\S+)", re.IGNORECASE)
_SEPARATORS: Final = re.compile(r"[\s_-]+")


class Skills:
    """``embedder`` None: skills are chosen by words alone."""

    def __init__(self, shelf: SkillShelf, embedder: Embedder | None) -> None:
        self.shelf, self._embedder = shelf, embedder
        self._chooser: tuple[int, Chooser] | None = None

    async def warm(self) -> None:
        """Read the skills, and reckon what tells them apart: the first message need not wait for it."""
        self._chooser_of(await self.shelf.look())

    async def join(self, text: str, joined: JoinedRow) -> JoinedRow | None:
        """What has joined once ``text`` was said; None where nothing comes or goes."""
        skills = await self.shelf.look()
        if not skills and not joined.skills:
            return None
        here = [name for name in joined.skills if name in skills]
        wanted = _BY_HAND.match(text)
        picked = self.find(wanted[1]) if wanted else None
        new = [picked] if picked is not None else await self._choose(text, here, skills)
        names = [skill.name for skill in new if skill.name not in here]
        all_ = (*here, *names)[-ACTIVE_AT_MOST:]
        if not names and all_ == joined.skills:
            return None
        return JoinedRow(all_, joined.tools, tuple(names))

    def find(self, name: str) -> Skill | None:
        """The skill that a person means: by its name however its words are parted, or by the only one that begins so."""
        wanted = _plain(name)
        skills = [skill for skill in self.shelf.skills.values() if skill.by_person]
        same = [skill for skill in skills if _plain(skill.name) == wanted]
        begun = [skill for skill in skills if _plain(skill.name).startswith(wanted)] if wanted else []
        return same[0] if same else begun[0] if len(begun) == 1 else None

    def guide(self, name: str) -> Guide | None:
        """What a prompt has of an active skill; None for one that is gone."""
        skill = self.shelf.skills.get(name)
        return Guide(skill.name, skill.guide) if skill is not None else None

    def tools(self, joined: JoinedRow) -> tuple[str, ...]:
        """Patterns of the tools that the active skills name."""
        active = (self.shelf.skills[name] for name in joined.skills if name in self.shelf.skills)
        return tuple(pattern for skill in active for pattern in skill.tools)

    async def _choose(self, text: str, here: Sequence[str], skills: Mapping[str, Skill]) -> list[Skill]:
        return await self._chooser_of(skills).choose(text, here)

    def _chooser_of(self, skills: Mapping[str, Skill]) -> Chooser:
        if self._chooser is None or self._chooser[0] != self.shelf.version:
            self._chooser = self.shelf.version, Chooser(skills, self._embedder)
        return self._chooser[1]


def _plain(name: str) -> str:
    return _SEPARATORS.sub("-", name.strip().lower())
