"""What the command line may read of the transcripts, and how a row is written as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from bot.core.address import Address
from bot.core.ports import Archive
from bot.core.transcript import Row
from bot.store.codec import BODY

ALL_ROWS = 2**31
"""More rows than a conversation has."""


class Records(Archive, Protocol):
    """The archive, and single turns as well."""

    async def turn_rows(self, turn: str) -> Sequence[Row]:
        """Every row of one turn, oldest first; nothing for a turn that does not exist."""
        ...


async def rows_of(records: Records, target: str, last: int) -> Sequence[Row]:
    """The rows of an address (``channel:account:chat:thread``; the newest ``last``) or of a turn (all), oldest first."""
    try:
        address = Address.parse(target)
    except ValueError:
        return await records.turn_rows(target)
    return await records.rows(address, last)


def row_json(row: Row) -> str:
    """One line: ``id``, ``address``, ``turn``, ``at`` and the fields of the row's body (``kind`` says which)."""
    body: dict[str, Any] = BODY.dump_python(row.body, mode="json")
    head = {"id": row.id, "address": str(row.address), "turn": row.turn, "at": row.at, "kind": row.body.kind}
    return json.dumps(head | body, ensure_ascii=False)
