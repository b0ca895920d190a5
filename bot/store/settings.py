"""What people have set for a chat, by key."""

from __future__ import annotations

from collections.abc import Mapping

from bot.core.address import Address
from bot.store.database import Database


class SettingRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Mapping[Address, Mapping[str, str]]:
        """An address that cannot be read any more is left out."""

        def known(text: str) -> Address | None:
            try:
                return Address.parse(text)
            except ValueError:
                return None

        found = await self._database.read(lambda db: db.execute("SELECT address, key, value FROM settings").fetchall())
        settings: dict[Address, dict[str, str]] = {}
        for text, key, value in found:
            if (address := known(text)) is not None:
                settings.setdefault(address, {})[key] = value
        return settings

    async def set(self, address: Address, key: str, value: str) -> None:
        """``value`` "" takes it back."""
        if value:
            await self._database.write(
                lambda db: db.execute(
                    "INSERT INTO settings (address, key, value) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET value = excluded.value",
                    (str(address), key, value),
                )
            )
        else:
            await self._database.write(
                lambda db: db.execute("DELETE FROM settings WHERE address = ? AND key = ?", (str(address), key))
            )
