"""Vectors of texts that are compared with again and again: computed once, kept in a file from then on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.core.ports import Embedder, Vector
from bot.memory.sealed import read_sealed, write_sealed

log = logging.getLogger(__name__)

FOLDER: Final = "cache"
AT_ONCE: Final = 8
"""Texts that are embedded in one go: a message that comes meanwhile waits for no more than these."""
_KEY_BYTES: Final = 16
_SIZE_BYTES: Final = 4


class KeptVectors:
    """Of texts by ``embedder``, below ``data_dir`` (None: in memory alone). ``name`` is what the file is called after."""

    def __init__(self, embedder: Embedder, data_dir: Path | None, name: str) -> None:
        self._embedder = embedder
        mark = hashlib.sha256(embedder.name.encode()).hexdigest()[:12]
        self._file = data_dir / FOLDER / f"{name}-{mark}.vectors" if data_dir is not None else None

    async def of(self, texts: Sequence[str]) -> list[Vector]:
        """In the order of ``texts``; the file has these and no others from now on. Raises what the embedder raises; a file
        that cannot be used is written anew."""
        keys = {text: _key(text) for text in texts}
        known = await asyncio.to_thread(self._read)
        found = {key: known[key] for key in keys.values() if key in known}
        missing = [text for text, key in keys.items() if key not in found]
        for start in range(0, len(missing), AT_ONCE):
            batch = missing[start : start + AT_ONCE]
            found |= zip((keys[text] for text in batch), await self._embedder.embed(batch), strict=True)
        if missing or len(known) > len(found):
            try:
                await asyncio.to_thread(self._write, found)
            except OSError as error:
                log.warning("%s cannot be written: %s", self._file, error.strerror or type(error).__name__)
        return [found[keys[text]] for text in texts]

    def _read(self) -> dict[bytes, Vector]:
        """Nothing where there is no sound file."""
        content = read_sealed(self._file) if self._file is not None else None
        if not content:
            return {}
        size, step = int.from_bytes(content[:_SIZE_BYTES], "little"), _KEY_BYTES
        records = range(_SIZE_BYTES, len(content), step + size)
        return {content[at : at + step]: array("f", content[at + step : at + step + size]) for at in records}

    def _write(self, vectors: Mapping[bytes, Vector]) -> None:
        if self._file is None or not vectors:
            return
        size = len(next(iter(vectors.values())).tobytes())
        content = size.to_bytes(_SIZE_BYTES, "little") + b"".join(key + one.tobytes() for key, one in vectors.items())
        write_sealed(self._file, content)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:_KEY_BYTES]
