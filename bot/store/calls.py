"""Tool calls that were let loose on the world: written before they run."""

from __future__ import annotations

import sqlite3

from bot.core.tool import ToolCall
from bot.store.database import Database


class CallRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self, turn: str, call: ToolCall, at: float, *, durable: bool) -> bool:
        """Record the intent (``durable``: on the disk). False when it had been started before: its outcome is unknown."""

        def statement(db: sqlite3.Connection) -> bool:
            return bool(
                db.execute(
                    "INSERT INTO calls (turn, call_id, name, fingerprint, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (turn, call.id, call.name, call.fingerprint, at),
                ).rowcount
            )

        return await self._database.write(statement, durable=durable)

    async def started(self, turn: str) -> frozenset[str]:
        """Ids of all calls of the turn that were ever started."""
        return await self._database.read(
            lambda db: frozenset(row[0] for row in db.execute("SELECT call_id FROM calls WHERE turn = ?", (turn,)))
        )
