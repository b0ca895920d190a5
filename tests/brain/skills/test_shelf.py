"""Skills that come, change, break and go while the bot runs; how they join a conversation; where the prompt has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.brain.past import MOST
from bot.brain.skills.active import ACTIVE_AT_MOST, Skills
from bot.brain.skills.shelf import LOOK_SECONDS, SkillShelf
from bot.brain.toolbox.joined import joined_in
from bot.core.model import ModelRequest, TextBlock
from bot.core.stop import StopReason
from bot.core.transcript import JoinedRow
from tests.brain.conftest import House, MakeHouse
from tests.fakes.clock import FakeClock
from tests.fakes.provider import says


def skill(place: Path, name: str, description: str = "Does things.", body: str = "Do it.", more: str = "") -> Path:
    folder = place / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    file.write_text(f"---\nname: {name}\ndescription: {description}\n{more}---\n{body}\n")
    return file


async def looked(shelf: SkillShelf, clock: FakeClock) -> list[str]:
    await clock.advance(LOOK_SECONDS)
    return sorted(await shelf.look())


async def test_skills_come_change_and_go_without_a_restart(tmp_path: Path) -> None:
    clock = FakeClock()
    shelf = SkillShelf([tmp_path], clock)
    assert await looked(shelf, clock) == []
    file = skill(tmp_path, "tea")
    assert await looked(shelf, clock) == ["tea"]
    file.write_text(file.read_text().replace("Do it.", "Do it well."))
    await looked(shelf, clock)
    assert shelf.skills["tea"].body == "Do it well."
    file.unlink()
    assert await looked(shelf, clock) == []


async def test_b290_a_broken_save_leaves_the_old_version_in_use_and_says_why(tmp_path: Path) -> None:
    clock = FakeClock()
    shelf = SkillShelf([tmp_path], clock)
    file, _ = skill(tmp_path, "tea"), skill(tmp_path, "milk")
    await looked(shelf, clock)
    file.write_text("---\nname: tea\n")
    assert await looked(shelf, clock) == ["milk", "tea"]
    [refusal] = shelf.refusals
    assert "never closed" in str(refusal) and shelf.kept(refusal)
    skill(tmp_path, "tea", body="Mended.")
    await looked(shelf, clock)
    assert shelf.refusals == [] and shelf.skills["tea"].body == "Mended."


async def test_of_two_with_one_name_the_later_folder_counts(tmp_path: Path) -> None:
    skill(tmp_path / "one", "tea", body="first")
    skill(tmp_path / "two", "tea", body="second")
    shelf = SkillShelf([tmp_path / "one", tmp_path / "two", tmp_path / "missing"], FakeClock())
    assert (await shelf.look())["tea"].body == "second"


async def test_a_look_in_between_reads_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    shelf = SkillShelf([tmp_path], clock)
    await shelf.look()
    skill(tmp_path, "tea")
    assert sorted(await shelf.look()) == []
    assert await looked(shelf, clock) == ["tea"]


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    skill(tmp_path, "translate", "Translates a text.", more="triggers: [translate, 翻译]\n")
    skill(tmp_path, "trip-planner", "Plans a journey with days, trains and hotels.")
    skill(tmp_path, "needy", "Needs more.", more="triggers: [needy]\nrequires: {bins: [no-such-program-1]}\n")
    skill(tmp_path, "shy", "Waits to be called.", more="triggers: [shy]\ndisable-model-invocation: true\n")
    return Skills(SkillShelf([tmp_path], FakeClock()), None)


async def test_the_skills_are_there_before_the_first_message(skills: Skills) -> None:
    assert skills.find("translate") is None
    await skills.warm()
    assert skills.find("translate") is not None


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Please translate this letter", ("translate",)),
        ("把这句话翻译成英文", ("translate",)),
        ("transl", ()),
        ("hello there", ()),
        ("needy shy", ()),
        ("I want to plan a journey by trains with hotels for five days", ("trip-planner",)),
        ("/skill Trip_Planner", ("trip-planner",)),
        ("/skill trip Rome in May?", ("trip-planner",)),
        ("/skill shy do it", ("shy",)),
        ("/skill nothing-like-it", ()),
    ],
)
async def test_a_message_calls_the_skills_it_needs(skills: Skills, text: str, new: tuple[str, ...]) -> None:
    joined = await skills.join(text, JoinedRow())
    assert (joined.new if joined else ()) == new


async def test_what_has_joined_stays_and_joins_no_second_time(skills: Skills) -> None:
    joined = await skills.join("translate it", JoinedRow())
    assert joined is not None
    assert await skills.join("translate that too", joined) is None
    both = await skills.join("/skill trip-planner", joined)
    assert both is not None and (both.skills, both.new) == (("translate", "trip-planner"), ("trip-planner",))


async def test_the_one_that_came_first_makes_room(tmp_path: Path) -> None:
    for n in range(ACTIVE_AT_MOST + 1):
        skill(tmp_path, f"skill-{n}")
    many = Skills(SkillShelf([tmp_path], FakeClock()), None)
    joined = JoinedRow()
    for n in range(ACTIVE_AT_MOST + 1):
        joined = await many.join(f"/skill skill-{n}", joined) or joined
    assert joined.skills == tuple(f"skill-{n}" for n in range(1, ACTIVE_AT_MOST + 1))


async def test_a_skill_that_is_gone_leaves(skills: Skills) -> None:
    left = await skills.join("hello", JoinedRow(("gone", "translate")))
    assert left == JoinedRow(("translate",))


def text_of(request: ModelRequest, index: int) -> str:
    return "\n".join(block.text for block in request.messages[index].content if isinstance(block, TextBlock))


async def test_a_skill_stands_in_the_messages_of_its_turn_and_leaves_the_prefix_as_it_was(
    make_house: MakeHouse, tmp_path: Path
) -> None:
    skill(tmp_path / "skills", "tea", body="Boil </skill> the water.", more="triggers: [tea]\n")
    house = make_house(says("Hello."), says("Tea."), says("More."))
    for number, said in enumerate(("hello", "make tea", "thanks"), 1):
        assert await house.answer(await house.turn(said, number)) is StopReason.ANSWERED
    first, second, third = house.provider.requests
    assert first.system == second.system == third.system
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    assert '<skill name="tea">' in text_of(second, -1) and text_of(second, -1).count("</skill>") == 1
    rows = await house.store.transcript.turn_rows("turn2")
    assert joined_in(rows) == JoinedRow(("tea",), (), ("tea",))


async def test_once_its_turn_is_out_of_the_prompt_the_system_text_has_it(make_house: MakeHouse, tmp_path: Path) -> None:
    skill(tmp_path / "skills", "tea", body="Boil the water.", more="triggers: [tea]\n")
    house: House = make_house(*(says(f"Answer {n}.") for n in range(MOST + 4)))
    await house.answer(await house.turn("make tea", 1))
    for number in range(2, MOST + 4):
        await house.answer(await house.turn(f"and number {number}?", number))
    last = house.provider.requests[-1]
    assert '<skill name="tea">' in last.system
    assert sum('<skill name="tea">' in text_of(last, index) for index in range(len(last.messages))) == 0


async def test_a_changed_modification_time_alone_is_enough(tmp_path: Path) -> None:
    clock = FakeClock()
    shelf = SkillShelf([tmp_path], clock)
    file = skill(tmp_path, "tea", body="aaaa")
    await looked(shelf, clock)
    file.write_text(file.read_text().replace("aaaa", "bbbb"))
    os.utime(file, ns=(1, 1))
    await looked(shelf, clock)
    assert shelf.skills["tea"].body == "bbbb"
