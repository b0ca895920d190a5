"""A weights file while it grows: every piece is checked when it is complete, and what was checked once is kept."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from bot.core.errors import ModelMissing
from bot.providers.local.catalogue import Piece, Weights
from bot.providers.local.wheels import CHUNK_BYTES

log = logging.getLogger(__name__)


class Partial:
    """``<file>.partial``. Opening it reads what an earlier run left; all methods block and belong into a thread.

    ``size_bytes`` grows with ``write`` and shrinks to the last good piece when one is refused.
    """

    def __init__(self, path: Path, weights: Weights) -> None:
        self._weights = weights
        self._file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115 (closed by close)
        self._hash = hashlib.sha256()
        self._index = 0
        self._start = 0
        self.size_bytes = 0
        self._reread()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def complete(self) -> bool:
        return self._index == len(self._weights.pieces)

    @property
    def piece(self) -> Piece:
        """The piece that is growing; only while not ``complete``."""
        return self._weights.pieces[self._index]

    @property
    def tail_bytes(self) -> int:
        """How much of ``piece`` is there already, not checked yet."""
        return self.size_bytes - self._start

    def write(self, chunk: bytes) -> None:
        """Append. Raises ``ModelMissing`` when a piece that this completes is not the publisher's, or at excess bytes."""
        view = memoryview(chunk)
        while view:
            if self.complete:
                raise ModelMissing(
                    f"{self._weights.file} was refused: its source sent more than {self.size_bytes} bytes."
                )
            part = view[: self.piece.size_bytes - self.tail_bytes]
            self._file.write(part)
            self._hash.update(part)
            self.size_bytes += len(part)
            view = view[len(part) :]
            self._check()

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def _check(self) -> None:
        piece = self.piece
        if self.tail_bytes < piece.size_bytes:
            return
        actual = self._hash.hexdigest()
        if actual != piece.sha256:
            self._cut()
            number = f"part {self._index + 1} of {len(self._weights.pieces)}"
            log.error(
                "%s, %s, was refused: its SHA-256 is %s, not %s", self._weights.file, number, actual, piece.sha256
            )
            raise ModelMissing(
                f"{self._weights.file} was refused and deleted: the SHA-256 of {number} is {actual}, not {piece.sha256}."
            )
        self._file.flush()
        self._index += 1
        self._start = self.size_bytes
        self._hash = hashlib.sha256()

    def _cut(self) -> None:
        self._file.seek(self._start)
        self._file.truncate()
        self._file.flush()
        self.size_bytes = self._start
        self._hash = hashlib.sha256()

    def _reread(self) -> None:
        """Take over the bytes of an earlier run: good pieces count, the first bad one and all behind it go."""
        while not self.complete:
            wanted = self.piece.size_bytes - self.tail_bytes
            chunk = self._file.read(min(CHUNK_BYTES, wanted))
            if not chunk:
                break
            self._hash.update(chunk)
            self.size_bytes += len(chunk)
            try:
                self._check()
            except ModelMissing:
                break
        self._file.seek(self.size_bytes)
        self._file.truncate()
