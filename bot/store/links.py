"""Which identities on several platforms are one person."""

from __future__ import annotations

import secrets
import sqlite3

from bot.store.database import Database


def same_person(column: str) -> str:
    """The condition that ``column`` holds the identity ``:who``, or one that is linked with it."""
    linked = "SELECT b.identity FROM links a JOIN links b ON a.person = b.person WHERE a.identity = :who"
    return f"({column} = :who OR {column} IN ({linked}))"


def unlink(db: sqlite3.Connection, identity: str) -> bool:
    """Within the caller's transaction. Whether the identity was linked with another."""
    was = db.execute("DELETE FROM links WHERE identity = ?", (identity,)).rowcount
    db.execute("DELETE FROM links WHERE person IN (SELECT person FROM links GROUP BY person HAVING count(*) = 1)")
    return bool(was)


class LinkRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def link(self, one: str, other: str) -> None:
        """Both, and whoever was linked with either, are one person from now on."""

        def statement(db: sqlite3.Connection) -> None:
            found = db.execute("SELECT DISTINCT person FROM links WHERE identity IN (?, ?)", (one, other)).fetchall()
            person = secrets.token_hex(6)
            for (known,) in found:
                db.execute("UPDATE links SET person = ? WHERE person = ?", (person, known))
            for identity in (one, other):
                db.execute(
                    "INSERT INTO links (identity, person) VALUES (?, ?) ON CONFLICT DO UPDATE SET person = excluded.person",
                    (identity, person),
                )

        await self._database.write(statement)

    async def unlink(self, identity: str) -> bool:
        """Whether it was linked with another."""
        return await self._database.write(lambda db: unlink(db, identity))

    async def identities(self, identity: str) -> list[str]:
        """All of the person, the given one included."""

        def statement(db: sqlite3.Connection) -> list[str]:
            found = db.execute(
                f"SELECT identity FROM links WHERE {same_person('identity')} ORDER BY identity", {"who": identity}
            )
            return [one for (one,) in found] or [identity]

        return await self._database.read(statement)
