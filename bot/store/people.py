"""People beyond the configuration: who was let in, who was sent away again, and who knocked and waits with a code."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from secrets import compare_digest
from typing import Final, Literal

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.transcript import Body
from bot.store.codec import INBOUND
from bot.store.database import Database
from bot.store.inbox import InboxRow, insert_inbound
from bot.store.links import unlink
from bot.store.transcript import insert_rows

CODE_SECONDS: Final = 3600.0
"""How long a code counts from the moment it is told, a stranger is not told again, and a wrong code is remembered."""
WAITING: Final = 3
"""Codes that wait on one channel at a time."""

Standing = Literal["owner", "user", "revoked", "stranger"]
Kind = Literal["approved", "already", "unknown", "locked", "revoked", "turned_down", "not_paired", "configured"]


@dataclass(frozen=True, slots=True)
class Person:
    """``since`` is the Unix time of the last change (None: always so), ``by`` the identity that made it."""

    channel: str
    id: str
    name: str = ""
    standing: Standing = "stranger"
    since: float | None = None
    by: str = ""

    @property
    def identity(self) -> str:
        return f"{self.channel}:{self.id}"


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who waits with a code. ``returning``: let in once, and sent away."""

    channel: str
    id: str
    name: str
    code: str
    expires_at: float
    returning: bool

    @property
    def identity(self) -> str:
        return f"{self.channel}:{self.id}"


@dataclass(frozen=True, slots=True)
class Knock:
    """``told``: whether the stranger is to be told anything now; ``code`` None: without a code."""

    told: bool
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Greeting:
    """What tells somebody that they were let in: a turn that already has its answer."""

    turn: str
    opening: UserMessage
    answer: tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What came of an approval or a revocation. ``notice`` is the row whose turn tells the person that was let in."""

    kind: Kind
    person: Person | None = None
    notice: InboxRow | None = None


Greet = Callable[[Person, Address, str], Greeting]
"""Of the person that was let in, where they wrote and their language. Called in the transaction: quick and pure."""

_PERSON: Final = "channel, id, name, standing, since, by"
_COUNTS: Final = "code IS NOT NULL AND told_at > :at - :seconds AND told_at <= :at"


def _now(at: float, **more: object) -> dict[str, object]:
    return {"at": at, "seconds": CODE_SECONDS} | more


class PeopleRows:
    """Codes are kept as they are: whoever can read this file for the hour in which a code counts can also write it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def people(self) -> Sequence[Person]:
        return await self._database.read(
            lambda db: [Person(*columns) for columns in db.execute(f"SELECT {_PERSON} FROM people ORDER BY since")]
        )

    async def waiting(self, at: float) -> Sequence[Stranger]:
        """Those whose code still counts, the first to lose it first."""

        def statement(db: sqlite3.Connection) -> list[Stranger]:
            found = db.execute(
                "SELECT s.channel, s.id, s.name, code, told_at + :seconds, p.id IS NOT NULL FROM strangers s"
                " LEFT JOIN people p ON p.channel = s.channel AND p.id = s.id"
                f" WHERE {_COUNTS} AND NOT used ORDER BY told_at",
                _now(at),
            )
            return [
                Stranger(channel, id, name, code, until, bool(known)) for channel, id, name, code, until, known in found
            ]

        return await self._database.read(statement)

    async def knock(
        self, sender: Sender, where: Address, language: str, at: float, new_code: Callable[[], str] | None
    ) -> Knock:
        """Somebody unknown wrote: told at most once an hour, with a code where there is room for one more.

        ``new_code`` None: pairing is off. Nobody has two codes that count.
        """

        def statement(db: sqlite3.Connection) -> Knock:
            db.execute("DELETE FROM strangers WHERE told_at <= :at - :seconds OR told_at > :at", _now(at))
            who = (sender.channel, sender.id)
            if db.execute("SELECT 1 FROM strangers WHERE channel = ? AND id = ?", who).fetchone():
                return Knock(told=False)
            codes = {code for (code,) in db.execute("SELECT code FROM strangers WHERE code IS NOT NULL")}
            (waiting,) = db.execute(
                "SELECT count(*) FROM strangers WHERE channel = ? AND code IS NOT NULL AND NOT used", who[:1]
            ).fetchone()
            code = None
            while new_code is not None and waiting < WAITING and (code is None or code in codes):
                code = new_code()
            db.execute(
                "INSERT INTO strangers (channel, id, name, address, language, told_at, code) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*who, sender.name, str(where), language, at, code),
            )
            return Knock(told=True, code=code)

        return await self._database.write(statement, durable=True)

    async def approve(
        self, code: str, by: str, at: float, greet: Greet, owned: Collection[str], guesses: int | None = None
    ) -> Ruling:
        """Let in whoever has the code, once: person, spent code and greeting are written together.

        On a channel that has no owner yet, neither here nor among ``owned``, the person becomes one. After ``guesses``
        wrong codes within an hour ``by`` is not listened to (None: however many).
        """

        def statement(db: sqlite3.Connection) -> Ruling:
            db.execute("DELETE FROM wrong_codes WHERE at <= :at - :seconds OR at > :at", _now(at))
            (wrong,) = db.execute("SELECT count(*) FROM wrong_codes WHERE who = ?", (by,)).fetchone()
            if guesses is not None and wrong >= guesses:
                return Ruling("locked")
            found = _match(db, code, at)
            if found is None:
                if guesses is not None:
                    db.execute("INSERT INTO wrong_codes (who, at) VALUES (?, ?)", (by, at))
                return Ruling("unknown")
            channel, id, name, address, language, used = found
            if used:
                return Ruling("already", _person(db, channel, id))
            person = Person(channel, id, name, _standing(db, channel, owned), at, by)
            _write(db, person)
            db.execute("UPDATE strangers SET used = 1 WHERE channel = ? AND id = ?", (channel, id))
            return Ruling("approved", person, _greeted(db, greet(person, Address.parse(address), language), at))

        return await self._database.write(statement, durable=True)

    async def revoke(self, channel: str, id: str, by: str, at: float, *, anybody: bool) -> Ruling:
        """Send a person away, or take a stranger's code back. ``anybody``: also somebody who was never let in by name,
        because everybody is."""

        def statement(db: sqlite3.Connection) -> Ruling:
            known = _person(db, channel, id)
            coded = db.execute(
                f"SELECT name FROM strangers WHERE channel = :channel AND id = :id AND NOT used AND {_COUNTS}",
                _now(at, channel=channel, id=id),
            ).fetchone()
            db.execute("UPDATE strangers SET code = NULL WHERE channel = ? AND id = ?", (channel, id))
            if coded and (known is None or known.standing == "revoked"):
                return Ruling("turned_down", Person(channel, id, coded[0]))
            if known is None and not anybody:
                return Ruling("not_paired", Person(channel, id))
            person = Person(channel, id, known.name if known else "", "revoked", at, by)
            _write(db, person)
            # what they were allowed for good, and what they allowed others, must not outlast them
            db.execute("DELETE FROM permissions WHERE holder = ? OR granted_by = ?", (person.identity, person.identity))
            unlink(db, person.identity)
            return Ruling("revoked", person)

        return await self._database.write(statement, durable=True)


