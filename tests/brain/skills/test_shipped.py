"""The skills that come with Bowerbird."""

from __future__ import annotations

import pytest

from bot.brain.skills.reader import read_skill
from bot.brain.skills.skill import Skill
from bot.config.packaged import packaged_skills
from bot.memory.nearness import is_cjk

FOLDERS = sorted(folder for folder in packaged_skills().iterdir() if folder.is_dir())


def test_there_are_at_least_eight() -> None:
    assert len(FOLDERS) >= 8


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_is_read_strictly_is_short_and_is_found_in_both_languages(folder: object) -> None:
    skill = read_skill(folder)  # type: ignore[arg-type]
    assert isinstance(skill, Skill), str(skill)
    assert skill.notes == () and skill.needs.missing() == ()
    assert len(skill.body.split()) < 500 and len(skill.description) < 200
    assert any(map(is_cjk, skill.triggers)) and not all(map(is_cjk, skill.triggers))
