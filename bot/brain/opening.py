"""What is decided once in a turn: its models, where its history begins, what joins the conversation with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.brain.budget import Gauge
from bot.brain.endings import Opened
from bot.brain.history import by_turn
from bot.brain.past import answerable, front_in
from bot.brain.room import history_room
from bot.brain.routing.course import Routes, is_joined, route_in
from bot.brain.skills.active import Skills
from bot.brain.summary import next_front
from bot.brain.toolbox.box import Toolbox
from bot.brain.toolbox.joined import joined_in, used_in
from bot.brain.toolbox.offer import Offer
from bot.brain.turn import Turn
from bot.core.transcript import JoinedRow, RouteRow, Row

COLD_SECONDS: Final = 600.0
"""After so long without a prompt no vendor's cache has it any more: Anthropic keeps one for 5 minutes, OpenAI for 5 to 10."""


class Openings:
    def __init__(self, routes: Routes, skills: Skills, toolbox: Toolbox, offer: Offer, gauge: Gauge) -> None:
        self._routes, self._skills, self._toolbox, self._offer, self._gauge = routes, skills, toolbox, offer, gauge

    async def of(self, turn: Turn, past: Sequence[Row], rows: Sequence[Row]) -> Opened:
        """To be written with the turn's first step; nothing where that is written. What is said meanwhile may make the
        turn private, never the other way round."""
        if (written := route_in(rows)) is not None:
            if written.private or not is_joined(rows):
                return ()
            again = await self._routes.route(turn, rows)
            return (replace(again, front=written.front),) if again.private else ()
        route, before = await self._routes.route(turn, rows), front_in(past)
        turns = answerable(by_turn(past), turn.message.again)
        room = history_room(self._routes.models(turn, route), past, self._gauge)
        route = replace(route, front=next_front(past, turns, room))
        old = joined_in(past)
        is_cut = 0 < before < route.front
        is_cold = bool(past) and rows[0].at - past[-1].at > COLD_SECONDS
        joined = await self._joined(turn, past, old, route, anew=is_cut or is_cold)
        is_other = (joined.skills, joined.tools) != (old.skills, old.tools)
        if is_other or (is_cut and (joined.skills or joined.tools)):
            return (route, joined)  # where the history is cut, also unchanged: nobody may look back so far again
        return (route,)

    async def _joined(
        self, turn: Turn, past: Sequence[Row], before: JoinedRow, route: RouteRow, *, anew: bool
    ) -> JoinedRow:
        new = JoinedRow()
        if turn.message.caller is None:
            new = await self._skills.join(turn.message.text, before) or replace(before, new=())
        tools = await self._toolbox.hot(
            turn.message.text,
            intent=route.intent,
            joined=new.tools,
            used=used_in(past),
            allowed=self._skills.tools(new),
            only=self._offer.ours(turn),
            anew=anew,
        )
        return replace(new, tools=tools)
