"""The WebSocket: the same frames as the event stream, and messages, presses and stops the other way."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.tasks import first_failure
from channels.web.bodies import CHAR_BYTES, json_answer, json_object, language_of
from channels.web.desk import TEXT_CHARS, Desk
from channels.web.events import Frame
from channels.web.gate import Gate, Verdict
from channels.web.refusal import Refused
from channels.web.screen import encoded
from channels.web.stream import Batch, Following, Seats, cursor_of
from channels.web.words import phrase, unstored

FRAME_CHARS: Final = 8192 + CHAR_BYTES * TEXT_CHARS


class Socket:
    """The endpoint of ``/v1/ws?chat=…``; ``after=…`` goes on behind an event, ``page=1`` adds the page's own news."""

    def __init__(self, desk: Desk, gate: Gate, seats: Seats) -> None:
        self._desk, self._gate, self._seats = desk, gate, seats

    async def endpoint(self, websocket: WebSocket) -> None:
        language = language_of(websocket, self._desk.kit.language)
        verdict = self._gate.judge(websocket)
        if verdict is not Verdict.OPEN:
            await _deny(websocket, verdict.status, phrase(verdict.word, language))
            return
        try:
            address = self._desk.address(websocket.query_params.get("chat"))
            cursor = cursor_of(websocket)
            with self._seats.seat(websocket):
                await websocket.accept()
                page = websocket.query_params.get("page") == "1"
                following = Following(self._desk.kit, self._desk.hub, address, cursor, page=page)
                await self._converse(websocket, following, address, language)
        except Refused as refused:
            await _deny(websocket, refused.status, refused.sentence(language))

    async def _converse(self, websocket: WebSocket, following: Following, address: Address, language: str) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    group.create_task(following.run(_Writer(websocket))),
                    group.create_task(self._listen(websocket, address, language)),
                }
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
        except BaseExceptionGroup as failures:
            failure = first_failure(failures)
            if not isinstance(failure, WebSocketDisconnect):
                raise failure from None

    async def _listen(self, websocket: WebSocket, address: Address, language: str) -> None:
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            reply = await self._reply(message.get("text") or "", address, language)
            await websocket.send_text(encoded(reply).decode())

    async def _reply(self, text: str, address: Address, language: str) -> dict[str, Any]:
        body: dict[str, Any] = {}
        try:
            if len(text) > FRAME_CHARS:
                raise Refused(413, "too_large", limit=FRAME_CHARS)
            body = json_object(text)
            return await self._act(body, address, language)
        except Refused as refused:
            sentence = refused.sentence(language)
        except StoreError as error:
            sentence = phrase(unstored(error), language)
        return {"type": "error", "id": body.get("id"), "error": sentence}

    async def _act(self, body: dict[str, Any], address: Address, language: str) -> dict[str, Any]:
        id_ = body.get("id")
        match body.get("type"):
            case "message":
                receipt = await self._desk.say(address.chat, body.get("text"), id_, body.get("files"), language)
                if receipt.refused:
                    return {"type": "error", "id": id_, "error": receipt.refused}
                return {"type": "receipt", "id": id_, "turn": receipt.turn}
            case "press":
                receipt, notice = await self._desk.press(id_, body.get("decision"), address.chat, language)
                return {"type": "answer", "id": id_, "notice": notice or receipt.refused}
            case "stop":
                await self._desk.stop(address, language)
                return {"type": "receipt", "id": id_, "turn": ""}
        raise Refused(400, "bad_frame")


class _Writer:
    def __init__(self, websocket: WebSocket) -> None:
        self._websocket, self._opened = websocket, False

    async def __call__(self, batch: Batch) -> None:
        texts = [text for frame in (*batch.frames, *batch.asides) for text in _texts(frame)]
        if not self._opened:
            self._opened = True
            texts.append(f'{{"type":"hello","seq":{batch.tip}}}')
        if batch.beat:
            texts.append('{"type":"beat"}')
        for text in texts:
            await self._websocket.send_text(text)


def _texts(frame: Frame) -> list[str]:
    data = frame.body.decode()
    texts = [f'{{"type":"event","event":"agent:stream","data":{data}}}']
    if frame.type == "done":
        texts.append(f'{{"type":"event","event":"agent:complete","data":{data}}}')
    return texts


async def _deny(websocket: WebSocket, status: int, sentence: str) -> None:
    await websocket.send_denial_response(json_answer({"error": sentence}, status))
