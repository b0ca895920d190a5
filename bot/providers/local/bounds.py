"""JSON Schemas cut down to what a small model can be held to: known keywords only, every string and list bounded.

Unbounded, such a model writes on until its limit; and the engine refuses keywords that it cannot turn into a grammar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

STRING_CHARS: Final = 300
LIST_ITEMS: Final = 8
DEPTH: Final = 6
_ANY: Final[dict[str, Any]] = {
    "anyOf": [{"type": "string", "maxLength": STRING_CHARS}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]
}


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with limits. Descriptions, formats and patterns are left out, references resolved as far as they are
    local and not endless; what is left open becomes a plain value. Any answer to the result that does not depend on
    a pattern or format satisfies the original."""
    definitions = {**(schema.get("definitions") or {}), **(schema.get("$defs") or {})}
    return _bounded(schema, definitions, DEPTH)


def _bounded(schema: Any, definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if not isinstance(schema, Mapping) or depth < 0:
        return _ANY
    if isinstance(reference := schema.get("$ref"), str):
        return _bounded(definitions.get(reference.rpartition("/")[2]), definitions, depth - 1)
    for keyword in ("const", "enum"):
        if keyword in schema:
            return {keyword: schema[keyword]}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(parts := schema.get(keyword), list) and parts:
            chosen = parts if keyword != "allOf" else parts[:1]
            return {"anyOf": [_bounded(part, definitions, depth - 1) for part in chosen]}
    return _typed(schema, definitions, depth)


def _typed(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> dict[str, Any]:
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        return {"anyOf": [_typed({**schema, "type": one}, definitions, depth) for one in kind]}
    if kind == "object":
        properties = schema.get("properties") or {}
        return {
            "type": "object",
            "properties": {name: _bounded(part, definitions, depth - 1) for name, part in properties.items()},
            "required": [name for name in schema.get("required") or () if name in properties],
            "additionalProperties": False,
        }
    if kind == "array":
        most = min(LIST_ITEMS, schema.get("maxItems", LIST_ITEMS))
        items = _bounded(schema.get("items"), definitions, depth - 1)
        return {"type": "array", "items": items, "maxItems": most, **_kept(schema, "minItems")}
    if kind == "string":
        most = min(STRING_CHARS, schema.get("maxLength", STRING_CHARS))
        return {"type": "string", "maxLength": most, **_kept(schema, "minLength")}
    if kind == "integer":
        return {"type": "integer", **_kept(schema, "minimum", "maximum")}
    return {"type": kind} if kind in ("number", "boolean", "null") else _ANY


def _kept(schema: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: schema[name] for name in names if name in schema}
