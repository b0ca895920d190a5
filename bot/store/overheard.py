"""What was said in groups and not meant for the bot: the last messages of each, until a turn there takes them along."""

from __future__ import annotations

import sqlite3

from bot.core.address import Address
from bot.core.transcript import Overheard
from bot.store.database import Database

KEPT = 50
"""Messages of one address."""


def taken(db: sqlite3.Connection, address: Address) -> list[Overheard]:
    """Within the caller's transaction: all that is kept of the address, oldest first, and no longer kept."""
    found = known(db, address)
    if found:
        db.execute("DELETE FROM overheard WHERE address = ?", (str(address),))
    return found


def known(db: sqlite3.Connection, address: Address) -> list[Overheard]:
    found = db.execute("SELECT name, text FROM overheard WHERE address = ? ORDER BY id", (str(address),))
    return [Overheard(name, text) for name, text in found]


class OverheardRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, address: Address, platform_id: str, name: str, text: str) -> None:
        """Keep the message, or what it reads now; the oldest make room."""

        def statement(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT INTO overheard (address, platform_id, name, text) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (address, platform_id) DO UPDATE SET text = excluded.text",
                (str(address), platform_id, name, text),
            )
            db.execute(
                "DELETE FROM overheard WHERE address = :address AND id <="
                " (SELECT id FROM overheard WHERE address = :address ORDER BY id DESC LIMIT 1 OFFSET :kept)",
                {"address": str(address), "kept": KEPT},
            )

        await self._database.write(statement)

    async def reword(self, address: Address, platform_id: str, text: str) -> bool:
        """Whether the message was kept, and reads ``text`` now."""
        return await self._database.write(
            lambda db: bool(
                db.execute(
                    "UPDATE overheard SET text = ? WHERE address = ? AND platform_id = ?",
                    (text, str(address), platform_id),
                ).rowcount
            )
        )

    async def drop(self, address: Address, platform_id: str) -> None:
        await self._database.write(
            lambda db: db.execute(
                "DELETE FROM overheard WHERE address = ? AND platform_id = ?", (str(address), platform_id)
            )
        )
