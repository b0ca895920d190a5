"""What a pydantic model expects at a place: its types, its bounds, and pydantic's complaints as plain sentences."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from bot.config.problems import Findings, Place

_NUMBER: Final = "must be a number"
_WHOLE: Final = "must be a whole number"
_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "is missing here and has no default",
    "extra_forbidden": "unknown key",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_parsing": _WHOLE,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "is too large a number",
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be {le:g} or less",
    "string_type": "must be a text; put it in quotes",
    "string_too_short": "must not be empty",
    "string_too_long": "is longer than {max_length} characters",
    "path_type": "must be a path, written as text",
    "dict_type": "must be a section of its own: lines of `key: value` below it",
    "mapping_type": "must be a section of its own: lines of `key: value` below it",
    "list_type": "must be a list: lines that begin with a dash, or [one, two]",
    "tuple_type": "must be a list: lines that begin with a dash, or [one, two]",
    "too_short": "needs at least {min_length} entry",
    "too_long": "takes at most {max_length} entries",
    "literal_error": "must be {expected}",
}
_QUOTE_NOTHING: Final = frozenset({"missing", "extra_forbidden", "string_type", "string_too_short"})


def core(annotation: Any) -> tuple[Any, bool]:
    """The type without ``Annotated`` and ``None``, and whether None was allowed."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        optional = len(members) < len(get_args(annotation))
        return (core(members[0])[0] if len(members) == 1 else annotation), optional
    return annotation, False


def is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def is_mapping(annotation: Any) -> bool:
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def fields_of(cls: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a section by the key that a person writes."""
    return {field.alias or name: field for name, field in cls.model_fields.items()}


def expected_at(cls: type[BaseModel], place: Place) -> tuple[Any, FieldInfo | None]:
    """The type at ``place`` below ``cls`` (None when there is no such place), and the field if it is one."""
    annotation: Any = cls
    field: FieldInfo | None = None
    for step in place:
        field = None
        if is_section(annotation):
            field = fields_of(annotation).get(str(step))
            annotation = core(field.annotation)[0] if field else None
        elif is_mapping(annotation):
            annotation = core(get_args(annotation)[1])[0]
        elif get_origin(annotation) in (tuple, list):
            annotation = core(get_args(annotation)[0])[0]
        else:
            return None, None
    return annotation, field


def add_complaints(findings: Findings, root: Place, cls: type[BaseModel], errors: list[Any]) -> None:
    """Note what pydantic says about the section at ``root``. Secrets are never quoted."""
    for error in errors:
        loc = tuple(step for step in error["loc"] if step != "[key]")
        annotation, field = expected_at(cls, loc)
        sentence = _sentence(error, annotation, field)
        if annotation is SecretStr or error["type"] in _QUOTE_NOTHING or is_section(annotation):
            findings.add(root + loc, sentence)
        else:
            findings.add_value(root + loc, sentence)


def _sentence(error: Mapping[str, Any], annotation: Any, field: FieldInfo | None) -> str:
    context = error.get("ctx", {})
    if error["type"] == "value_error":
        return str(context["error"])
    if error["type"] in ("model_type", "model_attributes_type") and is_section(annotation):
        return f"must be a section of its own, with the keys {', '.join(fields_of(annotation))}"
    bounds = _bounds(field)
    if bounds and error["type"].startswith(("greater_than", "less_than")):
        return bounds
    template = _SENTENCES.get(error["type"])
    return template.format(**context) if template else "is not valid here"


def _bounds(field: FieldInfo | None) -> str:
    """``must lie between 0 and 65535`` for a field with both bounds, else ""."""
    marks = field.metadata if field else ()
    low = next((mark.ge for mark in marks if hasattr(mark, "ge")), None)
    high = next((mark.le for mark in marks if hasattr(mark, "le")), None)
    return "" if low is None or high is None else f"must lie between {low} and {high}"
