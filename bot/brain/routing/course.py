"""The seam between a turn and its routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from bot.brain.turn import Turn
from bot.core.model import ModelRef
from bot.core.texts import say
from bot.core.transcript import RouteRow, Row, UserRow

PICKED: Final = "picked with /model"
"""What decides where the person picked the model: it is never replaced by another."""


class Routes(Protocol):
    """Chooses the models of turns."""

    async def route(self, turn: Turn, rows: Sequence[Row]) -> RouteRow:
        """Decide, from the turn's rows so far; the same rows give the same decision while the same models can be asked."""
        ...

    def models(self, turn: Turn, row: RouteRow) -> Sequence[ModelRef]:
        """Those of a decision that can be asked now, the one wanted most first."""
        ...

    def near(self, model: ModelRef) -> bool:
        """Whether the model answers on this machine or network."""
        ...


def why_none(row: RouteRow, language: str) -> str:
    """The sentence for a turn that none of the models it was given can answer; "" where nothing is configured at all."""
    if row.private:
        return say("no_private_model", language)
    return say("no_picked_model", language, model=row.models[0]) if row.rule == PICKED else ""


def route_in(rows: Sequence[Row]) -> RouteRow | None:
    """The newest decision that was written for the turn of these rows."""
    return next((row.body for row in reversed(rows) if isinstance(row.body, RouteRow)), None)


def is_joined(rows: Sequence[Row]) -> bool:
    """Whether something was said since the turn's models were chosen."""
    bodies = [type(row.body) for row in rows]
    return RouteRow in bodies and UserRow in bodies[len(bodies) - bodies[::-1].index(RouteRow) :]


def public(rows: Sequence[Row]) -> Sequence[Row]:
    """Without the turns that had to stay nearby: they are no history for models elsewhere either."""
    private = {row.turn for row in rows if isinstance(row.body, RouteRow) and row.body.private}
    return [row for row in rows if row.turn not in private] if private else rows
