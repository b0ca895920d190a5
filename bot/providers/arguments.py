"""The arguments of a tool call: the joined text of all its fragments, parsed once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

_LITERALS = ("true", "false", "null", "-")
_NUMBER_TAIL = re.compile(r"\.|[eE][+-]?")


@dataclass(frozen=True, slots=True)
class Arguments:
    """``invalid`` says why the call must not run; then ``values`` is empty."""

    values: Mapping[str, Any] = field(default_factory=dict)
    invalid: str = ""


def parse_arguments(text: str | None) -> Arguments:
    """An empty, blank or missing text is a call without arguments. The reason tells cut off from malformed: a cut off
    call is worth asking for again in smaller pieces, a malformed one is worth correcting."""
    if text is None or not text.strip():
        return Arguments()
    try:
        value = json.loads(text, strict=False, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        if _is_cut_off(text, error):
            return Arguments(invalid="the arguments were cut off before their end")
        return Arguments(invalid=f"the arguments are not valid JSON: {error.msg} at character {error.pos}")
    except (ValueError, RecursionError):
        return Arguments(invalid="the arguments are not valid JSON: a number or a nesting that JSON does not have")
    return arguments_of(value)


def arguments_of(value: Any) -> Arguments:
    """Arguments that came as a JSON value already (Ollama sends objects)."""
    if value is None:
        return Arguments()
    if isinstance(value, str):
        return parse_arguments(value)
    if not isinstance(value, dict):
        return Arguments(invalid=f"the arguments must be a JSON object, not {_json_name(value)}")
    return Arguments(_storable(value))


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """The object without lone surrogates, which JSON can escape but no file, socket or database can hold."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        cleaned: dict[str, Any] = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return cleaned
    return value


def _is_cut_off(text: str, error: json.JSONDecodeError) -> bool:
    """True when the text is a good beginning: what is wrong with it is only that it stops."""
    rest = text[error.pos :].strip()
    if not rest or error.msg.startswith("Unterminated string"):
        return True
    if error.msg.startswith("Invalid \\uXXXX escape"):
        return len(rest) < 6 and '"' not in rest
    if _NUMBER_TAIL.fullmatch(rest):
        return text[error.pos - 1 : error.pos].isdigit()
    return error.msg.startswith("Expecting value") and any(literal.startswith(rest) for literal in _LITERALS)


def _json_name(value: Any) -> str:
    return {list: "an array", bool: "true or false", int: "a number", float: "a number"}.get(
        type(value), "something else"
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
