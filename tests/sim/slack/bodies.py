"""Reading a call's parameters: query, form, multipart or JSON, with JSON strings inside the form fields."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, web

from tests.sim.slack.nouns import Json, Refused, missing

MAX_BODY_BYTES = 64 * 1024 * 1024


class Params(dict[str, Any]):
    """The parameters as sent: text from forms, JSON values from JSON bodies."""

    def text(self, name: str) -> str:
        value = self.get(name, "")
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    def needed(self, name: str) -> str:
        if not (text := self.text(name)):
            raise missing(name)
        return text

    def integer(self, name: str, default: int) -> int:
        try:
            return int(self.get(name, default))
        except (TypeError, ValueError):
            raise Refused("invalid_arguments", f"[ERROR] failed to match all allowed schemas: {name}") from None

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.get(name)
        return default if value is None else str(value).lower() in ("true", "1")

    def listed(self, name: str, error: str) -> list[Any] | None:
        """A list, also as a JSON string; None when it is missing or empty text. Refused as ``error`` if it is no list."""
        value = self.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise Refused(error, f"[ERROR] {name} is not valid JSON") from None
        if not isinstance(value, list):
            raise Refused(error, f"[ERROR] must provide an array [json-pointer:/{name}]")
        return value

    def object(self, name: str, error: str) -> Json | None:
        value = self.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise Refused(error) from None
        if not isinstance(value, dict):
            raise Refused(error)
        return value


async def read_params(request: web.Request) -> Params:
    params = Params(request.query)
    if not request.body_exists:
        return params
    kind = request.content_type
    if kind == "multipart/form-data":
        await _multipart(request, params)
        return params
    body = await request.read()
    if not body:
        return params
    if kind == "application/x-www-form-urlencoded":
        params.update(_form(body))
    elif kind == "application/json":
        params.update(_json_object(body))
    else:
        raise Refused("invalid_post_type")
    return params


def _form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise Refused("invalid_form_data") from None


def _json_object(body: bytes) -> Json:
    try:
        data = json.loads(body)
    except ValueError:
        raise Refused("invalid_json") from None
    if not isinstance(data, dict):
        raise Refused("json_not_object")
    return data


async def _multipart(request: web.Request, params: Params) -> None:
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise Refused("invalid_form_data")
        content = bytes(await part.read())
        params[part.name] = content if part.filename is not None else content.decode("utf-8", "replace")
