"""What model calls cost, by turn, person and day."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.address import Address
from bot.core.model import Usage
from bot.store.database import Database
from bot.store.links import same_person


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Sums for one model; ``usd`` leaves out calls whose price is unknown (``unpriced`` counts them). ``estimated`` counts
    calls of which the vendor did not tell all that they used."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced: int
    estimated: int = 0


class UsageRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, at: float, turn: str, address: Address, person: str, model: str, usage: Usage, usd: float | None
    ) -> None:
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO usage (at, turn, address, person, model, input_tokens, output_tokens, cache_read_tokens,"
                " cache_write_tokens, usd, estimated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    at,
                    turn,
                    str(address),
                    person,
                    model,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cache_read_tokens,
                    usage.cache_write_tokens,
                    usd,
                    usage.estimated,
                ),
            )
        )

    async def since(self, at: float, person: str = "") -> Sequence[UsageTotal]:
        """Totals by model from Unix time ``at`` on, of one person, with all that is linked with this identity, or of all."""

        def statement(db: sqlite3.Connection) -> list[UsageTotal]:
            found = db.execute(
                "SELECT model, count(*), sum(input_tokens), sum(output_tokens), coalesce(sum(usd), 0), sum(usd IS NULL),"
                " sum(estimated)"
                f" FROM usage WHERE at >= :at AND (:who = '' OR {same_person('person')}) GROUP BY model ORDER BY 2 DESC",
                {"at": at, "who": person},
            )
            return [UsageTotal(*columns) for columns in found]

        return await self._database.read(statement)
