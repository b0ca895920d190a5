"""Scripted trouble: which call it meets, what is answered, and whether the call has its effect all the same."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from tests.sim.telegram.nouns import Refused

Action = Literal["answer", "drop", "reset", "hang", "garbage"]
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, zero seconds: close sends RST
HTML = (
    "<html>\r\n<head><title>{status}</title></head>\r\n<body><center><h1>{status}</h1></center></body>\r\n</html>\r\n"
)
DESCRIPTIONS = {
    400: "Bad Request: unspecified",
    401: "Unauthorized",
    403: "Forbidden: bot was blocked by the user",
    404: "Not Found",
    409: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


@dataclass(slots=True)
class Fault:
    """Meets the ``nth`` call of ``method`` ("*": any) in ``chat`` (None: any) from now on, once; with ``every`` each
    ``nth``. ``answer`` gives the error ``status``; ``drop`` closes the connection and ``reset`` breaks it, ``hang`` keeps
    silent until the client leaves, ``garbage`` sends HTML. ``effect`` done: the call has its effect first."""

    method: str
    nth: int = 1
    status: int = 0
    retry_after: int = 0
    description: str = ""
    effect: Literal["none", "done"] = "none"
    action: Action = "answer"
    chat: int | None = None
    every: bool = False
    migrate_to: int = 0
    seen: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.nth < 1:
            raise ValueError("nth counts from 1")
        if self.action == "answer" and not self.status:
            if not self.retry_after and not self.migrate_to:
                raise ValueError("an answer needs a status")
            self.status = 429 if self.retry_after else 400
        if self.action == "garbage":
            self.status = self.status or 502

    def meets(self, method: str, chat: int | None) -> bool:
        """Count this call; True when it is the one."""
        if self.method not in ("*", method) or (self.chat is not None and self.chat != chat):
            return False
        if self.hits and not self.every:
            return False
        self.seen += 1
        if self.seen % self.nth if self.every else self.seen != self.nth:
            return False
        self.hits += 1
        return True

    def refusal(self) -> Refused:
        if self.retry_after:
            return Refused(
                self.status, f"Too Many Requests: retry after {self.retry_after}", retry_after=self.retry_after
            )
        if self.migrate_to:
            text = "Bad Request: group chat was upgraded to a supergroup chat"
            return Refused(self.status, self.description or text, migrate_to_chat_id=self.migrate_to)
        usual = DESCRIPTIONS.get(self.status, DESCRIPTIONS[400 if self.status < 500 else 500])
        return Refused(self.status, self.description or usual)


class Faults:
    def __init__(self) -> None:
        self.script: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        self.script.append(fault)
        return fault

    def clear(self) -> None:
        self.script.clear()

    def meeting(self, method: str, chat: int | None) -> Fault | None:
        """The fault that this call meets; every fault counts it."""
        met = [fault for fault in self.script if fault.meets(method, chat)]
        if met and not all(fault.every for fault in met):
            self.script = [fault for fault in self.script if fault.every or not fault.hits]
        return met[0] if met else None


def cut(request: web.Request, *, reset: bool) -> web.Response:
    """Close the connection without an answer."""
    transport = request.transport
    if transport is not None and reset:
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        transport.abort()
    elif transport is not None:
        transport.close()
    return web.Response()


def html(status: int) -> web.Response:
    return web.Response(status=status, text=HTML.format(status=status), content_type="text/html")
