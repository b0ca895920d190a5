"""Bodies that came packed, unpacked a little at a time: a small one can hold more than the machine has room for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

PIECE_BYTES: Final = 256 * 1024
OFFERED: Final = "gzip, deflate"
_GZIP_MARK: Final = b"\x1f\x8b"


class Packed(Exception):
    """It is packed in another way than it says, or in one that is not known."""


class Unpacker:
    """``encoding`` is the header Content-Encoding. ``pieces`` gives what a chunk holds, each at most ``PIECE_BYTES``
    long; ``is_whole`` says at the end whether anything is missing."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise Packed
        self._is_plain = self._encoding in ("", "identity")
        self._undo = zlib.decompressobj(wbits=47)
        self._begun = False
        self._over = False

    @property
    def is_whole(self) -> bool:
        return self._is_plain or self._over or not self._begun

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Raises ``Packed``."""
        if self._is_plain:
            yield chunk
            return
        while chunk and not (self._over and not chunk.startswith(_GZIP_MARK)):
            if self._over:
                self._undo, self._over = zlib.decompressobj(wbits=47), False
            piece = self._undone(chunk)
            self._begun, self._over = True, self._undo.eof
            chunk = self._undo.unused_data if self._undo.eof else self._undo.unconsumed_tail
            yield piece

    def _undone(self, chunk: bytes) -> bytes:
        try:
            return self._undo.decompress(chunk, PIECE_BYTES)
        except zlib.error:
            if self._begun or self._encoding != "deflate":
                raise Packed from None
        self._undo = zlib.decompressobj(wbits=-zlib.MAX_WBITS)  # what some servers take deflate for
        try:
            return self._undo.decompress(chunk, PIECE_BYTES)
        except zlib.error:
            raise Packed from None
