"""Opening a kept file in a process of its own, and what came of it within its limits of time and output."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast, get_args

from bot.attachments.kinds import Kind
from bot.core.children import answered
from bot.core.transcript import Trouble

SECONDS: Final = 60.0
"""Twice the processor time that ``bot.attachments.child`` takes, for machines that others keep busy."""
AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class Opened:
    """``body`` is text in UTF-8, or a JPEG; empty where there was ``trouble`` that left nothing to see."""

    trouble: Trouble
    body: bytes = b""


class Opener:
    """A few files at once, whoever sent them."""

    def __init__(self, *, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._slots, self._seconds = asyncio.Semaphore(at_once), seconds

    async def open(self, place: Path, kind: Kind, chars: int) -> Opened:
        """Whatever the file holds, this comes to an end; ``chars`` bounds the text."""
        async with self._slots:
            try:
                said = await answered(
                    "bot.attachments.child", kind.value, str(place), str(chars), seconds=self._seconds
                )
            except TimeoutError:
                return Opened("slow")
        return _read(said) if said is not None else Opened("broken")


def _read(said: bytes) -> Opened:
    head, _, body = said.partition(b"\n")
    try:
        trouble = json.loads(head)["trouble"]
    except (ValueError, KeyError, TypeError):
        return Opened("broken")
    return Opened(cast(Trouble, trouble) if trouble in get_args(Trouble) else "broken", body)
