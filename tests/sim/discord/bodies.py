"""Reading a call's body: JSON, or multipart with ``payload_json`` and ``files[n]``."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from aiohttp import BodyPartReader, web

from tests.sim.discord.refusals import Json, Refused, refused

MAX_BODY_BYTES = 25 * 1024 * 1024
"""The largest request (discord-api-docs, create message)."""
FILE = re.compile(r"files\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Upload:
    """``number`` is the n of ``files[n]``."""

    number: int
    name: str
    media_type: str
    content: bytes


async def read_body(request: web.Request) -> tuple[Json, list[Upload]]:
    """The JSON object (or ``{"": list}`` where the body is an array) and the files."""
    if not request.body_exists:
        return {}, []
    try:
        if request.content_type == "multipart/form-data":
            return await _multipart(request)
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise refused(40005) from None
    if not raw:
        return {}, []
    if request.content_type != "application/json":
        message = "Expected \"Content-Type\" header to be one of {'application/json'}."
        raise Refused(400, {"message": message, "code": 50035})
    return _json_object(raw), []


def _json_object(raw: bytes) -> Json:
    try:
        data = json.loads(raw)
    except ValueError:
        raise refused(50109) from None
    return data if isinstance(data, dict) else {"": data}


async def _multipart(request: web.Request) -> tuple[Json, list[Upload]]:
    body: Json = {}
    uploads: list[Upload] = []
    size = 0
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise refused(50109)
        content = bytes(await part.read())
        size += len(content)
        if size > MAX_BODY_BYTES:
            raise refused(40005)
        file = FILE.fullmatch(part.name)
        if part.name == "payload_json":
            body |= _json_object(content)
        elif file is not None or part.filename is not None:
            kind = part.headers.get("Content-Type", "application/octet-stream")
            uploads.append(Upload(int(file[1]) if file else len(uploads), part.filename or "unknown", kind, content))
    return body, uploads
