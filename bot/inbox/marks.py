"""Reactions that say of a message: keep this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.core.inbound import Reaction
from bot.core.ports import Clock
from bot.core.transcript import MarkRow, Row, UserRow
from bot.core.view import Ref
from bot.store.store import Store

KEEPS: Final = ("❤", "♥", "⭐", "🌟", "👍", "📌")
NAMED: Final = frozenset({"heart", "star", "star2", "+1", "thumbsup", "pushpin"})
"""What Slack calls them; it adds a tone of skin behind two colons."""


def is_keep(emoji: str) -> bool:
    return emoji.startswith(KEEPS) or emoji.strip(":").split("::")[0] in NAMED


class Marks:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def noted(self, reaction: Reaction) -> bool:
        """Whether the reaction marks a turn of the one who reacted, at their message or at the answer, or takes a mark back:
        then it is written down."""
        if not is_keep(reaction.emoji):
            return False
        for turn in await self._turns(reaction):
            rows = await self._store.transcript.turn_rows(turn)
            if _is_of(rows, reaction):
                mark = MarkRow(f"{reaction.sender.identity} {reaction.emoji}", reaction.added)
                await self._store.transcript.append(rows[0].address, turn, self._clock.now(), mark)
                return True
        return False

    async def _turns(self, reaction: Reaction) -> Sequence[str]:
        said = await self._store.inbox.find(reaction.address, "message", reaction.message_id)
        shown = await self._store.parts.turns_at(Ref(reaction.message_id))
        return [*([said.turn] if said is not None and said.turn else []), *shown]


def _is_of(rows: Sequence[Row], reaction: Reaction) -> bool:
    """Not every platform tells in which of a chat's threads somebody reacted."""
    asked = next((row.body for row in rows if isinstance(row.body, UserRow)), None)
    if asked is None or asked.sender.identity != reaction.sender.identity:
        return False
    return reaction.address in (rows[0].address, replace(rows[0].address, thread=""))