def _match(db: sqlite3.Connection, code: str, at: float) -> tuple[str, str, str, str, str, int] | None:
    """Every code that counts is compared whole, so that the time it takes tells nothing."""
    match = None
    for known, *columns in db.execute(
        f"SELECT code, channel, id, name, address, language, used FROM strangers WHERE {_COUNTS}", _now(at)
    ):
        if compare_digest(known.encode(), code.encode()):
            match = tuple(columns)
    return match


def _person(db: sqlite3.Connection, channel: str, id: str) -> Person | None:
    found = db.execute(f"SELECT {_PERSON} FROM people WHERE channel = ? AND id = ?", (channel, id)).fetchone()
    return Person(*found) if found else None


def _standing(db: sqlite3.Connection, channel: str, owned: Collection[str]) -> Standing:
    has_owner = db.execute("SELECT 1 FROM people WHERE channel = ? AND standing = 'owner'", (channel,)).fetchone()
    return "user" if has_owner or channel in owned else "owner"


def _write(db: sqlite3.Connection, person: Person) -> None:
    db.execute(
        f"INSERT OR REPLACE INTO people ({_PERSON}) VALUES (?, ?, ?, ?, ?, ?)",
        (person.channel, person.id, person.name, person.standing, person.since, person.by),
    )


def _greeted(db: sqlite3.Connection, greeting: Greeting, at: float) -> InboxRow:
    """The greeting as a turn that has its answer and still has to be shown, now or after the next start."""
    body = INBOUND.dump_json(greeting.opening).decode()
    row = insert_inbound(db, greeting.opening, body, greeting.turn, at).row
    insert_rows(db, greeting.opening.address, greeting.turn, at, greeting.answer)
    return row
