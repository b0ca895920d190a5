"""What the assistant knows how to do, called by hand."""

from __future__ import annotations

from pathlib import Path

from bot.inbox.access import Access
from tests.brain.skills.test_shelf import skill
from tests.fakes.provider import says
from tests.inbox.conftest import OWNER, OpenHouse
from tests.inbox.test_settings import BOB, told

EVERYBODY = Access(owners=("7",), users=("*",))


async def test_skills_are_listed_with_what_they_lack_and_an_owner_sees_what_was_refused(
    open_house: OpenHouse, tmp_path: Path
) -> None:
    skill(tmp_path / "skills", "tea", "Makes tea.")
    skill(tmp_path / "skills", "film", "Cuts films.", more="requires: {bins: [no-such-program-1]}\n")
    (tmp_path / "skills" / "broken").mkdir()
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("---\n")
    async with open_house(access=EVERYBODY) as house:
        shown = await told(house, "/skills", 1, OWNER)
        assert "`tea`: Makes tea." in shown and "needs the program no-such-program-1" in shown and "broken" in shown
        assert "broken" not in await told(house, "/skills", 2, BOB)
        assert "film" not in await told(house, "/skills tea", 3, OWNER)


async def test_without_any_it_says_so(open_house: OpenHouse) -> None:
    async with open_house() as house:
        assert await told(house, "/skills", 1) == "I have no skills here."


async def test_a_skill_is_called_by_name_and_by_a_question(open_house: OpenHouse, tmp_path: Path) -> None:
    skill(tmp_path / "skills", "tea", "Makes tea.", body="Boil the water.")
    async with open_house(says("Gladly."), says("Two minutes.")) as house:
        assert "tea is with us" in await told(house, "/skill tea", 1)
        assert await told(house, "please", 2) == "Gladly."
        assert "Boil the water." in house.provider.requests[0].system
        assert "no skill `coffee`" in await told(house, "/skill coffee", 3)
        assert await told(house, "/skill tea how long?", 4) == "Two minutes."
