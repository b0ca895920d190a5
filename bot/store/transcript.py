"""Transcript rows and the draft of the step that is being written."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.core.address import Address
from bot.core.ports import ChatSummary
from bot.core.transcript import (
    Body,
    EndRow,
    Overheard,
    OverheardRow,
    ResultRow,
    RevisedRow,
    Row,
    StepRow,
    UserRow,
)
from bot.store.codec import BODY
from bot.store.database import Database
from bot.store.overheard import known, taken

log = logging.getLogger(__name__)

TITLE_CHARS = 80
FAR = 2**62
"""Beyond every row's id."""
Stored = tuple[int, str, str, float, str]


@dataclass(frozen=True, slots=True)
class Opening:
    """How a turn begins: the number of its ``starts``, the rows written at the first of them (none at a later one), and
    the ``past`` it may look back on, as it was then."""

    starts: int
    rows: Sequence[Row] = ()
    past: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Text of step ``step`` as far as it is stored, in ``pieces`` pieces."""

    step: int
    text: str = ""
    pieces: int = 0


def insert_rows(db: sqlite3.Connection, address: Address, turn: str, at: float, bodies: Iterable[Body]) -> list[Row]:
    """Append within the caller's transaction. A step row replaces the draft it was written from; with it, or with a
    result, the turn has got further, and starts that failed before no longer count against it."""
    rows = []
    for body in bodies:
        cursor = db.execute(
            "INSERT INTO transcript (address, turn, at, kind, body) VALUES (?, ?, ?, ?, ?)",
            (str(address), turn, at, body.kind, BODY.dump_json(body).decode()),
        )
        rows.append(Row(cursor.lastrowid or 0, address, turn, at, body))
        if isinstance(body, StepRow | RevisedRow):
            db.execute("DELETE FROM drafts WHERE turn = ?", (turn,))
        if isinstance(body, EndRow | RevisedRow):  # questions that are still open can no longer be answered
            db.execute(
                "UPDATE approvals SET decision = 'void', decided_by = '', decided_at = ? WHERE turn = ? AND decision IS NULL",
                (at, turn),
            )
        if isinstance(body, StepRow | ResultRow):
            db.execute("UPDATE inbox SET attempts = 0 WHERE turn = ?", (turn,))
    return rows


def _rows(found: Iterable[Stored]) -> list[Row]:
    """A row that cannot be read is left out and named in the log; the others are unharmed."""
    rows = []
    for row_id, address, turn, at, body in found:
        try:
            rows.append(Row(row_id, Address.parse(address), turn, at, BODY.validate_json(body)))
        except (ValidationError, ValueError):
            log.warning("transcript row %d of %s cannot be read and is left out", row_id, address)
    return rows


def _history(db: sqlite3.Connection, address: Address, before_id: int, limit: int) -> list[Stored]:
    """The newest ``limit`` rows since the last break, and the newest summary before them. A summary of what lies before the
    break came too late."""
    where = {"address": str(address), "before": before_id, "limit": limit}
    (begin,) = db.execute(
        "SELECT coalesce(max(id), 0) FROM transcript WHERE address = :address AND kind = 'break' AND id < :before",
        where,
    ).fetchone()
    where["begin"] = begin
    found = db.execute(
        "SELECT id, address, turn, at, body FROM transcript WHERE address = :address AND id < :before AND id > :begin"
        " AND (kind != 'summary' OR json_extract(body, '$.upto') > :begin) ORDER BY id DESC LIMIT :limit",
        where,
    ).fetchall()
    if len(found) == limit:
        found += db.execute(
            "SELECT id, address, turn, at, body FROM transcript WHERE address = :address AND kind = 'summary' AND id > :begin"
            " AND id < :oldest AND json_extract(body, '$.upto') > :begin ORDER BY id DESC LIMIT 1",
            where | {"oldest": found[-1][0]},
        ).fetchall()
    return found[::-1]


def _overheard(db: sqlite3.Connection, address: Address, *, is_new: bool) -> list[Overheard]:
    """What belongs to the address; a new thread begins with what was said in the chat above it."""
    above = known(db, replace(address, thread="")) if is_new and address.thread else []
    return taken(db, address) or above


def _turn_rows(db: sqlite3.Connection, turn: str) -> list[Row]:
    return _rows(db.execute("SELECT id, address, turn, at, body FROM transcript WHERE turn = ? ORDER BY id", (turn,)))


def _draft(db: sqlite3.Connection, turn: str) -> Draft | None:
    found = db.execute("SELECT step, seq, text FROM drafts WHERE turn = ? ORDER BY step, seq", (turn,)).fetchall()
    return Draft(found[0][0], "".join(text for _, _, text in found), found[-1][1] + 1) if found else None


class TranscriptRows:
    """Also implements ``bot.core.ports.Archive``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: set[str] = set()
        """Turns whose start counts against them: nothing new was written since."""

    async def append(self, address: Address, turn: str, at: float, *bodies: Body) -> Sequence[Row]:
        if any(isinstance(body, EndRow) for body in bodies):
            self._counted.discard(turn)
        return await self._database.write(lambda db: insert_rows(db, address, turn, at, bodies))

    async def begin(
        self,
        inbox_id: int,
        address: Address,
        turn: str,
        at: float,
        *bodies: Body,
        look_back: int = 0,
        earlier: Sequence[Overheard] = (),
    ) -> Opening:
        """Count a start of the turn and, at the first, write its opening rows and read the newest ``look_back`` rows
        before them (see ``history``), all in one. A turn that looks back begins with what was overheard: ``earlier``, if
        given, else what is kept."""

        def statement(db: sqlite3.Connection) -> tuple[int, list[Row], list[Stored]]:
            past, rows = [], []
            if not db.execute("SELECT 1 FROM transcript WHERE turn = ? LIMIT 1", (turn,)).fetchone():
                past = _history(db, address, FAR, look_back) if look_back else []
                heard = _overheard(db, address, is_new=not past) if look_back else []
                context = (OverheardRow(tuple(earlier or heard)),) if earlier or heard else ()
                rows = insert_rows(db, address, turn, at, (*context, *bodies))
            db.execute("UPDATE inbox SET attempts = attempts + 1 WHERE id = ?", (inbox_id,))
            (starts,) = db.execute("SELECT attempts FROM inbox WHERE id = ?", (inbox_id,)).fetchone()
            return int(starts), rows, past

        starts, rows, past = await self._database.write(statement)
        self._counted.add(turn)
        return Opening(starts, rows, _rows(past))

    async def steer(self, inbox_id: int, address: Address, turn: str, at: float, body: UserRow) -> Row | None:
        """Let the message of an inbox row join a running turn, once: row and transcript change together.

        None when the message was dealt with meanwhile (its question was deleted, say).
        """

        def statement(db: sqlite3.Connection) -> Row | None:
            joined = db.execute(
                "UPDATE inbox SET turn = ? WHERE id = ? AND finished_at IS NULL", (turn, inbox_id)
            ).rowcount
            return insert_rows(db, address, turn, at, [body])[0] if joined else None

        return await self._database.write(statement)

    async def result(self, address: Address, turn: str, at: float, body: ResultRow) -> Row | None:
        """Write the result of a call and close the call, once: None when it already has a result."""

        def statement(db: sqlite3.Connection) -> Row | None:
            done = db.execute(
                "SELECT 1 FROM transcript WHERE turn = ? AND kind = 'result' AND json_extract(body, '$.call_id') = ?",
                (turn, body.call_id),
            ).fetchone()
            if done:
                return None
            db.execute("UPDATE calls SET ended_at = ? WHERE turn = ? AND call_id = ?", (at, turn, body.call_id))
            return insert_rows(db, address, turn, at, [body])[0]

        return await self._database.write(statement)

    async def result_at(self, address: Address, row_id: int) -> ResultRow | None:
        """The result in this row; None where the address has none there."""

        def statement(db: sqlite3.Connection) -> list[Row]:
            return _rows(
                db.execute(
                    "SELECT id, address, turn, at, body FROM transcript WHERE id = ? AND address = ? AND kind = 'result'",
                    (row_id, str(address)),
                )
            )

        found = [row.body for row in await self._database.read(statement)]
        return found[0] if found and isinstance(found[0], ResultRow) else None

    async def turn_rows(self, turn: str) -> Sequence[Row]:
        return await self._database.read(lambda db: _turn_rows(db, turn))

    async def standing(self, turn: str) -> tuple[Sequence[Row], Draft | None]:
        """Where the turn stands: its rows, and the text of the step that was being written."""
        return await self._database.read(lambda db: (_turn_rows(db, turn), _draft(db, turn)))

    async def rows(self, address: Address, limit: int) -> Sequence[Row]:
        def statement(db: sqlite3.Connection) -> list[Row]:
            found = db.execute(
                "SELECT id, address, turn, at, body FROM transcript WHERE address = ? ORDER BY id DESC LIMIT ?",
                (str(address), limit),
            ).fetchall()
            return _rows(reversed(found))

        return await self._database.read(statement)

    async def history(self, address: Address, before_id: int, limit: int) -> Sequence[Row]:
        """The newest ``limit`` rows between the last break and row ``before_id``, oldest first: what a turn that began
        there may look back on, the same at each of its steps."""

        return await self._database.read(lambda db: _rows(_history(db, address, before_id, limit)))

    async def chats(self, channel: str, account: str, limit: int) -> Sequence[ChatSummary]:
        """Chats that a person began (not those of API requests), the newest first."""
        first = str(Address(channel, account, "", ""))[:-1]
        behind = first[:-1] + chr(ord(first[-1]) + 1)

        def statement(db: sqlite3.Connection) -> list[ChatSummary]:
            found = db.execute(
                "SELECT c.address, coalesce(nullif(json_extract(f.body, '$.text'), ''), json_extract(f.body, '$.files[0].name')),"
                " c.at FROM (SELECT address, min(id) AS first, max(id) AS last,"
                " max(at) AS at FROM transcript WHERE kind = 'user' AND address >= ? AND address < ? GROUP BY address) c"
                " JOIN transcript f ON f.id = c.first WHERE NOT EXISTS"
                " (SELECT 1 FROM transcript g WHERE g.kind = 'given' AND g.address = c.address) ORDER BY c.last DESC LIMIT ?",
                (first, behind, limit),
            ).fetchall()
            return [ChatSummary(Address.parse(address), (text or "")[:TITLE_CHARS], at) for address, text, at in found]

        return await self._database.read(statement)

    async def write_draft(self, turn: str, step: int, seq: int, text: str) -> None:
        """Store the next piece of a step before it is shown. Pieces are numbered from 0. With the first one of this life
        the turn has got further, as with a row."""
        is_first = turn in self._counted

        def statement(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT OR REPLACE INTO drafts (turn, step, seq, text) VALUES (?, ?, ?, ?)", (turn, step, seq, text)
            )
            if is_first:
                db.execute("UPDATE inbox SET attempts = 0 WHERE turn = ?", (turn,))

        await self._database.write(statement)
        self._counted.discard(turn)

    async def draft(self, turn: str) -> Draft | None:
        return await self._database.read(lambda db: _draft(db, turn))

    async def replace_draft(self, turn: str, begins: int, step: int = 0, text: str = "") -> None:
        """Take the draft back and store ``text``, if any, in its place, at once: that is not yet more than there was. The
        draft began at ``begins`` in the answer, and no part stays sealed beyond that."""

        def statement(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM drafts WHERE turn = ?", (turn,))
            if text:
                db.execute("INSERT INTO drafts (turn, step, seq, text) VALUES (?, ?, 0, ?)", (turn, step, text))
            db.execute("UPDATE parts SET end = NULL WHERE turn = ? AND end > ?", (turn, begins))

        await self._database.write(statement)
