"""The file of a form (multipart/form-data, RFC 7578), read piece by piece: what curl -F and OpenAI's clients send."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final
from urllib.parse import unquote

from channels.web.refusal import Refused

HEAD_BYTES: Final = 8 * 1024
FIELD_BYTES: Final = 64 * 1024
"""Of all that stands before the file, and of all that stands behind it."""
_BOUNDARY: Final = re.compile(r"""boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70})(?=[\s;]|$))""", re.IGNORECASE)
_NAME: Final = re.compile(r"""filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))""", re.IGNORECASE)
_NAME_AS_UTF8: Final = re.compile(r"""filename\*=UTF-8''([^\s;]+)""", re.IGNORECASE)
_TYPE: Final = re.compile(r"^content-type:[ \t]*([^\r\n]+)", re.IGNORECASE | re.MULTILINE)


class FormFile:
    """The first file of a form; ``head`` must be read before ``body``. Raises ``Refused`` for what is no form."""

    def __init__(self, pieces: AsyncIterator[bytes], content_type: str) -> None:
        found = _BOUNDARY.search(content_type)
        if found is None:
            raise Refused(400, "no_form_file")
        self._mark = b"\r\n--" + (found[1] or found[2]).encode("utf-8", "replace")
        self._pieces = pieces
        self._buffer = bytearray(b"\r\n")  # so that the first mark looks like the others

    async def head(self) -> tuple[str, str]:
        """The file's name and media type, as the form has them. Skips the fields before it."""
        before = 0
        while before <= FIELD_BYTES:
            before += len(await self._until(self._mark, FIELD_BYTES))
            if (await self._until(b"\r\n", HEAD_BYTES)).strip(b" \t"):
                break  # "--": the form ends here
            head = (await self._until(b"\r\n\r\n", HEAD_BYTES)).decode("utf-8", "replace")
            before += len(head)
            name = _name_in(head)
            if name is not None:
                kind = _TYPE.search(head)
                return name, kind[1].strip() if kind else ""
        raise Refused(400, "no_form_file")

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The content of the file; what comes behind it is read and dropped."""
        while (at := self._buffer.find(self._mark)) < 0:
            whole = len(self._buffer) - len(self._mark) + 1
            if whole > 0:
                yield bytes(self._buffer[:whole])
                del self._buffer[:whole]
            await self._more()
        if at:
            yield bytes(self._buffer[:at])
        behind = 0
        async for piece in self._pieces:
            behind += len(piece)
            if behind > FIELD_BYTES:
                raise Refused(400, "no_form_file")

    async def _until(self, mark: bytes, most: int) -> bytes:
        while (at := self._buffer.find(mark)) < 0:
            if len(self._buffer) > most:
                raise Refused(400, "no_form_file")
            await self._more()
        found = bytes(self._buffer[:at])
        del self._buffer[: at + len(mark)]
        return found

    async def _more(self) -> None:
        piece = await anext(self._pieces, None)
        if piece is None:
            raise Refused(400, "file_broken")
        self._buffer += piece


def _name_in(head: str) -> str | None:
    """None for a field that is no file."""
    if (encoded := _NAME_AS_UTF8.search(head)) is not None:
        return unquote(encoded[1], errors="replace")
    plain = _NAME.search(head)
    if plain is None:
        return None
    return _unquoted(re.sub(r"\\(.)", r"\1", plain[1]) if plain[1] is not None else plain[2])


def _unquoted(name: str) -> str:
    """Browsers escape the quotation mark alone, some libraries whatever is not ASCII; a per cent sign may be one."""
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        decoded = name
    return name.replace("%22", '"') if decoded.isascii() else decoded
