"""How the routes of turns did: what they cost, how long they took, what people thought of their answers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from bot.core.address import Address
from bot.core.stop import StopReason
from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class RouteTotal:
    """Sums over the turns of one ``rule`` (see ``RouteRow``). ``answered`` ended with an answer; ``usd`` leaves out calls
    whose price is not known (``unpriced`` counts them); ``seconds`` is the median from the message to the end of its turn,
    None where none has ended; ``likes`` and ``dislikes`` count people once an answer."""

    rule: str
    turns: int
    answered: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced: int
    seconds: float | None
    likes: int
    dislikes: int


BEFORE_SECONDS: Final = 3_600.0
"""What a turn may have spent before its route was written: the row comes with its first step."""
_NOTHING: Final = (0, 0, 0.0, 0)


@dataclass(frozen=True, slots=True)
class _Turn:
    rule: str
    chat: str
    spent: tuple[int, int, float, int]
    seconds: float | None
    reason: str


class RouteRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def compared(self, since: float, likes: Sequence[str], dislikes: Sequence[str]) -> Sequence[RouteTotal]:
        """By rule, the most used first, over turns whose route was chosen at Unix time ``since`` or later. ``likes`` and
        ``dislikes`` are how reactions begin that mean it."""

        def statement(db: sqlite3.Connection) -> list[RouteTotal]:
            turns = _turns(db, since)
            thumbs = _thumbs(db, turns, since, tuple(likes), tuple(dislikes))
            rules = dict.fromkeys(turn.rule for turn in turns.values())
            totals = [
                _total(rule, {name: turn for name, turn in turns.items() if turn.rule == rule}, thumbs)
                for rule in rules
            ]
            return sorted(totals, key=lambda total: -total.turns)

        return await self._database.read(statement)


def _turns(db: sqlite3.Connection, since: float) -> dict[str, _Turn]:
    spent = {
        turn: (read, written, usd, unpriced)
        for turn, read, written, usd, unpriced in db.execute(
            "SELECT turn, sum(input_tokens), sum(output_tokens), coalesce(sum(usd), 0), sum(usd IS NULL) FROM usage"
            " WHERE at >= ? GROUP BY turn",
            (since - BEFORE_SECONDS,),
        )
    }
    found = db.execute(
        "SELECT r.turn, json_extract(r.body, '$.rule'), r.address, (SELECT min(at) FROM transcript WHERE turn = r.turn),"
        " e.at, json_extract(e.body, '$.reason') FROM transcript r"
        " LEFT JOIN transcript e ON e.turn = r.turn AND e.kind = 'end' WHERE r.kind = 'route' AND r.at >= ? ORDER BY r.id",
        (since,),
    )
    return {
        turn: _Turn(
            rule or "", _chat(address), spent.get(turn, _NOTHING), ended - began if ended else None, reason or ""
        )
        for turn, rule, address, began, ended, reason in found
    }


def _thumbs(
    db: sqlite3.Connection, turns: Mapping[str, _Turn], since: float, likes: tuple[str, ...], dislikes: tuple[str, ...]
) -> set[tuple[str, str, bool]]:
    """(turn, who, liked): those that hold, after all that was taken back."""
    reactions = db.execute(
        "SELECT address, body FROM inbox WHERE kind = 'reaction' AND received_at >= ? ORDER BY id", (since,)
    ).fetchall()
    if not reactions:
        return set()
    shown = {
        (turns[turn].chat, ref): turn
        for turn, ref in db.execute("SELECT turn, ref FROM parts WHERE ref IS NOT NULL AND at >= ?", (since,))
        if turn in turns
    }
    holding: set[tuple[str, str, bool]] = set()
    for address, body in reactions:
        told = json.loads(body)
        turn, emoji = shown.get((_chat(address), told["message_id"])), told["emoji"]
        if turn is None or not emoji.startswith((*likes, *dislikes)):
            continue
        thumb = (turn, f"{told['sender']['channel']}:{told['sender']['id']}", emoji.startswith(likes))
        if told["added"]:
            holding.add(thumb)
        else:
            holding.discard(thumb)
    return holding


def _total(rule: str, turns: Mapping[str, _Turn], thumbs: Iterable[tuple[str, str, bool]]) -> RouteTotal:
    read, written, usd, unpriced = (sum(one) for one in zip(*(turn.spent for turn in turns.values()), strict=True))
    seconds = [turn.seconds for turn in turns.values() if turn.seconds is not None]
    liked = [like for turn, _, like in thumbs if turn in turns]
    return RouteTotal(
        rule,
        len(turns),
        sum(turn.reason == StopReason.ANSWERED for turn in turns.values()),
        int(read),
        int(written),
        usd,
        int(unpriced),
        median(seconds) if seconds else None,
        sum(liked),
        len(liked) - sum(liked),
    )


def _chat(address: str) -> str:
    """Without the thread, which not every platform tells of a reaction."""
    one = Address.parse(address)
    return str(Address(one.channel, one.account, one.chat, ""))
