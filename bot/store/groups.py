"""Groups in which an owner has allowed the bot to answer, beyond those that the configuration names."""

from __future__ import annotations

from collections.abc import Sequence

from bot.store.database import Database


class GroupRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[tuple[str, str]]:
        """Channel and id of each."""
        return await self._database.read(lambda db: db.execute("SELECT channel, id FROM groups").fetchall())

    async def allow(self, channel: str, group: str, by: str, at: float) -> bool:
        """``by`` is the owner's identity. False when it was allowed before."""
        return await self._database.write(
            lambda db: bool(
                db.execute(
                    "INSERT INTO groups (channel, id, by, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (channel, group, by, at),
                ).rowcount
            ),
            durable=True,
        )
