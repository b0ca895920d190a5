"""The terminal channel: chats of the person at the machine, shown to every terminal that is attached to them."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from starlette.websockets import WebSocket

from bot.core.address import Address
from bot.core.errors import BowerbirdError, ChannelError
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, StopPressed, UserMessage
from bot.core.ports import CallKind, ChannelKit, Receive, owner_of
from bot.core.view import Limits, Part, Ref, Rendered
from channels.terminal.attachment import Attachment
from channels.terminal.config import Config
from channels.terminal.frames import Frame, entries_of, history_frame, part_frame

log = logging.getLogger(__name__)

LIMITS = Limits(size=1_000_000, unit="chars", pace=0.08, idempotent=True, structured=True)
"""A terminal bears anything; the pace is about what an eye and a slow terminal can follow."""

MAIN_CHAT = "main"
CHAT_CHARS = 64
ID_CHARS = 128
HISTORY_ROWS = 200

BAD_CHAT = 4400
NOT_READY = 1013


def build(config: Config, kit: ChannelKit) -> TerminalChannel:
    return TerminalChannel(kit)


class BadFrame(ValueError):
    """What a terminal sent is not one of the frames it may send."""


class TerminalChannel:
    """Implements ``bot.core.ports.Channel``. The daemon serves ``attach`` on its control socket, nowhere else."""

    def __init__(self, kit: ChannelKit) -> None:
        self.name = kit.name
        self._kit = kit
        self._receive: Receive | None = None
        self._attached: dict[str, Attachment] = {}
        self._growing: dict[str, dict[tuple[str, int], Frame]] = {}
        self._numbers = itertools.count(1)

    @property
    def limits(self) -> Limits:
        return LIMITS

    @property
    def connected(self) -> bool:
        return self._receive is not None

    def render(self, markdown: str) -> Rendered:
        return Rendered(text=markdown, length=len(markdown))

    async def run(self, receive: Receive) -> None:
        self._receive = receive
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._receive = None
            for attachment in self._attached.values():
                attachment.close()

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        """Succeeds with or without a terminal: whoever attaches later reads the transcript and the growing parts."""
        async with self._kit.governor.call(to, CallKind.FINAL if part.final else CallKind.PREVIEW):
            frame = part_frame(part)
            self._remember(to.chat, part, frame)
            self._tell(to.chat, frame, (part.turn, part.index))
        return Ref(part.nonce)

    async def remove(self, to: Address, ref: Ref) -> None:
        turn, _, index = ref.message_id.rpartition(".")
        if not turn or not index.isdigit():
            return
        self._growing.get(to.chat, {}).pop((turn, int(index)), None)
        self._tell(to.chat, {"type": "removed", "turn": turn, "index": int(index)}, (turn, int(index)))

    async def answer(self, press: ButtonPress, notice: str) -> None:
        attachment = self._attached.get(press.token)
        if attachment is not None:
            attachment.put({"type": "answer", "press": press.id, "text": notice})

    async def fetch(self, file: FileRef) -> bytes:
        raise ChannelError("Nobody can send files through the terminal.")

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        return ()

    async def attach(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI handler of one terminal (WebSocket, ``?chat=NAME``). See ``frames`` for what is said over it."""
        websocket = WebSocket(scope, receive, send)
        chat = websocket.query_params.get("chat", MAIN_CHAT).strip()
        await websocket.accept()
        if not chat or len(chat) > CHAT_CHARS or not chat.isprintable():
            await websocket.close(BAD_CHAT, "a chat's name is 1 to 64 printable characters")
            return
        if self._receive is None:
            await websocket.close(NOT_READY, "the terminal channel is starting or stopping")
            return
        with self._entered(chat, websocket) as attachment:
            first = [self._hello(chat), await self._past(attachment)]
            async with asyncio.TaskGroup() as group:
                pump = group.create_task(attachment.pump(first))
                try:
                    await self._listen(websocket, attachment)
                finally:
                    pump.cancel()

    @contextmanager
    def _entered(self, chat: str, websocket: WebSocket) -> Iterator[Attachment]:
        attachment = Attachment(f"t{next(self._numbers)}", chat, websocket)
        self._attached[attachment.id] = attachment
        for key, frame in self._growing.get(chat, {}).items():
            attachment.put(frame, key)
        try:
            yield attachment
        finally:
            del self._attached[attachment.id]

    def _hello(self, chat: str) -> Frame:
        address = str(self._address(chat))
        return {"type": "hello", "chat": chat, "address": address, "language": self._kit.language}

    async def _past(self, attachment: Attachment) -> Frame:
        """Read while parts already gather in the attachment, so that nothing falls between history and present."""
        try:
            rows = await self._kit.archive.rows(self._address(attachment.chat), HISTORY_ROWS)
        except BowerbirdError as error:
            log.warning("a terminal was attached without its history: %s", error)
            rows = ()
        growing = {turn for turn, _ in self._growing.get(attachment.chat, {})}
        answering = growing | {frame["turn"] for frame in attachment.pending() if frame["type"] == "part"}
        return history_frame(entries_of(rows, answering, self._kit.shelf))

    async def _listen(self, websocket: WebSocket, attachment: Attachment) -> None:
        while (message := await websocket.receive())["type"] != "websocket.disconnect":
            try:
                await self._heard(attachment, json.loads(message.get("text") or ""))
            except BadFrame as error:
                attachment.put({"type": "error", "id": "", "text": str(error)})
            except json.JSONDecodeError:
                attachment.put({"type": "error", "id": "", "text": "a frame is JSON text"})

    async def _heard(self, attachment: Attachment, frame: object) -> None:
        """What arrives while the channel stops is not acknowledged: the terminal sends it again to the next daemon."""
        if not isinstance(frame, dict):
            raise BadFrame("a frame is a JSON object")
        if frame.get("type") == "look":
            attachment.put(await self._past(attachment))
            return
        inbound = self._inbound(attachment, frame)
        if self._receive is None:
            return
        try:
            receipt = await self._receive(inbound)
        except BowerbirdError as error:
            attachment.put({"type": "error", "id": inbound.id, "text": str(error)})
            return
        self._acknowledge(attachment, inbound, receipt)

    def _inbound(self, attachment: Attachment, frame: dict[str, Any]) -> Inbound:
        id, address, sender = _short(frame, "id"), self._address(attachment.chat), owner_of(self.name)
        now = self._kit.clock.now()
        match frame.get("type"):
            case "message":
                if "language" in frame:
                    sender = replace(sender, language=_short(frame, "language"))
                return UserMessage(id, address, sender, _string(frame, "text"), now)
            case "press":
                return ButtonPress(id, address, sender, _short(frame, "payload"), now, token=attachment.id)
            case "stop":
                return StopPressed(id, address, sender, now)
            case _:
                raise BadFrame("a terminal sends message, press, stop or look")

    def _acknowledge(self, attachment: Attachment, inbound: Inbound, receipt: Receipt) -> None:
        attachment.put(
            {
                "type": "receipt",
                "id": inbound.id,
                "turn": receipt.turn,
                "duplicate": receipt.duplicate,
                "refused": receipt.refused,
            }
        )
        if isinstance(inbound, UserMessage) and not receipt.duplicate and not receipt.refused:
            said = {"type": "said", "id": inbound.id, "turn": receipt.turn, "text": inbound.text}
            for other in self._attached.values():
                if other is not attachment and other.chat == attachment.chat:
                    other.put(said)

    def _remember(self, chat: str, part: Part, frame: Frame) -> None:
        growing = self._growing.setdefault(chat, {})
        growing[part.turn, part.index] = frame
        if part.final and part.last:
            for key in [key for key in growing if key[0] == part.turn]:
                del growing[key]
            if not growing:
                del self._growing[chat]

    def _tell(self, chat: str, frame: Frame, key: tuple[str, int]) -> None:
        for attachment in self._attached.values():
            if attachment.chat == chat:
                attachment.put(frame, key)

    def _address(self, chat: str) -> Address:
        return Address(self.name, self._kit.account, chat)


def _string(frame: dict[str, Any], key: str) -> str:
    value = frame.get(key)
    if not isinstance(value, str) or not value:
        raise BadFrame(f"{key} is text that is not empty")
    return value.encode("utf-8", "replace").decode()


def _short(frame: dict[str, Any], key: str) -> str:
    value = _string(frame, key)
    if len(value) > ID_CHARS:
        raise BadFrame(f"{key} has at most {ID_CHARS} characters")
    return value
