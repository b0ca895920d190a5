"""What the vectors of the examples teach: computed once, kept in a file from then on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.brain.routing.catalogue import PRIVATE, Slot
from bot.brain.routing.privacy import privacy_of
from bot.core.ports import Embedder, Vector
from bot.memory.likeness import RIDGE, WIDTH, Likeness
from bot.memory.sealed import read_sealed, write_sealed

log = logging.getLogger(__name__)

FOLDER: Final = "cache"
CHUNK: Final = 128
"""Texts at a time: whoever stops waiting loses no more than these."""
_HOW: Final = f"2 {WIDTH} {RIDGE}"
"""It is learnt: what was learnt otherwise is of no use."""
_SUFFIX: Final = ".f32"
_PREFIX: Final = "intents-"


class Examples:
    """Those of the slots by ``embedder``. The file's name says of which; files for others are removed."""

    def __init__(self, embedder: Embedder, slots: Sequence[Slot], data_dir: Path) -> None:
        self._embedder, self._slots = embedder, slots
        self._texts = [text for slot in slots for text in slot.texts]
        self._owners = [number for number, slot in enumerate(slots) for _ in slot.texts]
        said = [_HOW, embedder.name, *(f"{slot.name} {text}" for slot in slots for text in slot.texts)]
        key = hashlib.sha256("\0".join(said).encode("utf-8", "replace")).hexdigest()[:24]
        self._file = data_dir / FOLDER / f"{_PREFIX}{key}{_SUFFIX}"
        self._embedded: list[Vector] = []
        self._known: Likeness | None = None
        self._once = asyncio.Lock()

    @property
    def file(self) -> Path:
        return self._file

    @property
    def known(self) -> Likeness | None:
        """What can be had without waiting."""
        return self._known

    async def get(self) -> Likeness:
        """Raises what the embedder raises; a file that cannot be used is written anew. Whoever is tired of waiting may
        cancel: the next one goes on from there."""
        async with self._once:
            if self._known is None:
                await asyncio.to_thread(self._read)
            if self._known is None:
                await self._embed()
                await asyncio.to_thread(self._learn)
        assert self._known is not None, "it was read or learnt"
        return self._known

    async def _embed(self) -> None:
        while chunk := self._texts[len(self._embedded) :][:CHUNK]:
            self._embedded += await self._embedder.embed(chunk)

    def _learn(self) -> None:
        private = [slot.name in PRIVATE or privacy_of(text) != "public" for slot in self._slots for text in slot.texts]
        self._known = Likeness.learnt(self._embedded, self._owners, len(self._slots), private)
        try:
            self._write(self._known)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._file, error.strerror or type(error).__name__)

    def _read(self) -> None:
        """Nothing where there is no sound file."""
        content = read_sealed(self._file)
        if content is not None:
            self._known = Likeness.read(content, self._owners, len(self._slots))

    def _write(self, known: Likeness) -> None:
        write_sealed(self._file, known.written())
        for other in self._file.parent.glob(f"{_PREFIX}*{_SUFFIX}"):
            if other != self._file:
                other.unlink(missing_ok=True)
