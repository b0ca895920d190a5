"""Small durable notes by owner and key: cursors, offsets, choices."""

from __future__ import annotations

import sqlite3

from bot.store.database import Database


class NoteRows:
    """The notes of one owner; implements ``bot.core.ports.Notes``."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database, self._owner = database, owner

    async def read(self, key: str) -> str | None:
        def statement(db: sqlite3.Connection) -> str | None:
            found = db.execute("SELECT value FROM notes WHERE owner = ? AND key = ?", (self._owner, key)).fetchone()
            return str(found[0]) if found else None

        return await self._database.read(statement)

    async def write(self, key: str, value: str) -> None:
        await self._database.write(
            lambda db: db.execute(
                "INSERT OR REPLACE INTO notes (owner, key, value) VALUES (?, ?, ?)", (self._owner, key, value)
            )
        )
