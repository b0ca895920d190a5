"""Files over HTTP: taken in piece by piece, handed out as downloads or as pictures made anew, and nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from bot.attachments.intake import MOST_BYTES
from bot.attachments.names import file_name
from bot.brain.progress import progress_of
from bot.core.errors import StoreError, StoreFull
from bot.core.transcript import Row, UserRow
from channels.web.bodies import json_answer, language_of
from channels.web.desk import Desk
from channels.web.form import FormFile
from channels.web.pictures import Pictures
from channels.web.refusal import Refused
from channels.web.shown_file import ShownFile, attached, told
from channels.web.uploads import WAIT_SECONDS, Upload
from channels.web.words import phrase

FORM_BYTES: Final = 128 * 1024
"""What a form may add to its file."""
SILENCE_SECONDS: Final = 30.0
"""An upload of which nothing arrives for so long is given up; how long it takes in all is the line's business."""
PICTURE_HEADERS: Final = {"cache-control": "private, max-age=3600", "content-disposition": "inline"}


class FileRoutes:
    """``guarded`` puts a handler behind the gate; ``routes`` is all of it."""

    def __init__(self, desk: Desk, pictures: Pictures, guarded: Callable[[Any], Any]) -> None:
        self._desk, self._pictures, self._guarded = desk, pictures, guarded

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/v1/files", self._guarded(self._take), methods=["POST"]),
            Route("/v1/files/{id}", self._guarded(self._drop), methods=["DELETE"]),
            Route("/v1/files/{turn}/said", self._guarded(self._said), methods=["GET"]),
            Route("/v1/files/{turn}/{index:int}", self._guarded(self._answered), methods=["GET"]),
        ]

    async def _take(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "")
        name = request.query_params.get("name", "")
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > MOST_BYTES + FORM_BYTES:
            raise Refused(413, "file_too_large", name=file_name(name), limit=MOST_BYTES // (1024 * 1024))
        try:
            async with aclosing(arriving(request)) as pieces:
                upload = await self._stored(name, kind, pieces)
        except StoreError as error:
            word = "file_disk_full" if isinstance(error, StoreFull) else "file_not_stored"
            return json_answer({"error": phrase(word, language_of(request, self._desk.kit.language))}, 503)
        return json_answer(_told(upload), 201)

    async def _stored(self, name: str, kind: str, pieces: AsyncIterator[bytes]) -> Upload:
        if not kind.lower().startswith("multipart/form-data"):
            return await self._desk.uploads.take(name, kind, pieces)
        form = FormFile(pieces, kind)
        called, kind = await form.head()
        async with aclosing(form.body()) as body:
            return await self._desk.uploads.take(called or name, kind, body)

    async def _drop(self, request: Request) -> Response:
        id_ = request.path_params["id"]
        if not await self._desk.uploads.drop(id_):
            raise Refused(404, "no_file")
        return json_answer({"id": id_, "object": "file", "deleted": True})

    async def _said(self, request: Request) -> Response:
        """A file of a person's message."""
        turn, message = request.path_params["turn"], request.query_params.get("message", "")
        shown = [one for screen in self._desk.hub.screens(turn) for one in screen.said if one.id == message]
        files = shown[0].files if shown else await self._said_before(turn, message)
        number = request.query_params.get("n", "")
        at = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else len(files)
        return await self._handed_out(request, files[at] if at < len(files) else None)

    async def _said_before(self, turn: str, message: str) -> tuple[ShownFile, ...]:
        for row in await self._rows(turn):
            if isinstance(row.body, UserRow) and row.body.message_id == message:
                return tuple(attached(file, self._desk.kit.shelf) for file in row.body.files)
        return ()

    async def _answered(self, request: Request) -> Response:
        """A file of an answer."""
        turn, index = request.path_params["turn"], request.path_params["index"]
        shown = [file for screen in self._desk.hub.screens(turn) for file in screen.files[index : index + 1]]
        return await self._handed_out(request, shown[0] if shown else await self._answered_before(turn, index))

    async def _answered_before(self, turn: str, index: int) -> ShownFile | None:
        """Of a turn that no page has shown since the start."""
        files = progress_of(await self._rows(turn)).files[index : index + 1]
        return told(files[0], self._desk.kit.shelf) if files else None

    async def _rows(self, turn: str) -> list[Row]:
        """Of a turn, if it was this channel's."""
        rows = await self._desk.kit.archive.turn_rows(turn)
        return [row for row in rows if row.address.channel == self._desk.kit.name]

    async def _handed_out(self, request: Request, file: ShownFile | None) -> Response:
        if file is not None and request.query_params.get("picture"):
            picture = await self._pictures.of(file)
            if picture is None:
                raise Refused(404, "no_picture")
            return Response(picture, headers=PICTURE_HEADERS, media_type="image/jpeg")
        if file is None or not await asyncio.to_thread(os.path.isfile, file.place):
            raise Refused(404, "no_file")
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "cache-control": "no-store",
        }
        return FileResponse(file.place, media_type="application/octet-stream", headers=headers)


def _told(upload: Upload) -> dict[str, Any]:
    """``file`` is what a message names; the rest is how OpenAI's API tells of a file."""
    return {
        "file": upload.id,
        "id": upload.id,
        "object": "file",
        "bytes": upload.size,
        "created_at": int(upload.at),
        "expires_at": int(upload.at + WAIT_SECONDS),
        "filename": upload.name,
        "purpose": "user_data",
        "status": "processed",
    }


async def arriving(request: Request, silence: float = SILENCE_SECONDS) -> AsyncGenerator[bytes, None]:
    """The body as it comes. Raises ``Refused`` where it stops coming."""
    try:
        async with aclosing(request.stream()) as stream:
            while True:
                async with asyncio.timeout(silence):
                    piece = await anext(stream, None)
                if piece is None:
                    return
                yield piece
    except TimeoutError:
        raise Refused(408, "too_slow") from None
    except ClientDisconnect:
        raise Refused(400, "file_broken") from None
