"""Pictures for the pages: made anew from what was sent, so that nothing but pixels reaches a browser as a picture."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path
from typing import Final

from bot.attachments.kinds import Kind
from bot.attachments.opening import Opener
from channels.web.shown_file import ShownFile

CACHE_BYTES: Final = 16 * 1024 * 1024
"""What is kept in memory of pictures that are on no disk as JPEGs: those of answers, and those of the newest messages."""


class Pictures:
    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._made: OrderedDict[str, bytes] = OrderedDict()

    async def of(self, file: ShownFile) -> bytes | None:
        """A JPEG; None for what is no picture, is damaged or is gone."""
        if file.picture:
            return await asyncio.to_thread(_read, Path(file.picture))
        if not file.is_picture:
            return None
        made = self._made.get(file.place)
        if made is None:
            made = (await self._opener.open(Path(file.place), Kind.PICTURE, 0)).body
            self._made[file.place] = made
            while sum(map(len, self._made.values())) > CACHE_BYTES:
                self._made.popitem(last=False)
        return made or None


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except OSError:
        return None
