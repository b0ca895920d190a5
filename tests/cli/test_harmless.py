"""No text of a model, a tool or a person reaches the terminal as a command to it."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth

from bot.cli.harmless import harmless, one_line
from bot.cli.paint import Painter, ending, settled

COLOURS = re.compile(r"\x1b\[[0-9;]*m")

NASTY = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "\x1b[2J",
                "\x1b]0;title\x07",
                "\x1b]52;c;ZWNobw==\x07",
                "\x9b31m",
                "\u202e",
                "\u2066",
                "\r",
                "\x08",
                "\x7f",
                "\ud800",
                "<http://x/%1b]0;t%07>",
                "<http://x/%9b2J%08>",
                "[a](http://x/%1b[2J)",
                "![i](http://x/\x1b)",
                "&#27;[2J",
                "&#x9b;2J",
                "&#x202e;",
                "&#12;",
                "&NewLine;&Tab;",
                "```\x1b[2J\n",
                "`\x1b`",
                "| a | \x1b |\n|--|--|\n",
                "# \x1b\n",
                "> ",
                "- ",
                "\n\n",
                "[bold]",
                "[link=http://x]y[/link]",
                "[r]: http://x '\x1b'\n",
                "中文",
                "👩\u200d💻",
            ]
        ),
        st.text(max_size=20),
    ),
    max_size=12,
).map("".join)


def is_safe(text: str) -> bool:
    return all(
        char == "\n"
        or (
            unicodedata.category(char) not in ("Cc", "Cs")
            and not "\u202a" <= char <= "\u202e"
            and not "\u2066" <= char <= "\u2069"
        )
        for char in text
    )


@given(NASTY)
def test_harmless_text_has_no_control_character_but_line_feeds_and_tabs(text: str) -> None:
    cleaned = harmless(text)
    assert is_safe(cleaned.replace("\t", ""))
    assert harmless(cleaned) == cleaned
    assert is_safe(one_line(text))
    assert "\n" not in one_line(text)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text


@settings(deadline=None, max_examples=200)
@given(NASTY, st.sampled_from(["standard", "256", "truecolor", None]))
def test_rendered_markdown_holds_colours_and_nothing_else_a_terminal_obeys(text: str, color: str | None) -> None:
    for line in Painter(60, color).markdown(text):  # type: ignore[arg-type]
        bare = COLOURS.sub("", line)
        assert is_safe(bare), ascii(line)
        assert "\n" not in line
        if color is None:
            assert bare == line


def test_a_percent_encoded_escape_in_a_link_stays_asleep() -> None:
    """CommonMark autolinks are shown decoded: cleaning the source alone would let this one through."""
    lines = Painter(80, "standard").markdown("<http://x/%1b]0;owned%07>")
    assert "\x1b]" not in "".join(lines)
    assert "\x07" not in "".join(lines)


def test_a_link_shows_where_it_leads() -> None:
    text = "".join(Painter(80, None).markdown("[your bank](https://evil.example/)"))
    assert "your bank" in text
    assert "https://evil.example/" in text


@pytest.mark.parametrize("width", [20, 33, 80])
def test_wide_characters_never_overrun_the_window(width: int) -> None:
    for line in Painter(width, None).markdown(
        "中文测试，宽字符不会超出窗口。" * 10 + "\n\n" + "混合 mixed 文字 text " * 10
    ):
        assert wcswidth(line) <= width
    joined = "".join(Painter(width, None).markdown("中文测试" * 30))
    assert joined.replace(" ", "") == "中文测试" * 30


def test_lines_end_where_their_text_ends() -> None:
    for line in Painter(80, "truecolor").markdown("# Title\n\ntext\n\n> quote\n\n```\ncode\n```"):
        assert not COLOURS.sub("", line).endswith(" ")


@settings(deadline=None, max_examples=200)
@given(NASTY.map(harmless), NASTY.map(harmless))
def test_what_is_settled_looks_the_same_whatever_follows(text: str, more: str) -> None:
    """But for link definitions, which may follow their use."""
    assume("]:" not in text + more)
    cut = settled(text)
    painter = Painter(60, "standard")
    up = [line for line in painter.markdown(text[:cut]) if line]
    whole = [line for line in painter.markdown(text + more) if line]
    assert whole[: len(up)] == up


def test_only_whole_blocks_are_settled() -> None:
    assert settled("one paragraph\nstill the same") == 0
    assert settled("one\n\ntwo") == len("one\n\n")
    assert settled("one\n\n- a\n\n  still a\n- b") == len("one\n\n")
    assert settled("one\n\n```\ncode\n\nmore code") == len("one\n\n")
    assert settled("") == 0


def test_a_long_code_block_that_grows_is_coloured_only_where_it_is_seen() -> None:
    code = [f"line {number}" for number in range(500)]
    text = "before\n\n```python\n" + "\n".join(code)
    shown = ending(text, 20)
    assert shown.split("\n") == ["before", "", "```python", *code[-20:]]
    for whole in ("before\n\n```\na\nb\n```", "one\n\ntwo", "- a\n- b\n" * 99, ""):
        assert ending(whole, 20) == whole


@given(NASTY.map(harmless), st.integers(3, 30))
def test_the_end_of_a_growing_answer_is_its_end(text: str, lines: int) -> None:
    assert ending(text, lines).split("\n")[-lines:] == text.split("\n")[-lines:]


@given(st.text(st.sampled_from("ab 中\n"), max_size=200), st.integers(20, 60))
def test_the_height_of_plain_lines_is_not_underestimated(text: str, width: int) -> None:
    rows = [row for row in text.split("\n") if row]
    assert Painter(width, None).height(text) >= sum(wcswidth(row) // width for row in rows)
