"""What a prompt has of a tool's specification: all of it where that is little, else its beginning.

Nothing that is left out here is refused at the call: there the tool's own schema counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bot.brain.tokens import estimated_tokens
from bot.core.text import clipped
from bot.core.tool import ToolSpec

MOST_TOKENS: Final = 300
"""Of one tool: ten of them and those that are always there stay below the 5,000 of DESIGN.md."""
_PLAIN_KEYS: Final = ("type", "format", "minimum", "maximum", "minItems", "maxItems", "default", "const")
_UNIONS: Final = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class _Bounds:
    """``about`` and ``field`` are characters of a tool's description and of an argument's; ``values`` those of a list of
    values that are named, ``fields`` the arguments of an object, ``depth`` how deep objects lie in each other."""

    about: int
    field: int
    values: int
    fields: int
    depth: int


_TIGHTER: Final = (
    _Bounds(about=600, field=160, values=24, fields=24, depth=4),
    _Bounds(about=400, field=80, values=12, fields=16, depth=3),
    _Bounds(about=240, field=40, values=8, fields=10, depth=2),
    _Bounds(about=160, field=0, values=4, fields=8, depth=1),
    _Bounds(about=120, field=0, values=0, fields=4, depth=0),
)


def spec_tokens(spec: ToolSpec) -> int:
    """By the estimate."""
    told = json.dumps([spec.name, spec.description, dict(spec.parameters)], ensure_ascii=False, default=str)
    return estimated_tokens(told)


def shown(spec: ToolSpec, most_tokens: int = MOST_TOKENS) -> ToolSpec:
    """The specification as prompts have it: itself where it is short enough. Of less than some 60 tokens it is only a name
    with a few words."""
    cut = spec
    for bounds in _TIGHTER:
        if spec_tokens(cut) <= most_tokens:
            break
        schema = _Schema(bounds, spec.parameters.get("$defs", {})).cut(spec.parameters, bounds.depth)
        cut = replace(spec, description=clipped(spec.description, bounds.about), parameters=schema)
    return cut if spec_tokens(cut) <= most_tokens else replace(cut, parameters={"type": "object"})


class _Schema:
    def __init__(self, bounds: _Bounds, definitions: Any) -> None:
        self._bounds = bounds
        self._definitions = definitions if isinstance(definitions, Mapping) else {}

    def cut(self, schema: Any, depth: int) -> dict[str, Any]:
        """``schema`` with at most ``depth`` levels below it; references are resolved, as what they name may be left out."""
        if not isinstance(schema, Mapping):
            return {}
        if isinstance(name := schema.get("$ref"), str):
            named = self._definitions.get(name.rpartition("/")[2])
            if depth <= 0 or not isinstance(named, Mapping):
                return {"type": "object"}
            schema = {**named, **{key: value for key, value in schema.items() if key != "$ref"}}
        kept = {key: schema[key] for key in _PLAIN_KEYS if key in schema}
        said = self._said(schema)
        if said:
            kept["description"] = said
        values = schema.get("enum")
        if isinstance(values, Sequence) and len(values) <= self._bounds.values:
            kept["enum"] = list(values)
        for key in _UNIONS:
            if isinstance(schema.get(key), Sequence) and depth > 0:
                kept[key] = [self.cut(one, depth - 1) for one in schema[key][: self._bounds.fields]]
        if "items" in schema:
            kept["items"] = self.cut(schema["items"], depth - 1) if depth > 0 else {}
        return kept | self._fields(schema, depth)

    def _said(self, schema: Mapping[str, Any]) -> str:
        """The description, with the first of values too many to be listed: a list of some would forbid the others."""
        parts = [clipped(str(schema.get("description", "")), self._bounds.field)] if self._bounds.field else []
        values = schema.get("enum")
        if isinstance(values, Sequence) and len(values) > self._bounds.values:
            named = ", ".join(map(str, values[: self._bounds.values]))
            parts.append(f"One of {len(values)}: {named}, …" if named else f"One of {len(values)} values.")
        return " ".join(part for part in parts if part)

    def _fields(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Of an object's arguments the required ones before the others, in their own order."""
        fields = schema.get("properties")
        if not isinstance(fields, Mapping):
            return {}
        needed = [name for name in schema.get("required", ()) if name in fields]
        optional = [name for name in fields if name not in needed]
        kept = set((needed + optional)[: max(self._bounds.fields, len(needed))])
        cut: dict[str, Any] = {
            "properties": {
                name: self.cut(one, depth - 1) if depth > 0 else self._bare(one)
                for name, one in fields.items()
                if name in kept
            }
        }
        if needed:
            cut["required"] = needed
        if len(kept) == len(fields) and "additionalProperties" in schema and schema["additionalProperties"] is False:
            cut["additionalProperties"] = False
        return cut

    @staticmethod
    def _bare(schema: Any) -> dict[str, Any]:
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        return {"type": kind} if kind is not None else {}
