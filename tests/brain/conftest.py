from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.brain.approvals import Approvals
from bot.brain.calls import Bench
from bot.brain.limits import TurnLimits
from bot.brain.loop import Brain, opening_rows
from bot.brain.policy import Policy
from bot.brain.prompt import Persona
from bot.brain.purse import MoneyLimits, Purse
from bot.brain.skills.active import Skills
from bot.brain.skills.shelf import SkillShelf
from bot.brain.toolbox.box import Toolbox
from bot.brain.turn import Floor, Turn
from bot.core.address import Address, Sender
from bot.core.events import TurnEvent
from bot.core.inbound import UserMessage
from bot.core.model import ModelRef
from bot.core.ports import Provider, Tool
from bot.core.stop import StopReason
from bot.core.view import View
from bot.outbox.fold import fold
from bot.store.store import Store
from bot.store.transcript import Opening
from bot.tools.registry import find_tools
from tests.fakes.clock import FakeClock
from tests.fakes.provider import FakeProvider
from tests.fakes.routes import FakeRoutes

HERE = Address("web", "main", "c")
OWNER = Sender("web", "owner", "Owner")
FIRST = ModelRef("a", "big")
SECOND = ModelRef("b", "small")


def message(text: str = "hi", number: int = 1, sender: Sender = OWNER, address: Address = HERE) -> UserMessage:
    return UserMessage(str(number), address, sender, text, 1.0)


@dataclass
class House:
    """A Brain with what it needs; ``answer`` runs one turn and folds what it emits."""

    store: Store
    clock: FakeClock
    provider: FakeProvider
    approvals: Approvals
    brain: Brain
    workspace: Path
    chain: list[ModelRef]
    tools: Mapping[str, Tool]
    routes: FakeRoutes
    events: list[TurnEvent] = field(default_factory=list)
    steer: Callable[[bool], Awaitable[int]] | None = None
    parked: int = 0

    async def turn(self, text: str = "hi", number: int = 1, **facts: Any) -> Turn:
        said = message(text, number)
        turn = Turn(f"turn{number}", said, "en", **facts)
        row = (await self.store.inbox.record(said, turn.id, self.clock.now())).row
        await self.store.transcript.begin(row.id, said.address, turn.id, self.clock.now(), *opening_rows(turn))
        return turn

    async def answer(self, turn: Turn) -> StopReason:
        floor = Floor(self.steer or self._none, self._parked)
        return await self.brain.answer(turn, self.events.append, floor, Opening(1))

    @property
    def view(self) -> View:
        view = View("t")
        for event in self.events:
            view = fold(view, event, "en")
        return view

    async def _none(self, first: bool) -> int:
        return 0

    @asynccontextmanager
    async def _parked(self) -> AsyncIterator[None]:
        self.parked += 1
        yield
        self.parked -= 1


def brain_over(
    store: Store,
    folder: Path,
    provider: Provider,
    routes: FakeRoutes,
    clock: FakeClock,
    approvals: Approvals,
    tools: Mapping[str, Tool],
    approve: Mapping[str, Any] | None = None,
    limits: TurnLimits | None = None,
    money: MoneyLimits | None = None,
) -> Brain:
    """A Brain over any provider; the tests of real ones build theirs with it as well."""
    return Brain(
        provider=provider,
        routes=routes,
        persona=lambda: Persona("You are a test.", "small"),
        bench=Bench(Toolbox(tools.values()), folder / "workspace", "UTC"),
        policy=Policy({"*": "ask"} if approve is None else approve),
        approvals=approvals,
        store=store,
        clock=clock,
        limits=limits or TurnLimits(),
        purse=Purse(store.usage, money or MoneyLimits(), clock, "UTC"),
        skills=Skills(SkillShelf([folder / "skills"], clock), None),
    )


MakeHouse = Callable[..., House]


@pytest.fixture
async def make_house(tmp_path: Path) -> AsyncIterator[MakeHouse]:
    async with Store.open(tmp_path / "data") as store:

        def make(
            *scripts: Any,
            limits: TurnLimits | None = None,
            money: MoneyLimits | None = None,
            approve: Mapping[str, Any] | None = None,
            tools: Mapping[str, Tool] | None = None,
        ) -> House:
            clock, provider = FakeClock(), FakeProvider(*scripts)
            tools = find_tools() if tools is None else tools
            approvals = Approvals(store.approvals, clock, lambda who: who.id == "owner", 30)
            chain = [FIRST, SECOND]
            routes = FakeRoutes(chain)
            brain = brain_over(store, tmp_path, provider, routes, clock, approvals, tools, approve, limits, money)
            return House(store, clock, provider, approvals, brain, tmp_path / "workspace", chain, tools, routes)

        yield make
