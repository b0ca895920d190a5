"""The prompts that models were sent, as long as somebody may want to look at them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.store.database import Database

KEPT: Final = 1_000
"""Model calls, about 200 turns; what is older makes room."""
PRUNE_EVERY: Final = 50


@dataclass(frozen=True, slots=True)
class Prompt:
    """One model call of a turn: ``text`` is the request as JSON, ``at`` Unix time."""

    step: int
    model: str
    at: float
    text: str


class PromptRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, turn: str, prompt: Prompt) -> None:
        packed = zlib.compress(prompt.text.encode("utf-8", "replace"), 1)

        def statement(db: sqlite3.Connection) -> None:
            number = db.execute(
                "INSERT INTO prompts (turn, step, model, at, packed) VALUES (?, ?, ?, ?, ?)",
                (turn, prompt.step, prompt.model, prompt.at, packed),
            ).lastrowid
            if number and number % PRUNE_EVERY == 0:
                db.execute("DELETE FROM prompts WHERE id <= ?", (number - KEPT,))

        await self._database.write(statement)

    async def of_turn(self, turn: str) -> Sequence[Prompt]:
        """Oldest first; nothing for a turn whose prompts have made room."""

        def statement(db: sqlite3.Connection) -> list[Prompt]:
            found = db.execute("SELECT step, model, at, packed FROM prompts WHERE turn = ? ORDER BY id", (turn,))
            return [Prompt(step, model, at, zlib.decompress(packed).decode()) for step, model, at, packed in found]

        return await self._database.read(statement)
