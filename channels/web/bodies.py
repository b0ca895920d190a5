"""Reading a request's body within bounds, and answering in JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from channels.web.refusal import Refused
from channels.web.words import preferred

BODY_BYTES: Final = 256 * 1024
CHAR_BYTES: Final = 12
"""One character in JSON takes as much where a client escapes all of them."""
BODY_SECONDS: Final = 20.0


async def json_body(request: Request, limit: int = BODY_BYTES, seconds: float = BODY_SECONDS) -> dict[str, Any]:
    """The JSON object of a request. Raises ``Refused``: 415 another type, 413 too large, 408 too slow, 400 no object."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused(415, "not_json")
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > limit:
        raise Refused(413, "too_large", limit=limit)
    raw = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                raw += piece
                if len(raw) > limit:
                    raise Refused(413, "too_large", limit=limit)
    except TimeoutError:
        raise Refused(408, "too_slow") from None
    return json_object(bytes(raw))


def json_object(raw: bytes | str) -> dict[str, Any]:
    """Raises ``Refused`` for anything but one JSON object."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise Refused(400, "bad_json") from None
    if not isinstance(value, dict):
        raise Refused(400, "bad_json")
    return value


def json_answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(raw, status, {"cache-control": "no-store", **(headers or {})}, "application/json")


def language_of(connection: HTTPConnection, wanted: str) -> str:
    """The visitor's language: the house's if it has one, else what the browser asks for, else ""."""
    return preferred(connection.headers.get("accept-language", ""), wanted)
