"""The OpenAI-compatible endpoint: each request is a turn at an address of its own, which ends with the connection."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.inbound import FileRef, UserMessage
from bot.core.model import Usage
from bot.core.stop import StopReason
from bot.core.transcript import Row
from bot.core.view import Part
from channels.web.bodies import json_answer, json_body, language_of
from channels.web.caller import OWN_MODEL, Asked, asked
from channels.web.completion import (
    DONE,
    PING,
    Completion,
    code_of,
    error_body,
    fault_in,
    finish_reason,
    is_failure,
    spent,
    sse,
    status_of,
    until,
)
from channels.web.desk import API_PREFIX, TEXT_CHARS, Desk
from channels.web.gate import Gate, Verdict
from channels.web.parts import Brought, Malformed
from channels.web.refusal import Refused
from channels.web.stream import HEADERS, Seats, while_connected
from channels.web.words import phrase, unstored

log = logging.getLogger(__name__)

BODY_BYTES: Final = 32 * 1024 * 1024
"""Larger than for the page: the client sends its whole history each time, files and all; the largest file takes 27 MB."""
LARGE_BYTES: Final = 1024 * 1024
LARGE_AT_ONCE: Final = 3
"""Bodies above ``LARGE_BYTES`` that are held in memory at once; others wait at the door."""
BODY_SECONDS: Final = 120.0
PING_SECONDS: Final = 15.0
USAGE_ROWS: Final = 200
USAGE_SECONDS: Final = 1.0
NO_RETRY: Final = {"x-should-retry": "false"}
"""The official clients would otherwise start the turn again, twice, at the owner's cost."""


@dataclass(eq=False, slots=True)
class Exchange:
    """One request, whose files are kept already, and what is known of its answer. ``part`` is the newest state."""

    address: Address
    asked: Asked
    files: tuple[FileRef, ...] = ()
    part: Part | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def show(self, part: Part) -> None:
        if self.part is None or not self.part.view.final:
            self.part = part
            self.changed.set()


class Exchanges:
    """The requests that are being answered now, by the chat of their address."""

    def __init__(self) -> None:
        self._open: dict[str, Exchange] = {}

    def get(self, address: Address) -> Exchange | None:
        return self._open.get(address.chat)

    @contextmanager
    def open(self, exchange: Exchange) -> Iterator[None]:
        self._open[exchange.address.chat] = exchange
        try:
            yield
        finally:
            del self._open[exchange.address.chat]

    def chat_of_card(self, approval: str) -> str:
        for chat, exchange in self._open.items():
            if exchange.part and any(card.id == approval for card in exchange.part.view.cards):
                return chat
        return ""


