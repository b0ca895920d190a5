"""A ledger in memory that outlives the publishers of a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.core.view import Ref
from bot.store.parts import PartRecord


@dataclass(slots=True)
class FakeLedger:
    """Implements ``bot.outbox.ledger.Ledger``. ``log`` has every call, in order, as a word and an index."""

    rows: dict[tuple[str, int], PartRecord] = field(default_factory=dict)
    log: list[tuple[str, int]] = field(default_factory=list)

    async def intend(self, turn: str, index: int, start: int, text_hash: str) -> None:
        self.log.append(("intend", index))
        known = self.rows.get((turn, index))
        self.rows[turn, index] = replace(known, start=start) if known else PartRecord(index, start, None, None, "")

    async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
        self.log.append(("record", index))
        self.rows[turn, index] = replace(self.rows[turn, index], ref=ref, accepted_hash=text_hash)

    async def seal(self, turn: str, index: int, end: int) -> None:
        self.log.append(("seal", index))
        self.rows[turn, index] = replace(self.rows[turn, index], end=end)

    async def drop(self, turn: str, index: int) -> None:
        self.log.append(("drop", index))
        self.rows.pop((turn, index), None)

    async def load(self, turn: str) -> Sequence[PartRecord]:
        return [row for (of, _), row in sorted(self.rows.items()) if of == turn]
