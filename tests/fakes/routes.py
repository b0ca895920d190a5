"""Routes that always lead to the same models."""

from __future__ import annotations

from collections.abc import Sequence

from bot.brain.turn import Turn
from bot.core.model import ModelRef
from bot.core.transcript import RouteRow, Row


class FakeRoutes:
    """Implements ``bot.brain.routing.course.Routes``."""

    def __init__(self, models: Sequence[ModelRef]) -> None:
        self.chain = models
        self.row: RouteRow | None = None

    async def route(self, turn: Turn, rows: Sequence[Row]) -> RouteRow:
        return self.row or RouteRow("", "", "", "default", tuple(map(str, self.chain)))

    def models(self, turn: Turn, row: RouteRow) -> Sequence[ModelRef]:
        return self.chain

    def near(self, model: ModelRef) -> bool:
        return model.provider == "local"
