"""The YAML reader: scalars as written, lines of every place, sentences for what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.problems import Findings
from bot.config.yaml_source import MAX_BYTES, read_yaml


def parse(text: str | bytes) -> tuple[dict[str, Any], Findings]:
    findings = Findings("c.yaml")
    return read_yaml(text.encode() if isinstance(text, str) else text, findings), findings


def told(text: str | bytes) -> list[str]:
    return [str(problem) for problem in parse(text)[1].problems]


@pytest.mark.parametrize(
    "written",
    ["off", "no", "on", "yes", "Y", "007", "0o17", "0x1f", "1_000", "22:00", "1.10", "1e3", ".inf", "2026-01-01", "12"],
)
def test_b226_b227_a_scalar_stays_the_text_that_was_written(written: str) -> None:
    assert parse(f"a: {written}\nb: [{written}]\n")[0] == {"a": written, "b": [written]}


def test_only_true_false_and_null_have_types_and_quotes_take_them_away() -> None:
    assert parse("a: [true, False, null, ~, 'true', \"null\", !!str true]\nb:\n")[0] == {
        "a": [True, False, None, None, "true", "null", "true"],
        "b": None,
    }


def test_every_place_has_the_line_of_its_key_or_its_dash() -> None:
    _, findings = parse("a:\n  b: 1\n\n  c:\n    - x\n    - y: 2\n      z: 3\nd: {e: 1,\n  f: 2}\n")
    assert findings.lines == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "c"): 4,
        ("a", "c", 0): 5,
        ("a", "c", 1): 6,
        ("a", "c", 1, "y"): 6,
        ("a", "c", 1, "z"): 7,
        ("d",): 8,
        ("d", "e"): 8,
        ("d", "f"): 9,
    }


def test_a_key_that_stands_twice_is_told_with_both_lines_and_reading_goes_on() -> None:
    tree, findings = parse("a: 1\nb:\n  c: 1\n  c: {d: 2}\na: 3\nz: 1\n")
    assert [str(problem) for problem in findings.problems] == [
        "c.yaml:4: b.c: stands here twice; the first is on line 3",
        "c.yaml:5: a: stands here twice; the first is on line 1",
    ]
    assert tree == {"a": "1", "b": {"c": "1"}, "z": "1"}
    assert ("b", "c", "d") not in findings.lines


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nname:Bower\nlanguage: zh\n", 2, "a colon followed by a space is missing"),
        ("name Bower\nlanguage: zh\n", 1, "a colon followed by a space is missing"),
        ("name：Bower\nlanguage: zh\n", 1, "a colon followed by a space is missing"),
        ("a:\n  b: 1\n    c: 2\n", 3, "indented further than the one above"),
        ("a:\n  b: 1\n c: 2\n", 3, "indentation does not fit"),
        ("a:\n  - 1\n  b: 2\n", 3, "cannot be mixed"),
        ("a:\n\tb: 1\n", 2, "a tab character"),
        ("a:\n  users: *\nb: 1\n", 2, 'begins with * must be quoted: "*"'),
        ("a: [*x]\n", 1, "begins with * must be quoted"),
        ("a: @x\n", 1, "begins with @ must be quoted"),
        ("a: `x`\n", 1, "begins with ` must be quoted"),
        ("a: 1\nb: 'abc\nc: 'x'\n", 2, "a quote (\" or ') is opened here and not closed"),
        ('a: "abc\nb: 1\n', 1, "a quote (\" or ') is opened here and not closed"),
        ("a: 'it's'\n", 1, "after the closing quote"),
        ("a: [1,\n  2\nb: 3\n", 1, "opened here and not closed"),
        ("a: {b: ${X}}\n", 1, "must be quoted"),
        ("to: telegram:main:123:\n", 1, "a value with a colon"),
        ("a: say: hello\n", 1, "a value with a colon"),
        ('a: "C:\\path"\n', 1, "a backslash must be doubled"),
        ("a: 1\n---\nb: 1\n", 2, "a second document"),
        ("a: 1\n...\nb: 1\n", 3, "a second document"),
        ("a: !secret x\n", 1, "!secret"),
        ("a: !!python/object/apply:os.getcwd []\n", 1, "!!python/object"),
        ("a: {{X}}\n", 1, "a key must be a word"),
        ("a: [1]]\n", 1, "closed here that was not opened"),
        ("a: | x\n  b\n", 1, "begins on the next line"),
        ("a: 1\n<<: 2\n", 2, "<< must name a section"),
        ("a: &a [*a]\n", 1, "inside itself"),
        ("a: {'': 1}\n", 1, "a key is missing"),
        ("- a\n- b\n", 1, "a section of keys"),
        ("just a word\n", 1, "a section of keys"),
        ("a: 1\nb: x\x07\n", 2, "an invisible control character"),
        (b"a: 1\nb: caf\xe9\n", 2, "not UTF-8"),
        ("a: " + "[" * 400, 1, "nested too deeply"),
        ("x" * (MAX_BYTES + 1), 1, "larger than"),
    ],
)
def test_what_cannot_be_read_is_told_in_words_with_its_line(text: str | bytes, line: int, words: str) -> None:
    (sentence,) = told(text)
    assert sentence.startswith(f"c.yaml:{line}: ")
    assert words in sentence


def test_aliases_of_aliases_are_counted_in_full() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "nested too deeply or too large" in told("\n".join(rows))[0]


def test_anchors_and_merges_are_read_and_own_keys_win() -> None:
    tree, findings = parse("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 9}\nd:\n  <<: *b\n")
    assert not findings.problems
    assert tree["c"] == {"x": "9", "y": "2", "z": "4"}
    assert tree["d"] == {"y": "3", "z": "4"}


def test_an_empty_file_a_comment_and_a_byte_order_mark_are_nothing_special() -> None:
    assert parse("") == ({}, parse("")[1])
    assert parse("# nothing\n---\n")[0] == {}
    assert parse(b"\xef\xbb\xbfname: x\r\n")[0] == {"name": "x"}


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:- \n\t\"'[]{}*&!|>#%@`,?$~.\\<=0", max_size=60))
def test_any_text_is_read_or_told_and_never_raises(text: str) -> None:
    tree, findings = parse(text)
    assert isinstance(tree, dict)
    assert all(problem.line and problem.sentence for problem in findings.problems)
