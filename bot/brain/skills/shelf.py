"""The skills that there are: read when they change, the last good version kept when a change broke one."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from bot.brain.skills.reader import read_skill, skill_file
from bot.brain.skills.skill import Refusal, Skill
from bot.core.ports import Clock

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 2.0
"""How often the folders are looked through at most; a look costs a ``stat`` for each skill."""
_FEW: Final = 50
"""So many are looked at sooner than a thread is reached; what is new or changed is read in a thread always."""

_Stamp = tuple[int, int]


class SkillShelf:
    """Skills by name; of two with one name that of the later folder counts. ``look`` is asked before each turn."""

    def __init__(self, folders: Sequence[Path], clock: Clock) -> None:
        self._folders, self._clock = tuple(dict.fromkeys(folder.resolve() for folder in folders)), clock
        self._looked_at = -LOOK_SECONDS
        self._stamps: dict[Path, _Stamp] = {}
        self._read: dict[Path, Skill] = {}
        self._refused: dict[Path, Refusal] = {}
        self._skills: Mapping[str, Skill] = MappingProxyType({})
        self._looking = asyncio.Lock()
        self.version = 0
        """Grows whenever the skills change."""

    @property
    def skills(self) -> Mapping[str, Skill]:
        return self._skills

    @property
    def refusals(self) -> Sequence[Refusal]:
        """Folders that are no skill, or whose newest version is none."""
        return [self._refused[folder] for folder in sorted(self._refused)]

    def kept(self, refusal: Refusal) -> bool:
        """Whether an older version of the refused skill is still in use."""
        return refusal.file.parent in self._read

    async def look(self) -> Mapping[str, Skill]:
        """The skills as they are now, or were two seconds ago."""
        async with self._looking:
            now = self._clock.monotonic()
            if now - self._looked_at >= LOOK_SECONDS:
                self._looked_at = now
                if len(self._stamps) > _FEW or self._found() != self._stamps:
                    await asyncio.to_thread(self.read)
        return self._skills

    def _found(self) -> dict[Path, _Stamp]:
        return {folder: stamp for place in self._folders for folder, stamp in _folders(place)}

    def read(self) -> None:
        """Look through the folders, and read what is new or has changed."""
        found = self._found()
        changed = [folder for folder, stamp in found.items() if self._stamps.get(folder) != stamp]
        gone = self._stamps.keys() - found.keys()
        if not changed and not gone:
            return
        for folder in gone:
            self._read.pop(folder, None)
            self._refused.pop(folder, None)
        for folder in changed:
            self._take(folder, read_skill(folder))
        self._stamps = found
        self._skills = MappingProxyType(
            {self._read[folder].name: self._read[folder] for folder in found if folder in self._read}
        )
        self.version += 1

    def _take(self, folder: Path, read: Skill | Refusal) -> None:
        if isinstance(read, Skill):
            self._read[folder] = read
            self._refused.pop(folder, None)
            for note in read.notes:
                log.info("skill %s: %s", read.name, note)
            return
        self._refused[folder] = read
        kept = "; its last good version stays in use" if folder in self._read else ""
        log.warning("skill refused: %s%s", read, kept)


def _folders(place: Path) -> list[tuple[Path, _Stamp]]:
    """The folders of a place that have a SKILL.md, with what tells one version from another. A place may be a skill itself."""
    try:
        entries = sorted((entry for entry in os.scandir(place) if not entry.name.startswith(".")), key=lambda e: e.name)
    except OSError:
        return []
    places = [entry.path for entry in entries if entry.is_dir()]
    if len(places) < len(entries):  # a file beside them may make the place a skill
        places.insert(0, str(place))
    return [(Path(path), stamp) for path in places if (stamp := _stamp(path)) is not None]


def _stamp(folder: str) -> _Stamp | None:
    try:
        held = os.stat(f"{folder}/SKILL.md")
    except OSError:
        other = skill_file(Path(folder))
        if other is None:
            return None
        try:
            held = other.stat()
        except OSError:
            return None
    return held.st_mtime_ns, held.st_size
