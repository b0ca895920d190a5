"""Scripted trouble: which call it meets, what is answered, and whether the call has its effect all the same."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from tests.sim.discord.refusals import CODES, Json, Refused

Action = Literal["answer", "drop", "reset", "hang", "garbage"]
Scope = Literal["user", "shared", "global"]
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, zero seconds: close sends RST
HTML = (
    "<!DOCTYPE html>\n<html><head><title>discord.com | {status}</title></head>\n"
    "<body><h1>Error {status}</h1><p>cloudflare</p></body></html>\n"
)
WORDS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
LIMITED = {
    "user": "You are being rate limited.",
    "global": "You are being rate limited.",
    "shared": "The resource is being rate limited.",
}


@dataclass(slots=True)
class Fault:
    """Meets the ``nth`` call of ``route`` ("*": any) in ``channel`` (None: any) from now on, once; with ``every`` each
    ``nth``. ``answer`` gives ``status`` with ``body``, or the JSON error ``code``, or a 429 of ``scope`` that lasts
    ``retry_after`` seconds; ``drop`` closes the connection and ``reset`` breaks it, ``hang`` keeps silent until the
    client leaves, ``garbage`` sends HTML without a ``Via`` header. ``effect`` done: the call has its effect first."""

    route: str
    nth: int = 1
    every: bool = False
    status: int = 0
    retry_after: float = 0.0
    scope: Scope = "user"
    code: int = 0
    body: Json | None = None
    effect: Literal["none", "done"] = "none"
    action: Action = "answer"
    channel: int | None = None
    seen: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.nth < 1:
            raise ValueError("nth counts from 1")
        if self.action == "answer" and not self.status:
            if self.retry_after:
                self.status = 429
            elif self.code in CODES:
                self.status = CODES[self.code][0]
            else:
                raise ValueError("an answer needs a status")
        if self.action == "garbage":
            self.status = self.status or 502

    def meets(self, route: str, channel: int | None) -> bool:
        """Count this call; True when it is the one."""
        if self.route not in ("*", route) or (self.channel is not None and self.channel != channel):
            return False
        if self.hits and not self.every:
            return False
        self.seen += 1
        if self.seen % self.nth if self.every else self.seen != self.nth:
            return False
        self.hits += 1
        return True

    def refusal(self) -> Refused:
        if self.status == 429:
            body: Json = {"message": LIMITED[self.scope], "retry_after": self.retry_after}
            body["global"] = self.scope == "global"
            body |= {"code": self.code} if self.code else {}
            return Refused(429, self.body or body, wait=self.retry_after)
        message = CODES[self.code][1] if self.code in CODES else f"{self.status}: {WORDS.get(self.status, 'Error')}"
        return Refused(self.status, self.body or {"message": message, "code": self.code})


class Faults:
    def __init__(self) -> None:
        self.script: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        self.script.append(fault)
        return fault

    def clear(self) -> None:
        self.script.clear()

    def meeting(self, route: str, channel: int | None) -> Fault | None:
        """The fault that this call meets; every fault counts it."""
        met = [fault for fault in self.script if fault.meets(route, channel)]
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
