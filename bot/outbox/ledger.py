"""What the publisher needs remembered: which part of which turn stands where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from bot.core.view import Ref
from bot.store.parts import PartRecord

BELOW_PARTS: Final = -2
"""Indexes from here downwards are no parts of the answer but its files."""


class Ledger(Protocol):
    """Implemented by ``bot.store.parts.PartRows``. Every call is durable once it returns and may be repeated."""

    async def intend(self, turn: str, index: int, start: int, text_hash: str) -> None:
        """Before a part is sent. An intent without a ``ref`` is a part that may be on screen, or not."""
        ...

    async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
        """The platform accepted the part. ``text_hash`` is "" for a part that is still going to change: what it shows
        is then unknown after a restart."""
        ...

    async def seal(self, turn: str, index: int, end: int) -> None:
        """The part holds the text up to ``end`` and changes no more."""
        ...

    async def drop(self, turn: str, index: int) -> None:
        """The part is no longer on screen."""
        ...

    async def load(self, turn: str) -> Sequence[PartRecord]:
        """Every part of the turn by index."""
        ...
