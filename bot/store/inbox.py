"""Inbox rows: every inbound as it arrived, until its turn is over."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.core.address import Address, Sender
from bot.core.inbound import Inbound, UserMessage
from bot.core.transcript import Body
from bot.store.codec import INBOUND
from bot.store.database import Database
from bot.store.transcript import insert_rows

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class InboxRow:
    """``turn`` answers it; ``attempts`` counts the starts of that turn since it last got further, but for those that a
    clean stop took back."""

    id: int
    inbound: Inbound
    turn: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """``row`` is the stored row; ``duplicate`` when it had been there before, ``finished`` when it is also dealt with,
    ``deleted`` when it is a message that was deleted, perhaps before it came."""

    row: InboxRow
    duplicate: bool
    finished: bool
    deleted: bool = False


_COLUMNS = "id, body, turn, attempts"


def _row(columns: tuple[int, str, str, int]) -> InboxRow:
    return InboxRow(columns[0], INBOUND.validate_json(columns[1]), columns[2], columns[3])


def insert_inbound(db: sqlite3.Connection, inbound: Inbound, body: str, turn: str, at: float) -> Recorded:
    """Within the caller's transaction; ``body`` is the inbound as JSON."""
    key = (str(inbound.address), inbound.kind, inbound.id)
    added = db.execute(
        "INSERT INTO inbox (address, kind, platform_id, turn, body, received_at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (*key, turn, body, at),
    ).rowcount
    *columns, finished = db.execute(
        f"SELECT {_COLUMNS}, finished_at IS NOT NULL FROM inbox WHERE address = ? AND kind = ? AND platform_id = ?",
        key,
    ).fetchone()
    gone = isinstance(inbound, UserMessage) and _is_deleted(db, inbound)
    return Recorded(_row(tuple(columns)), duplicate=not added, finished=bool(finished), deleted=gone)


def _is_deleted(db: sqlite3.Connection, message: UserMessage) -> bool:
    """Whether its deletion was told, at its own address or without the thread."""
    places = {str(message.address), str(replace(message.address, thread=""))}
    return any(
        db.execute(
            "SELECT 1 FROM inbox WHERE address = ? AND kind = 'deleted' AND platform_id >= ? AND platform_id < ? LIMIT 1",
            (place, f"{message.id}.", f"{message.id}/"),  # the sign that follows the dot
        ).fetchone()
        for place in places
    )


class InboxRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, inbound: Inbound, turn: str, at: float) -> Recorded:
        """Store an inbound under its platform id. The first one to come wins. Not on the disk before ``synced``."""
        body = INBOUND.dump_json(inbound).decode()
        return await self._database.write(lambda db: insert_inbound(db, inbound, body, turn, at))

    async def announce(self, opening: Inbound, turn: str, at: float, *answer: Body) -> InboxRow:
        """Store a turn that already has its answer: it is only shown, where ``opening`` seems to come from."""
        body = INBOUND.dump_json(opening).decode()

        def statement(db: sqlite3.Connection) -> InboxRow:
            insert_rows(db, opening.address, turn, at, answer)
            return insert_inbound(db, opening, body, turn, at).row

        return await self._database.write(statement)

    async def synced(self) -> None:
        """Once everything recorded so far is on the disk."""
        await self._database.synced()

    async def unfinished(self) -> Sequence[InboxRow]:
        """In order of arrival. One that cannot be read is left out and named in the log; the others are unharmed."""

        def statement(db: sqlite3.Connection) -> list[InboxRow]:
            rows = []
            for columns in db.execute(f"SELECT {_COLUMNS} FROM inbox WHERE finished_at IS NULL ORDER BY id"):
                try:
                    rows.append(_row(columns))
                except ValidationError:
                    log.error("inbox row %d of turn %s cannot be read and is left out", columns[0], columns[2])
            return rows

        return await self._database.read(statement)

    async def finish(self, row_id: int, outcome: str, at: float) -> None:
        """The row needs nothing more; ``outcome`` is a stop reason or the reason to stay silent."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE inbox SET finished_at = ?, outcome = ? WHERE id = ? AND finished_at IS NULL",
                (at, outcome, row_id),
            )
        )

    async def finish_turn(self, turn: str, outcome: str, at: float) -> None:
        """The same for every message that the turn answers."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE inbox SET finished_at = ?, outcome = ? WHERE turn = ? AND finished_at IS NULL",
                (at, outcome, turn),
            )
        )

    async def count_attempt(self, row_id: int) -> int:
        """Count a start of the row's turn before it has any rows; return how many there were."""

        def statement(db: sqlite3.Connection) -> int:
            db.execute("UPDATE inbox SET attempts = attempts + 1 WHERE id = ?", (row_id,))
            return int(db.execute("SELECT attempts FROM inbox WHERE id = ?", (row_id,)).fetchone()[0])

        return await self._database.write(statement)

    async def take_back_attempt(self, turn: str) -> None:
        """A clean stop interrupted the turn: this start does not count against it."""
        await self._database.write(
            lambda db: db.execute("UPDATE inbox SET attempts = max(0, attempts - 1) WHERE turn = ?", (turn,))
        )

    async def last_direct(self, channel: str, person: str) -> tuple[Address, Sender] | None:
        """Where the person of this id wrote to the bot directly, most recently, and as whom."""

        def statement(db: sqlite3.Connection) -> tuple[Address, Sender] | None:
            found = db.execute(
                "SELECT body FROM inbox WHERE kind = 'message' AND address >= :from AND address < :to AND turn != ''"
                " AND json_extract(body, '$.direct') AND json_extract(body, '$.sender.id') = :person"
                " ORDER BY id DESC LIMIT 1",
                {"from": f"{channel}:", "to": f"{channel};", "person": person},
            ).fetchone()
            said = INBOUND.validate_json(found[0]) if found else None
            return (said.address, said.sender) if isinstance(said, UserMessage) else None

        return await self._database.read(statement)

    async def open_message(self, address: Address, platform_id: str) -> InboxRow | None:
        """The message, as long as its turn is not over; None for one that no turn answers."""

        def statement(db: sqlite3.Connection) -> InboxRow | None:
            found = db.execute(
                f"SELECT {_COLUMNS} FROM inbox WHERE address = ? AND kind = 'message' AND platform_id = ?"
                " AND finished_at IS NULL AND turn != ''",
                (str(address), platform_id),
            ).fetchone()
            return _row(found) if found else None

        return await self._database.read(statement)

    async def is_deleted(self, message: UserMessage) -> bool:
        """Whether its deletion was told, before or after it came."""
        return await self._database.read(lambda db: _is_deleted(db, message))

    async def reword(self, row_id: int, inbound: Inbound) -> None:
        """The message reads differently now."""
        body = INBOUND.dump_json(inbound).decode()
        await self._database.write(lambda db: db.execute("UPDATE inbox SET body = ? WHERE id = ?", (body, row_id)))

    async def find(self, address: Address, kind: str, platform_id: str) -> InboxRow | None:
        def statement(db: sqlite3.Connection) -> InboxRow | None:
            found = db.execute(
                f"SELECT {_COLUMNS} FROM inbox WHERE address = ? AND kind = ? AND platform_id = ?",
                (str(address), kind, platform_id),
            ).fetchone()
            return _row(found) if found else None

        return await self._database.read(statement)
