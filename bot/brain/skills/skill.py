"""One skill, and what keeps a folder from being one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BODY_CHARS: Final = 24_000
"""About 6,000 tokens, more than a skill should have; what is beyond is left out and said to be."""

_SYSTEMS: Final[Mapping[str, str]] = {"linux": "linux", "macos": "darwin", "mac": "darwin", "darwin": "darwin"}


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be there for a skill to be of use: programs, one of several programs, variables, a system."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()

    def missing(self) -> tuple[str, ...]:
        """In words, each with its name; looks at this machine and starts nothing."""
        lacks = [f"the program {name}" for name in self.bins if shutil.which(name) is None]
        if self.any_bins and not any(map(shutil.which, self.any_bins)):
            lacks.append(f"one of the programs {', '.join(self.any_bins)}")
        lacks += [f"the variable {name}" for name in self.env if not os.environ.get(name)]
        known = {_SYSTEMS.get(name.lower(), name.lower()) for name in self.systems}
        if known and not any(sys.platform.startswith(name) for name in known):
            lacks.append(f"one of the systems {', '.join(self.systems)}")
        return tuple(lacks)


@dataclass(frozen=True, slots=True)
class Skill:
    """``body`` is what the model is told when the skill is active. ``triggers`` are words that call it; a person calls it
    by ``/skill NAME`` unless ``by_person`` is False, the bot by itself unless ``by_itself`` is False. ``tools`` are patterns
    of tools that become hot with it. ``notes`` say what in the file was read leniently."""

    name: str
    description: str
    body: str
    folder: Path
    triggers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    needs: Needs = Needs()
    by_person: bool = True
    by_itself: bool = True
    notes: tuple[str, ...] = ()

    @property
    def guide(self) -> str:
        """The body, within bounds, for a prompt."""
        body = self.body.replace("{baseDir}", str(self.folder))
        return body if len(body) <= BODY_CHARS else f"{body[:BODY_CHARS]}\n[The rest of this skill is left out.]"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a folder is no skill. ``file`` is its SKILL.md, ``line`` where it is wrong, None for the whole."""

    file: Path
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.reason}"
