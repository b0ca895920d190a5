"""Bounded schemas: whatever a tool brings, the model is held to something finite."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from bot.providers.local.bounds import LIST_ITEMS, STRING_CHARS, bounded


class Step(BaseModel):
    name: str
    minutes: int = Field(ge=1, le=90)


class Recipe(BaseModel):
    title: str = Field(max_length=40)
    steps: list[Step]
    comment: str | None = None


def test_strings_and_lists_get_limits_and_keep_narrower_ones() -> None:
    schema = bounded(Recipe.model_json_schema())
    assert schema["properties"]["title"] == {"type": "string", "maxLength": 40}
    assert schema["properties"]["steps"]["maxItems"] == LIST_ITEMS
    step = schema["properties"]["steps"]["items"]
    assert step["properties"]["name"]["maxLength"] == STRING_CHARS
    assert step["properties"]["minutes"] == {"type": "integer", "minimum": 1, "maximum": 90}
    assert schema["required"] == ["title", "steps"]


def test_references_that_go_round_end() -> None:
    tree = {"$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}, "$ref": "#/$defs/Node"}
    check(bounded(tree))


def test_a_reference_to_nowhere_is_any_plain_value() -> None:
    assert "anyOf" in bounded({"properties": {"x": {"$ref": "#/$defs/Gone"}}})["properties"]["x"]


def test_required_names_without_a_property_are_dropped() -> None:
    assert bounded({"type": "object", "properties": {}, "required": ["ghost"]})["required"] == []


def check(schema: dict[str, Any]) -> None:
    """Nothing in the schema is open-ended, and every keyword is one that the engine knows."""
    known = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const"}
    known |= {"maxItems", "minItems", "maxLength", "minLength", "minimum", "maximum"}
    assert set(schema) <= known
    match schema.get("type"):
        case "string":
            assert schema["maxLength"] <= STRING_CHARS
        case "array":
            assert schema["maxItems"] <= LIST_ITEMS
            check(schema["items"])
        case "object":
            assert schema["additionalProperties"] is False
            for part in schema["properties"].values():
                check(part)
    for part in schema.get("anyOf", []):
        check(part)


wild = st.recursive(
    st.sampled_from(
        [{}, {"type": "string", "pattern": ".*"}, {"type": ["integer", "null"]}, {"enum": ["a"]}, {"$ref": "x"}]
    ),
    lambda part: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": part}),
        st.fixed_dictionaries({"properties": st.dictionaries(st.text(max_size=3), part, max_size=3)}),
        st.fixed_dictionaries({"anyOf": st.lists(part, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"patternProperties": st.dictionaries(st.text(max_size=3), part, max_size=2)}),
    ),
    max_leaves=8,
)


@given(wild)
def test_any_schema_becomes_a_finite_one(schema: dict[str, Any]) -> None:
    check(bounded(schema))
