"""How streams are framed: bytes as they come off the network, complete payloads out. Knows SSE and NDJSON, no vendor."""

from __future__ import annotations

import re
from typing import Final, Protocol

MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""Longer than any documented frame (a whole answer in one line stays under 1 MiB); what is longer is not a stream."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class LineTooLong(ValueError):
    """A line grew past the bound; the stream cannot be read any further."""


class Frames(Protocol):
    """Cuts a byte stream into payloads. Both methods raise ``LineTooLong``."""

    def feed(self, chunk: bytes) -> list[str]:
        """The payloads that this chunk completes."""
        ...

    def end(self) -> list[str]:
        """What the end of the stream completes."""
        ...


class _Lines:
    """Complete lines out of chunks cut anywhere, also inside a character or between CR and LF.

    Lines are decoded whole, so that a character is never torn; bytes that are not UTF-8 become U+FFFD, as the
    specification of SSE asks.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._rest = bytearray()
        self._searched = 0
        self._skip_lf = False
        self._limit = limit_bytes

    def feed(self, chunk: bytes) -> list[str]:
        if self._skip_lf and chunk:
            chunk, self._skip_lf = chunk.removeprefix(b"\n"), False
        if b"\r" not in chunk:
            return self._cut_at_newlines(chunk)
        self._rest += chunk
        lines, start = [], 0
        for end in _LINE_END.finditer(self._rest, self._searched):
            lines.append(self._decoded(self._rest[start : end.start()]))
            start = end.end()
            self._skip_lf = end.group() == b"\r" and start == len(self._rest)
        del self._rest[:start]
        self._searched = len(self._rest)
        if self._searched > self._limit:
            raise LineTooLong(f"a line of more than {self._limit} bytes")
        return lines

    def _cut_at_newlines(self, chunk: bytes) -> list[str]:
        """The way of almost every chunk, at a third of the cost."""
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0], self._rest = bytes(self._rest) + whole[0], bytearray()
        self._rest += rest
        self._searched = len(self._rest)
        if self._searched > self._limit:
            raise LineTooLong(f"a line of more than {self._limit} bytes")
        return [self._decoded(line) for line in whole]

    def rest(self) -> str:
        """The line that was still open when the stream ended."""
        return self._decoded(self._rest)

    def _decoded(self, line: bytes | bytearray) -> str:
        if len(line) > self._limit:
            raise LineTooLong(f"a line of more than {self._limit} bytes")
        return line.decode("utf-8", "replace")


class SseFrames:
    """The ``data`` of each Server-Sent Event (https://html.spec.whatwg.org/multipage/server-sent-events.html).

    Comments, ids, retry times and event names are left out: every vendor repeats the name inside the data. An event
    whose closing blank line is missing at the end of the stream counts; a torn last line does not.
    """

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES) -> None:
        self._lines = _Lines(limit_bytes)
        self._data: list[str] = []
        self._size = 0
        self._limit = limit_bytes
        self._first = True

    def feed(self, chunk: bytes) -> list[str]:
        payloads = []
        for line in self._lines.feed(chunk):
            if self._first:
                line, self._first = line.removeprefix("\ufeff"), False
            if line:
                self._field(line)
            elif self._data:
                payloads.append(self._taken())
        return payloads

    def end(self) -> list[str]:
        return [self._taken()] if self._data else []

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        if name != "data":
            return
        self._data.append(value.removeprefix(" "))
        self._size += len(value)
        if self._size > self._limit:
            raise LineTooLong(f"an event of more than {self._limit} characters")

    def _taken(self) -> str:
        payload = "\n".join(self._data)
        self._data.clear()
        self._size = 0
        return payload


class NdjsonFrames:
    """One JSON text a line; blank lines are skipped. A last line without its newline counts if it is not torn."""

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES) -> None:
        self._lines = _Lines(limit_bytes)

    def feed(self, chunk: bytes) -> list[str]:
        return [line for line in self._lines.feed(chunk) if line.strip()]

    def end(self) -> list[str]:
        rest = self._lines.rest().strip()
        return [rest] if rest.endswith("}") else []


class WholeBody:
    """An answer that was not streamed: its whole body is one payload."""

    def __init__(self, limit_bytes: int = MAX_LINE_BYTES) -> None:
        self._body = bytearray()
        self._limit = limit_bytes

    def feed(self, chunk: bytes) -> list[str]:
        self._body += chunk
        if len(self._body) > self._limit:
            raise LineTooLong(f"a body of more than {self._limit} bytes")
        return []

    def end(self) -> list[str]:
        body = self._body.decode("utf-8", "replace")
        return [body] if body.strip() else []