class OpenAi:
    """``routes`` is all of it."""

    def __init__(self, desk: Desk, gate: Gate, seats: Seats, exchanges: Exchanges) -> None:
        self._desk, self._gate, self._seats, self._exchanges = desk, gate, seats, exchanges
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", self._completions, methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
            Route("/v1/models/{model:path}", self._model, methods=["GET"]),
        ]

    def _closed(self, request: Request) -> Response | None:
        verdict = self._gate.judge(request)
        if verdict is Verdict.OPEN:
            return None
        sentence = phrase(verdict.word, language_of(request, self._desk.kit.language))
        code = "invalid_api_key" if verdict.status == 401 else None
        return json_answer(error_body(sentence, "invalid_request_error", code=code), verdict.status)

    def _names(self) -> list[str]:
        models = self._desk.kit.about().get("models", ())
        return list(dict.fromkeys((OWN_MODEL, *(str(name) for name in models))))

    async def _models(self, request: Request) -> Response:
        return self._closed(request) or json_answer({"object": "list", "data": [_model(one) for one in self._names()]})

    async def _model(self, request: Request) -> Response:
        name = request.path_params["model"]
        if (closed := self._closed(request)) is not None:
            return closed
        return json_answer(_model(name)) if name in self._names() else self._unknown(name)

    def _unknown(self, name: str) -> Response:
        """A model that somebody asked for is never replaced by another without a word."""
        message = f"There is no model {name!r} here; there are: {', '.join(self._names())}."
        return json_answer(error_body(message, "invalid_request_error", param="model", code="model_not_found"), 404)

    async def _completions(self, request: Request) -> Response:
        if (closed := self._closed(request)) is not None:
            return closed
        language = language_of(request, self._desk.kit.language)
        try:
            return await self._read(request, language)
        except Malformed as error:
            body = error_body(error.message, "invalid_request_error", param=error.param)
            return json_answer(body, 400)
        except Refused as refused:
            kind = "server_error" if refused.status >= 500 else "invalid_request_error"
            return json_answer(error_body(refused.sentence(language), kind), refused.status)
        except StoreError as error:
            return json_answer(error_body(phrase(unstored(error), language), "server_error"), 503)

    async def _read(self, request: Request, language: str) -> Response:
        declared = request.headers.get("content-length", "")
        if declared.isdigit() and int(declared) <= LARGE_BYTES:
            return await self._answer(request, asked(await json_body(request, LARGE_BYTES)), language)
        async with self._large:
            return await self._answer(request, asked(await json_body(request, BODY_BYTES, BODY_SECONDS)), language)

    async def _answer(self, request: Request, wanted: Asked, language: str) -> Response:
        if wanted.model not in self._names():
            return self._unknown(wanted.model)
        if len(wanted.text) > TEXT_CHARS:
            raise Refused(413, "text_too_long", limit=TEXT_CHARS)
        id_ = uuid.uuid4().hex
        clock = self._desk.kit.clock
        files = tuple([await self._kept(file) for file in wanted.files])
        exchange = Exchange(self._desk.place(f"{API_PREFIX}{id_}"), replace(wanted, files=()), files)
        completion = Completion(f"chatcmpl-{id_}", int(clock.now()), wanted.model, wanted.include_usage)
        return _Answer(self._desk, self._exchanges, self._seats, request, exchange, completion, language)

    async def _kept(self, file: Brought) -> FileRef:
        """On the disk, out of memory. Raises ``Refused`` for an upload that is not known."""
        if not file.id:
            path = await self._desk.kit.shelf.keep(file.data)
            return FileRef(self._desk.kit.name, path, file.name, file.media_type, len(file.data), file.spoken)
        (sent,) = await self._desk.uploads.use([file.id])
        name = file.name or f"{file.label} {sent.upload.name}"
        return FileRef(self._desk.kit.name, sent.path, name, sent.upload.media_type, sent.upload.size)


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "bowerbird"}


