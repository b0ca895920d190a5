"""The ledger of platform messages: which part of which turn is shown where, and what the platform last accepted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.view import Ref
from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class PartRecord:
    """One part as far as is known. ``end`` is set once it is sealed; without ``ref`` a send was intended and its
    outcome is unknown. Offsets are characters of the view's text; hashes are of what was rendered."""

    index: int
    start: int
    end: int | None
    ref: Ref | None
    accepted_hash: str


class PartRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def intend(self, turn: str, index: int, start: int, text_hash: str) -> None:
        """Write before a part is sent for the first time."""
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO parts (turn, idx, start, intended_hash, at) VALUES (?, ?, ?, ?, (julianday('now') - 2440587.5) * 86400.0)"
                " ON CONFLICT DO UPDATE SET start = excluded.start, intended_hash = excluded.intended_hash",
                (turn, index, start, text_hash),
            )
        )

    async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
        """The platform accepted this text under this id."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE parts SET ref = ?, accepted_hash = ? WHERE turn = ? AND idx = ?",
                (ref.message_id, text_hash, turn, index),
            )
        )

    async def seal(self, turn: str, index: int, end: int) -> None:
        await self._database.write(
            lambda db: db.execute(
                "UPDATE parts SET end = ? WHERE turn = ? AND idx = ? AND end IS NULL", (end, turn, index)
            )
        )

    async def drop(self, turn: str, index: int) -> None:
        """The part was removed from the platform."""
        await self._database.write(lambda db: db.execute("DELETE FROM parts WHERE turn = ? AND idx = ?", (turn, index)))

    async def load(self, turn: str) -> Sequence[PartRecord]:
        def statement(db: sqlite3.Connection) -> list[PartRecord]:
            found = db.execute(
                "SELECT idx, start, end, ref, accepted_hash FROM parts WHERE turn = ? ORDER BY idx", (turn,)
            )
            return [
                PartRecord(idx, start, end, Ref(ref) if ref else None, seen or "")
                for idx, start, end, ref, seen in found
            ]

        return await self._database.read(statement)

    async def turns_at(self, ref: Ref) -> Sequence[str]:
        """The turns that have a part under this id, in whatever chat: ids of two chats may be the same."""
        return await self._database.read(
            lambda db: [turn for (turn,) in db.execute("SELECT turn FROM parts WHERE ref = ?", (ref.message_id,))]
        )

    async def sealed_to(self, turn: str) -> int:
        """How far the turn's text is sealed, in characters: what lies before can no longer be taken back."""
        return await self._database.read(
            lambda db: int(db.execute("SELECT coalesce(max(end), 0) FROM parts WHERE turn = ?", (turn,)).fetchone()[0])
        )
