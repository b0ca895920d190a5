"""Reading a call's parameters: query, form, multipart or JSON, with JSON strings inside the form fields."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, web

from tests.sim.telegram.nouns import Json, bad

MAX_BODY_BYTES = 52 * 1024 * 1024
"""50 MB for a file that a bot sends, and the fields around it."""


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    media_type: str
    content: bytes


class Params(dict[str, Any]):
    """The parameters as sent: text from forms, JSON values from JSON bodies, ``Upload`` for files."""

    def text(self, name: str) -> str:
        value = self.get(name, "")
        if isinstance(value, Upload):
            return value.content.decode()
        return value if isinstance(value, str) else json.dumps(value)

    def integer(self, name: str, default: int = 0) -> int:
        value = self.get(name, default)
        try:
            return int(value)
        except (TypeError, ValueError):
            return default

    def flag(self, name: str) -> bool:
        return str(self.get(name, "")).lower() in ("true", "yes", "1")

    def parsed(self, name: str, what: str) -> Any:
        """The JSON value of a field, None when it is missing or empty; refused when it is not JSON."""
        value = self.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise bad(f"can't parse {what} JSON object") from None


async def read_params(request: web.Request) -> Params:
    params = Params(request.query)
    if not request.body_exists:
        return params
    kind = request.content_type
    if kind == "application/x-www-form-urlencoded":
        body = await request.read()
        try:
            params.update(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict"))
        except UnicodeDecodeError:
            raise bad("strings must be encoded in UTF-8") from None
    elif kind == "application/json":
        params.update(_json_object(await request.read()))
    elif kind == "multipart/form-data":
        await _multipart(request, params)
    elif await request.read():
        raise bad("the content type of the request is not supported")
    return params


def _json_object(body: bytes) -> Json:
    try:
        data = json.loads(body)
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(data, dict):
        raise bad("object expected as request body")
    return data


async def _multipart(request: web.Request, params: Params) -> None:
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise bad("can't parse multipart body")
        content = bytes(await part.read())
        if part.filename is not None:
            kind = part.headers.get("Content-Type", "application/octet-stream")
            params[part.name] = Upload(part.filename, kind, content)
        else:
            try:
                params[part.name] = content.decode()
            except UnicodeDecodeError:
                raise bad("strings must be encoded in UTF-8") from None
