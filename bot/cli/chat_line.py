"""The connection between a terminal and the house: what is said is kept until the house has stored it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from bot.app.control_client import ControlClient, NoDaemon, TerminalLink, TerminalOff
from bot.core.errors import BowerbirdError, TooLong, TransportError
from bot.core.ports import Clock
from bot.core.text import storable

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.2
LONGEST_PAUSE: Final = 3.0

FRAME_BYTES: Final = 255 * 1024
"""A little below the frame that ``bot.web.server`` takes; a larger one would end the connection, again and again."""

Frame = dict[str, Any]
Heard = Callable[[Frame], None]


class ChatRefused(BowerbirdError):
    """The channel does not take this terminal."""


class ChatLine:
    """``patience``: seconds for which the first connection is tried while nothing listens (a daemon may be starting).
    ``language`` is the person's, such as ``zh``; it counts where their text says nothing of it."""

    def __init__(
        self, client: ControlClient, chat: str, clock: Clock, *, patience: float = 0.0, language: str = ""
    ) -> None:
        self._client, self._chat, self._clock = client, chat, clock
        self._patience, self._language = patience, language
        self._unacknowledged: dict[str, Frame] = {}
        self._look = False
        self._wake = asyncio.Event()
        self._emptied = asyncio.Event()
        self.connected = False

    @property
    def waiting(self) -> bool:
        """True while something said is not stored yet, as far as this side knows."""
        return bool(self._unacknowledged)

    def say(self, text: str) -> str:
        """Send a message (now or once there is a connection) and return its id. Raises ``TooLong``."""
        frame = {"type": "message", "text": storable(text)} | ({"language": self._language} if self._language else {})
        if len(json.dumps(frame, ensure_ascii=False).encode()) > FRAME_BYTES:
            raise TooLong("This message is too long to be sent. Please send it in pieces.")
        return self._send(frame)

    def press(self, payload: str) -> str:
        return self._send({"type": "press", "payload": payload})

    def stop(self) -> str:
        return self._send({"type": "stop"})

    def look(self) -> None:
        """Ask for the history once more."""
        self._look = True
        self._wake.set()

    async def emptied(self) -> None:
        """Until everything said is stored. The caller bounds the wait."""
        while self._unacknowledged:
            self._emptied.clear()
            await self._emptied.wait()

    async def run(self, heard: Heard) -> None:
        """Stay connected until cancelled; ``heard`` gets every frame.

        Raises ``NoDaemon`` or another ``TransportError`` when the first connection fails, ``ChatRefused`` and
        ``TerminalOff`` at any time.
        """
        first, until, pause = True, self._clock.monotonic() + self._patience, FIRST_PAUSE
        while True:
            try:
                async with self._client.terminal(self._chat) as link:
                    greeted = await self._talk(link, heard)
                if link.refusal:
                    raise ChatRefused(f"This chat cannot be opened: {link.refusal}.")
                first, pause = first and not greeted, FIRST_PAUSE if greeted else pause
            except TerminalOff:
                raise
            except TransportError as error:
                if first and not (isinstance(error, NoDaemon) and self._clock.monotonic() < until):
                    raise
                log.info("not connected: %s", error)
            await self._clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _talk(self, link: TerminalLink, heard: Heard) -> bool:
        """One connection, to its end. True when the channel greeted, so that it was a working one."""
        async with asyncio.TaskGroup() as group:
            writer = group.create_task(self._write(link))
            try:
                async for frame in link.frames():
                    self.connected = True
                    self._acknowledged(frame)
                    heard(frame)
            finally:
                greeted, self.connected = self.connected, False
                writer.cancel()
        return greeted

    async def _write(self, link: TerminalLink) -> None:
        sent: set[str] = set()
        try:
            while True:
                self._wake.clear()
                for id, frame in list(self._unacknowledged.items()):
                    if id not in sent:
                        await link.send(frame)
                        sent.add(id)
                if self._look:
                    self._look = False
                    await link.send({"type": "look"})
                await self._wake.wait()
        except TransportError:
            return

    def _send(self, frame: Frame) -> str:
        id = uuid4().hex
        self._unacknowledged[id] = frame | {"id": id}
        self._wake.set()
        return id

    def _acknowledged(self, frame: Frame) -> None:
        if frame["type"] in ("receipt", "error"):
            self._unacknowledged.pop(frame["id"], None)
            if not self._unacknowledged:
                self._emptied.set()
