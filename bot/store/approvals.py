"""Approvals and standing permissions. A decision is made once, by compare-and-set."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.core.address import Address
from bot.core.view import ApprovalCard
from bot.store.codec import CARD
from bot.store.database import Database
from bot.store.links import same_person


@dataclass(frozen=True, slots=True)
class Approval:
    """``asker`` is the identity of the person whose turn it is; ``fingerprint`` binds it to one tool and its arguments."""

    card: ApprovalCard
    turn: str
    address: Address
    asker: str
    own_reach: bool
    fingerprint: str


_COLUMNS = "card, turn, address, asker, own_reach, fingerprint, decision, decided_by"


def _approval(found: tuple[str, str, str, str, int, str, str | None, str | None]) -> Approval:
    card = replace(CARD.validate_json(found[0]), decision=found[6] or "", decided_by=found[7] or "")
    return Approval(card, found[1], Address.parse(found[2]), found[3], bool(found[4]), found[5])


class ApprovalRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, approval: Approval) -> None:
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO approvals (id, turn, address, asker, own_reach, fingerprint, card, expires_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    approval.card.id,
                    approval.turn,
                    str(approval.address),
                    approval.asker,
                    approval.own_reach,
                    approval.fingerprint,
                    CARD.dump_json(approval.card).decode(),
                    approval.card.expires_at,
                ),
            ),
            durable=True,
        )

    async def decide(
        self, approval_id: str, decision: str, by: str, at: float, granted_by: str = ""
    ) -> tuple[Approval, bool] | None:
        """The approval as it now stands, and whether this call decided it. None when there is no such approval.

        With ``chat`` (for the address) and ``always`` (for the asker) the standing permission is written together with
        the decision; ``granted_by`` is the identity that gives it.
        """

        def statement(db: sqlite3.Connection) -> tuple[Approval, bool] | None:
            won = db.execute(
                "UPDATE approvals SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ? AND decision IS NULL",
                (decision, by, at, approval_id),
            ).rowcount
            found = db.execute(f"SELECT {_COLUMNS} FROM approvals WHERE id = ?", (approval_id,)).fetchone()
            if not found:
                return None
            approval = _approval(found)
            if won and decision in ("chat", "always"):
                holder = str(approval.address) if decision == "chat" else approval.asker
                db.execute(
                    "INSERT OR REPLACE INTO permissions (tool, scope, holder, granted_by, at) VALUES (?, ?, ?, ?, ?)",
                    (approval.card.tool, decision, holder, granted_by, at),
                )
            return approval, bool(won)

        return await self._database.write(statement, durable=True)

    async def get(self, approval_id: str) -> Approval | None:
        def statement(db: sqlite3.Connection) -> Approval | None:
            found = db.execute(f"SELECT {_COLUMNS} FROM approvals WHERE id = ?", (approval_id,)).fetchone()
            return _approval(found) if found else None

        return await self._database.read(statement)

    async def of_turn(self, turn: str) -> Sequence[Approval]:
        return await self._database.read(
            lambda db: [
                _approval(f)
                for f in db.execute(f"SELECT {_COLUMNS} FROM approvals WHERE turn = ? ORDER BY rowid", (turn,))
            ]
        )

    async def permitted(self, tool: str, address: Address, identity: str) -> bool:
        return await self._database.read(
            lambda db: bool(
                db.execute(
                    "SELECT 1 FROM permissions WHERE tool = :tool AND"
                    f" ((scope = 'chat' AND holder = :chat) OR (scope = 'always' AND {same_person('holder')}))",
                    {"tool": tool, "chat": str(address), "who": identity},
                ).fetchone()
            )
        )
