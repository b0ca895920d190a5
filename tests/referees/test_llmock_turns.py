"""A third party's verdict on whole turns: an answer that broke after it was shown is asked for again by the Brain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
from bot.core.stop import StopReason
from bot.core.view import View
from bot.outbox.fold import fold
from bot.store.store import Store
from bot.store.transcript import Opening
from bot.time.clock import SystemClock
from bot.tools.registry import find_tools
from tests.fakes.routes import FakeRoutes
from tests.referees.conftest import Wire
from tests.referees.llmock import PATHS, Llmock, breaks, reply
from tests.referees.wired import LONG, Wired

pytestmark = pytest.mark.timeout(func_only=True)

HERE, OWNER = Address("web", "main", "c"), Sender("web", "owner", "Owner")
IN_THE_TEXT = 4


async def answered(vendor: Wired, data_dir: Path) -> tuple[StopReason, View]:
    """One turn of the real Brain over the real store, as the person sees it."""
    clock, events = SystemClock(), list[TurnEvent]()
    async with Store.open(data_dir) as store:
        model = ModelRef(vendor.kind, vendor.model, max_tokens=100)
        brain = Brain(
            provider=vendor.models,
            routes=FakeRoutes([model]),
            persona=lambda: Persona("You are a bowerbird.", "small"),
            bench=Bench(Toolbox(find_tools().values()), data_dir / "workspace", "UTC"),
            policy=Policy({"*": "allow"}),
            approvals=Approvals(store.approvals, clock, lambda who: True, 30),
            store=store,
            clock=clock,
            limits=TurnLimits(),
            purse=Purse(store.usage, MoneyLimits(), clock, "UTC"),
            skills=Skills(SkillShelf([], clock), None),
        )
        turn = Turn("turn1", UserMessage("1", HERE, OWNER, "What do you collect?", clock.now()), "en")
        row = (await store.inbox.record(turn.message, turn.id, clock.now())).row
        await store.transcript.begin(row.id, HERE, turn.id, clock.now(), *opening_rows(turn))
        reason = await brain.answer(turn, events.append, Floor(_nothing_to_steer, _parked), Opening(1))
    view = View("turn1")
    for event in events:
        view = fold(view, event, "en")
    return reason, view


async def answered_at_once(vendors: list[Wired], folder: Path) -> list[tuple[StopReason, View]]:
    async with asyncio.TaskGroup() as group:
        turns = [group.create_task(answered(vendor, folder / vendor.kind)) for vendor in vendors]
    return [turn.result() for turn in turns]


def of(kind: str) -> dict[str, Any]:
    return {"match": {"provider": kind}}


@pytest.mark.parametrize("break_off", ["truncate", "malformed", "disconnect", "stall"])
async def test_an_answer_that_breaks_in_its_text_is_shown_whole_and_once(
    llmock: Llmock, wire: Wire, tmp_path: Path, break_off: str
) -> None:
    await llmock.script(reply(LONG, times=None), *(breaks(break_off, IN_THE_TEXT) | of(kind) for kind in PATHS))
    vendors = [wire(kind, llmock.base_url(kind), SystemClock(), silence_seconds=1.0) for kind in PATHS]
    for reason, view in await answered_at_once(vendors, tmp_path):
        assert (reason, view.text) == (StopReason.ANSWERED, LONG)
    assert len(await llmock.attempts()) == 4
    # llmock may notice that the garbage was not read on only after the Brain, which does not pause, has asked again;
    # then it takes that for another question and the garbage for an answer.
    excused = {"malformed_chunk_ignored"} if break_off == "malformed" else set()
    assert set(await llmock.complaints()) <= excused


@pytest.mark.parametrize(("kind", "in_the_arguments"), [("anthropic", 9), ("openai", 6)])
async def test_a_call_that_breaks_off_runs_once_it_is_whole(
    llmock: Llmock, wire: Wire, tmp_path: Path, kind: str, in_the_arguments: int
) -> None:
    sum_of = [{"name": "calculate", "arguments": {"expression": "17*23"}}]
    await llmock.script(
        breaks("truncate", in_the_arguments), reply("Let me see.", tool_calls=sum_of, times=2), reply(LONG)
    )
    reason, view = await answered(wire(kind, llmock.base_url(kind), SystemClock()), tmp_path)
    assert (reason, view.text) == (StopReason.ANSWERED, f"Let me see.\n\n{LONG}")
    assert [(line.name, line.error) for line in view.tools] == [("calculate", False)]
    assert [each["fault"] is None for each in await llmock.attempts()] == [False, True, True]
    assert await llmock.complaints() == []


async def _nothing_to_steer(first: bool) -> int:
    return 0


@asynccontextmanager
async def _parked() -> AsyncIterator[None]:
    yield
