"""Scripted trouble: which call it meets, what is answered, and whether the call has its effect all the same."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Literal

from aiohttp import web

from tests.sim.slack.nouns import Refused

Action = Literal["answer", "drop", "reset", "hang", "garbage"]
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, zero seconds: close sends RST
HTML = "<!DOCTYPE html><html><head><title>Server Error | Slack</title></head><body><h1>{status}</h1></body></html>\n"
USUAL_ERRORS = {429: "ratelimited", 500: "internal_error", 503: "service_unavailable"}


@dataclass(slots=True)
class Fault:
    """Meets the ``nth`` call of ``method`` ("*": any) in ``channel`` (None: any) from now on, once; with ``every`` each
    ``nth``. ``answer`` gives ``status`` and ``error`` (a 5xx without ``error`` is HTML, as from Slack's front end);
    ``drop`` closes the connection and ``reset`` breaks it, ``hang`` keeps silent until the client leaves, ``garbage``
    sends HTML. ``effect`` done: the call has its effect first. Besides the methods of the Web API there are ``upload``,
    ``download``, ``response_url`` and ``link`` (the WebSocket)."""

    method: str
    nth: int = 1
    every: bool = False
    status: int = 0
    error: str = ""
    retry_after: int = 0
    effect: Literal["none", "done"] = "none"
    action: Action = "answer"
    channel: str | None = None
    seen: int = 0
    hits: int = 0

    def __post_init__(self) -> None:
        if self.nth < 1:
            raise ValueError("nth counts from 1")
        if self.action == "answer":
            if not (self.status or self.error or self.retry_after):
                raise ValueError("an answer needs a status, an error or a retry_after")
            self.status = self.status or (429 if self.retry_after or self.error == "ratelimited" else 200)
            if self.status == 429:
                self.retry_after = self.retry_after or 1
            if self.status == 200 and not self.error:
                raise ValueError("a 200 needs an error, else it is no fault")
        if self.action == "garbage":
            self.status = self.status or 200

    @property
    def is_html(self) -> bool:
        return self.action == "garbage" or (self.status >= 500 and not self.error)

    def meets(self, method: str, channel: str | None) -> bool:
        """Count this call; True when it is the one."""
        if self.method not in ("*", method) or (self.channel is not None and self.channel != channel):
            return False
        if self.hits and not self.every:
            return False
        self.seen += 1
        if self.seen % self.nth if self.every else self.seen != self.nth:
            return False
        self.hits += 1
        return True

    def refusal(self) -> Refused:
        error = self.error or USUAL_ERRORS.get(self.status, "internal_error")
        return Refused(error, status=self.status, retry_after=self.retry_after)


class Faults:
    def __init__(self) -> None:
        self.script: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        self.script.append(fault)
        return fault

    def clear(self) -> None:
        self.script.clear()

    def meeting(self, method: str, channel: str | None) -> Fault | None:
        """The fault that this call meets; every fault counts it."""
        met = [fault for fault in self.script if fault.meets(method, channel)]
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
