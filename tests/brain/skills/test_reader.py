"""SKILL.md as people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.brain.skills.reader import FILE_BYTES, read_skill
from bot.brain.skills.skill import BODY_CHARS, Refusal, Skill

GOOD = "---\nname: tea-time\ndescription: Makes tea.\n---\nBoil water.\n"


def written(folder: Path, text: str | bytes, name: str = "SKILL.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def read(folder: Path) -> Skill:
    skill = read_skill(folder)
    assert isinstance(skill, Skill), str(skill)
    return skill


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "\n\n" + GOOD,
        GOOD.replace("---", "-----"),
        GOOD.replace("name: tea-time", 'Name: "Tea Time"'),
        GOOD.replace("---\nBoil", "---  \nBoil"),
    ],
)
def test_the_same_skill_in_many_hands(tmp_path: Path, text: str) -> None:
    skill = read(written(tmp_path / "x", text))
    assert (skill.name, skill.description, skill.body) == ("tea-time", "Makes tea.", "Boil water.")


@pytest.mark.parametrize("name", ["skill.md", "Skill.MD", "SKILL.MD"])
def test_the_file_may_be_written_in_any_case(tmp_path: Path, name: str) -> None:
    assert read(written(tmp_path / "x", GOOD, name)).name == "tea-time"


def test_b288_a_colon_in_a_description_does_not_cost_the_skill(tmp_path: Path) -> None:
    skill = read(
        written(
            tmp_path / "x",
            "---\nname: pics\ndescription: Makes pictures. IMPORTANT: anime style.\nos: [linux]\n---\nDraw.\n",
        )
    )
    assert skill.description == "Makes pictures. IMPORTANT: anime style."
    assert skill.needs.systems == ("linux",)
    assert any("line 3" in note and "quotes" in note for note in skill.notes)


def test_what_is_missing_is_taken_from_elsewhere_and_said(tmp_path: Path) -> None:
    skill = read(written(tmp_path / "My Great Skill", "# Title\n\nDoes great things\nevery day.\n\nMore."))
    assert (skill.name, skill.description) == ("my-great-skill", "Does great things every day.")
    assert len(skill.notes) == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("---\nname: x\ndescription: y\n", "never closed"),
        ("---\nname: x\ndescription: y\n---\n\n", "nothing below"),
        ("", "nothing below"),
        (b"\x00\x01binary", "no text"),
        ("x" * (FILE_BYTES + 1), "larger than"),
        ("# Only a title\n", "no paragraph"),
    ],
)
def test_what_cannot_be_a_skill_is_refused_with_its_reason(tmp_path: Path, text: str | bytes, reason: str) -> None:
    refusal = read_skill(written(tmp_path / "x", text))
    assert isinstance(refusal, Refusal) and reason in refusal.reason
    assert str(refusal).startswith(str(tmp_path / "x" / "SKILL.md"))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text(GOOD)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").symlink_to(tmp_path / "secret.md")
    refusal = read_skill(tmp_path / "x")
    assert isinstance(refusal, Refusal) and "a link" in refusal.reason


@pytest.mark.parametrize(
    "needs",
    [
        "requires: {bins: [no-such-program-1], env: [NO_SUCH_VARIABLE_1]}",
        'metadata: {openclaw: {requires: {bins: ["no-such-program-1"], env: ["NO_SUCH_VARIABLE_1"]}}}',
        'metadata: \'{"clawdbot": {"requires": {"bins": ["no-such-program-1"], "env": ["NO_SUCH_VARIABLE_1"]}}}\'',
    ],
)
def test_what_a_skill_needs_is_found_where_hosts_put_it(tmp_path: Path, needs: str) -> None:
    skill = read(written(tmp_path / "x", f"---\nname: x\ndescription: y\n{needs}\n---\nDo.\n"))
    assert skill.needs.missing() == ("the program no-such-program-1", "the variable NO_SUCH_VARIABLE_1")


def test_other_fields_of_the_format(tmp_path: Path) -> None:
    head = "user-invocable: false\ndisable-model-invocation: yes\nallowed-tools: Read web_* note_write\ntriggers: [tea, 喝茶]"
    skill = read(written(tmp_path / "x", f"---\nname: x\ndescription: y\n{head}\n---\nIn {{baseDir}}.\n"))
    assert (skill.by_person, skill.by_itself) == (False, False)
    assert skill.tools == ("Read", "web_*", "note_write") and skill.triggers == ("tea", "喝茶")
    assert skill.guide == f"In {tmp_path / 'x'}."


def test_a_bomb_of_aliases_is_read_line_by_line(tmp_path: Path) -> None:
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nname: x\ndescription: boom"
    assert read(written(tmp_path / "x", f"---\n{bomb}\n---\nDo.\n")).description == "boom"


def test_a_long_body_is_cut_and_said_to_be(tmp_path: Path) -> None:
    skill = read(written(tmp_path / "x", GOOD + "word " * 10_000))
    assert len(skill.guide) < BODY_CHARS + 100 and skill.guide.endswith("is left out.]")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.text(max_size=200), st.booleans())
def test_nothing_that_may_stand_in_a_file_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, head: str, body: str, closed: bool
) -> None:
    folder = tmp_path_factory.mktemp("s")
    text = f"---\n{head}\n{'---' if closed else ''}\n{body}".encode("utf-8", "surrogatepass")
    assert isinstance(read_skill(written(folder, text)), Skill | Refusal)
