"""Calls that a model writes as text: found, and never shown, not even for a moment."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.spoken import SpokenCall, SpokenCalls

TOOLS = ("get_time", "add")
TIME, ADD = '{"name":"get_time","arguments":{}}', '{"name":"add","arguments":{"a":1}}'
BOTH = [SpokenCall("get_time", {}), SpokenCall("add", {"a": 1})]


def heard(*deltas: str, tools: tuple[str, ...] = TOOLS) -> tuple[list[str], str, list[SpokenCall]]:
    """What was shown with each delta, what at the end, and the calls."""
    spoken = SpokenCalls(tools)
    shown = [spoken.feed(delta) for delta in deltas]
    rest, calls = spoken.end()
    return shown, rest, calls


@pytest.mark.parametrize(
    "written",
    [
        f"{TIME} {ADD}",
        f"{TIME}\n{ADD}\n",
        f"[{TIME}, {ADD}]",
        f"```json\n[{TIME}, {ADD}]\n```",
        f"```\n{TIME}\n{ADD}\n```",
        f"<tool_call>\n{TIME}\n</tool_call>\n<tool_call>\n{ADD}\n</tool_call>",
        f"[TOOL_CALLS] [{TIME}, {ADD}]",
        '{"type":"function","function":{"name":"get_time","arguments":{}}} {"tool":"add","parameters":{"a":1}}',
    ],
)
def test_b137_written_calls_are_calls_and_nothing_of_them_is_shown(written: str) -> None:
    for deltas in ([written], list(written)):
        shown, rest, calls = heard(*deltas)
        assert "".join(shown) == ""
        assert rest.strip() == ""
        assert calls == BOTH


def test_a_tagged_call_behind_text_is_a_call() -> None:
    shown, rest, calls = heard("Let me see. <tool", "_call>", ADD, "</tool_call>")
    assert "".join(shown) == "Let me see. "
    assert (rest, calls) == ("", BOTH[1:])


def test_arguments_written_as_text_are_kept_as_text() -> None:
    assert heard('{"name":"add","arguments":"{\\"a\\":1}"}')[2] == [SpokenCall("add", '{"a":1}')]


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "Bob", "age": 3}',
        '{"city": "Paris"}',
        "[1, 2, 3]",
        '[{"id": 1}]',
        '```json\n{"a": 1}\n```',
        "```python\nprint()\n```",
        "Plain text with { braces }",
        "<tool_call> is a tag",
        '{"type": "bug", "id": 3}',
        '{"name": "add"} and {"name": "Bob"}',
        "{}",
        "",
    ],
)
def test_other_json_is_an_answer(written: str) -> None:
    shown, rest, calls = heard(*written)
    assert "".join(shown) + rest == written
    assert calls == []


def test_json_that_names_no_tool_is_shown_as_soon_as_that_is_clear() -> None:
    shown, _, _ = heard('{"name": "B', 'ob", "age"', ": 3}")
    assert shown == ['{"name": "B', 'ob", "age"', ": 3}"]
    shown, _, _ = heard('{"name": "a', 'nna", "age"', ": 3}")
    assert shown == ["", '{"name": "anna", "age"', ": 3}"]


def test_without_tools_nothing_is_held() -> None:
    assert heard(TIME, tools=()) == ([TIME], "", [])


def test_a_written_call_that_is_cut_off_is_a_broken_call_not_text() -> None:
    cut = '{"name":"add","arguments":{"a":"#!/usr/bin'
    shown, rest, calls = heard(*cut)
    assert "".join(shown) + rest == ""
    assert calls == [SpokenCall("add", '{"a":"#!/usr/bin')]


def test_text_behind_a_call_is_shown_at_the_end() -> None:
    _, rest, calls = heard(f"{ADD}\nDone, I hope.")
    assert (rest, calls) == ("Done, I hope.", BOTH[1:])


@given(
    st.lists(
        st.sampled_from(['{"', "name", '": "', "add", "get_", '"}', "<tool_call>", "[", "```", " x", ","]), max_size=14
    )
)
def test_text_is_never_lost_nor_doubled(pieces: list[str]) -> None:
    shown, rest, calls = heard(*pieces)
    if not calls:
        assert "".join(shown) + rest == "".join(pieces)


@given(
    st.dictionaries(st.sampled_from(["name", "arguments", "a", "type"]), st.text(max_size=8) | st.none(), max_size=3)
)
def test_a_json_answer_is_shown_as_it_was_written(value: dict[str, str | None]) -> None:
    written = json.dumps(value)
    shown, rest, calls = heard(*written)
    assert calls or "".join(shown) + rest == written