class _Answer(Response):
    """Hands the request in, then streams its answer or sends it whole. A connection that closes stops the turn."""

    def __init__(
        self,
        desk: Desk,
        exchanges: Exchanges,
        seats: Seats,
        request: Request,
        exchange: Exchange,
        completion: Completion,
        language: str,
    ) -> None:
        super().__init__()
        self._desk, self._exchanges, self._seats, self._request = desk, exchanges, seats, request
        self._exchange, self._completion, self._language = exchange, completion, language
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = self._exchange
        try:
            with self._seats.seat(self._request), self._exchanges.open(exchange):
                receipt = await self._hand_in()
                if receipt:
                    await self._fail(send, 403, receipt, "invalid_request_error")
                    return
                await self._run(receive, send)
        except Refused as refused:
            await self._fail(send, refused.status, refused.sentence(self._language), "server_error")
        except StoreError as error:
            await self._fail(send, 503, phrase(unstored(error), self._language), "server_error")

    async def _hand_in(self) -> str:
        """The sentence of a refusal, "" when the turn is on its way."""
        asked_, address = self._exchange.asked, self._exchange.address
        visitor, now = self._desk.visitor(self._language), self._desk.kit.clock.now()
        files = self._exchange.files
        message = UserMessage("1", address, visitor, asked_.text, now, files=files, caller=asked_.caller)
        return (await self._desk.hand_in(message)).refused

    async def _run(self, receive: Receive, send: Send) -> None:
        work = self._stream(send) if self._exchange.asked.stream else self._whole(send)
        finished = await while_connected(receive, work)
        part = self._exchange.part
        if part is None or not part.view.final:
            await self._stop()
        if not finished:
            await self._cut(send)

    async def _cut(self, send: Send) -> None:
        """Whoever closed the connection does not hear it; where it was the server that stops, what came is not the answer."""
        sentence = phrase("stopping", self._language)
        if self._started:
            await self._break(send, sentence, "stopping")
        else:
            await self._fail(send, 503, sentence, "server_error", "stopping")

    async def _stop(self) -> None:
        try:
            await self._desk.stop(self._exchange.address, self._language, "closed")
        except (StoreError, Refused) as error:
            log.warning("the turn of a closed API request could not be stopped: %s", error)

    async def _whole(self, send: Send) -> None:
        while (part := self._exchange.part) is None or not part.view.final:
            if part is not None and self._told(part)[1]:
                await self._whole_of(send, part, "stop")
                return
            self._exchange.changed.clear()
            await self._exchange.changed.wait()
        stop, calls = part.view.stop, part.view.calls
        assert stop is not None
        if is_failure(stop):
            notice = part.view.notices[-1] if part.view.notices else phrase("unfinished", self._language)
            fault = await self._fault(stop)
            await self._fail(send, status_of(stop, fault), notice, "server_error", code_of(stop, fault))
            return
        await self._whole_of(send, part, finish_reason(stop, calls))

    async def _whole_of(self, send: Send, part: Part, finish: str) -> None:
        text, ended = self._told(part)
        calls = () if ended else part.view.calls
        body = self._completion.whole(text, calls, "stop" if ended else finish, await self._usage())
        await json_answer(body)(self._request.scope, self._request.receive, send)

    def _told(self, part: Part) -> tuple[str, bool]:
        """What the client is told of the answer so far, and whether it ends there because the client wants it to."""
        return until(part.markdown, self._exchange.asked.ends, final=part.view.final)

    async def _stream(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _raw(HEADERS)})
        self._started = True
        await _write(send, self._completion.chunk({"role": "assistant", "content": ""}))
        sent = ""
        while True:
            part = self._exchange.part
            self._exchange.changed.clear()
            text, ended = self._told(part) if part is not None else ("", False)
            if text != sent:
                if not text.startswith(sent):
                    await self._break(send, phrase("rewritten", self._language), "rewritten")
                    return
                await _write(send, self._completion.chunk({"content": text[len(sent) :]}))
                sent = text
            if ended:
                await self._close(send, "stop")
                return
            if part is not None and part.view.final:
                await self._end(send, part)
                return
            if not await self._news():
                await _write(send, PING)

    async def _news(self) -> bool:
        try:
            async with asyncio.timeout(PING_SECONDS):
                return await self._exchange.changed.wait()
        except TimeoutError:
            return False

    async def _end(self, send: Send, part: Part) -> None:
        stop, calls = part.view.stop, part.view.calls
        assert stop is not None
        if is_failure(stop):
            notice = part.view.notices[-1] if part.view.notices else phrase("unfinished", self._language)
            await self._break(send, notice, code_of(stop, await self._fault(stop)))
            return
        if calls:
            await _write(send, self._completion.calls_chunk(calls))
        await self._close(send, finish_reason(stop, calls))

    async def _close(self, send: Send, finish: str) -> None:
        await _write(send, self._completion.chunk({}, finish))
        if self._completion.include_usage:
            await _write(send, self._completion.usage_chunk(await self._usage()))
        await send({"type": "http.response.body", "body": DONE})

    async def _break(self, send: Send, message: str, code: str) -> None:
        """An error inside the stream, which is how clients learn that what they have is not the answer."""
        body = sse(error_body(message, "server_error", code=code))
        await send({"type": "http.response.body", "body": body})

    async def _usage(self) -> Usage:
        return spent(await self._rows())

    async def _fault(self, stop: StopReason) -> str:
        """What the vendor had against it, where the vendor did; "" for every other end."""
        return fault_in(await self._rows()) if stop in (StopReason.PROVIDER_UNAVAILABLE, StopReason.NO_MODEL) else ""

    async def _rows(self) -> Sequence[Row]:
        try:
            async with asyncio.timeout(USAGE_SECONDS):
                return await self._desk.kit.archive.rows(self._exchange.address, USAGE_ROWS)
        except (TimeoutError, StoreError):
            return ()

    async def _fail(self, send: Send, status: int, message: str, kind: str, code: str | None = None) -> None:
        answer = json_answer(error_body(message, kind, code=code), status, NO_RETRY)
        await answer(self._request.scope, self._request.receive, send)


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _write(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
