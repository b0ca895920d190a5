"""Definitions are bounded, and what is left out of them is not refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from bot.brain.toolbox.shown import MOST_TOKENS, shown, spec_tokens
from bot.core.tool import ToolContext, ToolSpec
from bot.tools.registry import tool
from tests.brain.toolbox.shop import STOCK


def spec(parameters: Mapping[str, Any], about: str = "Does something.") -> ToolSpec:
    return ToolSpec("thing", about, parameters)


def wide(count: int, **more: Any) -> dict[str, Any]:
    fields = {f"field{n}": {"type": "string", "description": f"the field number {n}, " * 20} for n in range(count)}
    return {"type": "object", "properties": fields, "additionalProperties": False, **more}


@pytest.mark.parametrize("name", ["now", "calculate", "note_write", "train_search"])
def test_what_is_short_enough_is_shown_as_it_is(name: str) -> None:
    assert shown(STOCK[name].spec) is STOCK[name].spec


def test_a_long_description_is_cut_with_a_sign_that_it_is() -> None:
    cut = shown(spec({"type": "object", "properties": {}}, "It does a great many things. " * 200))
    assert cut.description.startswith("It does") and cut.description.endswith("…")
    assert spec_tokens(cut) <= MOST_TOKENS


def test_of_many_arguments_the_required_ones_stay_and_no_other_is_forbidden() -> None:
    cut = shown(spec(wide(90, required=["field88", "field3"])))
    assert {"field88", "field3"} <= set(cut.parameters["properties"])
    assert cut.parameters["required"] == ["field88", "field3"]
    assert "additionalProperties" not in cut.parameters
    assert spec_tokens(cut) <= MOST_TOKENS


def test_a_long_list_of_values_is_told_of_but_forbids_none_of_those_left_out() -> None:
    values = [f"currency number {n}" for n in range(400)]
    cut = shown(spec({"type": "object", "properties": {"money": {"type": "string", "enum": values}}}))
    money = cut.parameters["properties"]["money"]
    assert "enum" not in money and "400" in money["description"] and values[0] in money["description"]


def test_what_the_prompt_leaves_out_is_still_taken_at_the_call() -> None:
    class Deep(BaseModel):
        kind: Literal[tuple(f"kind{n}" for n in range(300))]  # type: ignore[valid-type]
        inner: Deep | None = None

    Deep.model_rebuild(_types_namespace={"Deep": Deep})

    async def deep(one: Any, *, context: ToolContext) -> str:
        """Takes something deep."""
        return "done"

    deep.__annotations__["one"] = Deep
    made = tool()(deep)
    assert spec_tokens(made.spec) > MOST_TOKENS >= spec_tokens(shown(made.spec))
    assert made.check({"one": {"kind": "kind299", "inner": {"kind": "kind1", "inner": {"kind": "kind2"}}}}) == ""


WORDS = st.text("abc de字é", max_size=40)
ABOUT = st.sampled_from(["", "short", "a long description, " * 40, "很长的说明，" * 80])


def nested() -> st.SearchStrategy[Any]:
    leaf = st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "boolean"])},
        optional={"description": ABOUT, "enum": st.lists(WORDS, max_size=6).map(lambda few: few * 10)},
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(WORDS, inner, max_size=6)}),
            st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
            st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=4)}),
            st.just({"$ref": "#/$defs/itself"}),
        ),
        max_leaves=16,
    )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(WORDS, nested(), max_size=12), ABOUT, st.booleans())
def test_whatever_a_server_declares_is_bounded(fields: dict[str, Any], about: str, needed: bool) -> None:
    itself = {"type": "object", "properties": fields, "required": list(fields) if needed else []}
    cut = shown(spec({**itself, "$defs": {"itself": itself}}, about))
    assert spec_tokens(cut) <= MOST_TOKENS
    assert cut.parameters["type"] == "object"
    json.dumps(dict(cut.parameters))
