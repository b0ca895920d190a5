"""Notes that live as long as the test."""

from __future__ import annotations


class MemoryNotes:
    """Implements ``bot.core.ports.Notes``."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def read(self, key: str) -> str | None:
        return self.values.get(key)

    async def write(self, key: str, value: str) -> None:
        self.values[key] = value
