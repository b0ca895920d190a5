"""Arguments of calls: an object, or a reason that tells cut off from malformed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.tool import ToolCall
from bot.providers.arguments import arguments_of, parse_arguments

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES, min_size=1, max_size=4))
def test_an_object_is_read_and_every_beginning_of_it_is_cut_off(values: dict[str, Any]) -> None:
    text = json.dumps(values)
    assert parse_arguments(text).invalid == ""
    for size in range(1, len(text)):
        parsed = parse_arguments(text[:size])
        assert parsed.values == {}
        assert "cut off" in parsed.invalid, text[:size]


@pytest.mark.parametrize("text", [None, "", "  ", "\n\t"])
def test_b135_nothing_is_no_arguments(text: str | None) -> None:
    assert parse_arguments(text).values == {}
    assert parse_arguments(text).invalid == ""


@pytest.mark.parametrize(
    "text", ["{", '{"a"', '{"a":', '{"a":tr', '{"a":-', '{"a":"b', '{"a":"\\', '{"a":"\\u12', '{"a":[1,']
)
def test_what_stops_is_cut_off(text: str) -> None:
    assert "cut off" in parse_arguments(text).invalid


@pytest.mark.parametrize(
    "text",
    ['{"mode": ffull"}', "{'a': 1}", '{"a": 1}}', '{"a": 1} x', '{"a" 1}', '{"a":"\\x"}', '{"a":"\\uZZ"}', "{,}"],
)
def test_b132_what_is_wrong_is_malformed(text: str) -> None:
    parsed = parse_arguments(text)
    assert "not valid JSON" in parsed.invalid
    assert "cut off" not in parsed.invalid
    assert parsed.values == {}


@pytest.mark.parametrize("text", ["[1]", "1", "true", '"text"', "[]"])
def test_what_is_no_object_is_refused(text: str) -> None:
    assert parse_arguments(text).invalid
    assert parse_arguments(text).values == {}


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_what_json_does_not_have_is_malformed(text: str) -> None:
    assert "not valid JSON" in parse_arguments(text).invalid


def test_line_breaks_inside_strings_are_forgiven() -> None:
    assert parse_arguments('{"a": "one\ntwo"}').values == {"a": "one\ntwo"}


def test_half_characters_are_replaced_and_split_ones_joined() -> None:
    parsed = parse_arguments(r'{"a": "\ud83d\udc26", "b": "\ud83d", "\udc26": [1]}')
    assert parsed.values == {"a": "🐦", "b": "\ufffd", "\ufffd": [1]}
    assert ToolCall("1", "t", parsed.values).fingerprint


def test_values_that_came_as_json_are_taken_as_they_are() -> None:
    assert arguments_of({"a": 1}).values == {"a": 1}
    assert arguments_of('{"a": 1}').values == {"a": 1}
    assert arguments_of(None).values == {}
    assert arguments_of([1]).invalid
