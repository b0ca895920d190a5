"""One terminal's connection: newest frames first in line, never a queue that grows."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Hashable, Iterable

from starlette.websockets import WebSocket, WebSocketDisconnect

from channels.terminal.frames import Frame

log = logging.getLogger(__name__)

GOING_AWAY = 1001


class Attachment:
    """Frames wait here until the terminal takes them; a newer state of the same part replaces an older one, so that a
    slow or stopped terminal costs no more memory than the answers on its screen."""

    def __init__(self, id: str, chat: str, websocket: WebSocket) -> None:
        self.id = id
        self.chat = chat
        self._websocket = websocket
        self._waiting: dict[Hashable, Frame] = {}
        self._order = itertools.count()
        self._wake = asyncio.Event()
        self._closing = False

    def put(self, frame: Frame, key: Hashable = None) -> None:
        """Never waits. ``key`` names what the frame is the state of; None for one that must not be replaced."""
        self._waiting[next(self._order) if key is None else key] = frame
        self._wake.set()

    def close(self) -> None:
        """Send what waits, then close: the daemon is going away."""
        self._closing = True
        self._wake.set()

    def pending(self) -> Iterable[Frame]:
        return self._waiting.values()

    async def pump(self, first: Iterable[Frame]) -> None:
        """Send ``first``, then every frame that is put, until closed or until the terminal is gone."""
        try:
            for frame in first:
                await self._send(frame)
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._waiting:
                    await self._send(self._waiting.pop(next(iter(self._waiting))))
                if self._closing:
                    await self._websocket.close(GOING_AWAY)
                    return
        except (WebSocketDisconnect, RuntimeError) as error:
            log.debug("a terminal is gone: %s", error)

    async def _send(self, frame: Frame) -> None:
        """Raises ``WebSocketDisconnect`` or, when the server closed the connection itself, ``RuntimeError``."""
        await self._websocket.send_text(json.dumps(frame))
