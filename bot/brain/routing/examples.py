"""The vectors of the catalogue: computed once, kept in a file from then on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.core.ports import Embedder, Vector

log = logging.getLogger(__name__)

FOLDER: Final = "cache"
_SUFFIX: Final = ".f32"
_PREFIX: Final = "intents-"
_FLOAT_BYTES: Final = 4


class ExampleVectors:
    """Those of ``texts`` by ``embedder``. The file's name says of which; files for other ones are removed."""

    def __init__(self, embedder: Embedder, texts: Sequence[str], data_dir: Path) -> None:
        self._embedder, self._texts = embedder, tuple(texts)
        key = hashlib.sha256("\0".join((embedder.name, *texts)).encode("utf-8", "replace")).hexdigest()[:24]
        self._file = data_dir / FOLDER / f"{_PREFIX}{key}{_SUFFIX}"
        self._known: Sequence[Vector] | None = None
        self._once = asyncio.Lock()

    @property
    def file(self) -> Path:
        return self._file

    async def get(self) -> Sequence[Vector]:
        """In the order of the texts. Raises what the embedder raises; a file that cannot be used is written anew."""
        async with self._once:
            if self._known is None:
                self._known = await asyncio.to_thread(self._read) or await self._computed()
        return self._known

    async def _computed(self) -> Sequence[Vector]:
        vectors = await self._embedder.embed(self._texts)
        try:
            await asyncio.to_thread(self._write, vectors)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._file, error.strerror or type(error).__name__)
        return vectors

    def _read(self) -> Sequence[Vector]:
        """Nothing where there is no sound file. A digest at its end tells whether it is whole."""
        try:
            content = self._file.read_bytes()
        except OSError:
            return ()
        content, told = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != told or len(content) % (len(self._texts) * _FLOAT_BYTES):
            return ()
        size = len(content) // len(self._texts)
        return [array("f", content[at : at + size]) for at in range(0, len(content), size)]

    def _write(self, vectors: Sequence[Vector]) -> None:
        folder = self._file.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = b"".join(vector.tobytes() for vector in vectors)
        new = self._file.with_suffix(".new")
        new.write_bytes(content + hashlib.sha256(content).digest())
        os.replace(new, self._file)
        for other in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            if other != self._file:
                other.unlink(missing_ok=True)


_DIGEST_BYTES: Final = hashlib.sha256().digest_size
