"""JSON Schemas as vendors want them for answers of a given shape, and as words for models that nothing holds to one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bot.core.model import Message, ModelRequest, TextBlock

_INSIDE_MAPS: Final = ("properties", "$defs", "definitions")
_WORDS: Final = "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n{schema}"
_INSIDE_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with ``additionalProperties: false`` on every object, which Anthropic asks for."""
    copy = dict(schema)
    if copy.get("type") == "object" or "properties" in copy:
        copy["additionalProperties"] = False
    for key in _INSIDE_MAPS:
        if isinstance(inner := copy.get(key), Mapping):
            copy[key] = {name: closed(part) if isinstance(part, Mapping) else part for name, part in inner.items()}
    for key in _INSIDE_LISTS:
        if isinstance(inner := copy.get(key), list):
            copy[key] = [closed(part) if isinstance(part, Mapping) else part for part in inner]
    if isinstance(items := copy.get("items"), Mapping):
        copy["items"] = closed(items)
    return copy


def told(request: ModelRequest) -> ModelRequest:
    """The request with its schema in words behind everything else that is said; unchanged where it has none."""
    if request.schema is None:
        return request
    words = TextBlock(_WORDS.format(schema=json.dumps(dict(request.schema), ensure_ascii=False)))
    return replace(request, messages=(*request.messages, Message("user", (words,))))


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode takes the schema: every object closed, every property required."""
    if "properties" in schema or schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", [])) != set(properties):
            return False
    parts = [part for key in _INSIDE_MAPS for part in schema.get(key, {}).values()]
    parts += [part for key in _INSIDE_LISTS for part in schema.get(key, [])]
    parts += [schema["items"]] if "items" in schema else []
    return all(is_strict(part) for part in parts if isinstance(part, Mapping))
