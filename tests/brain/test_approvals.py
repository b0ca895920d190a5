"""Every question to a person ends in one way, which is told in one line of the log and counted once."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.brain.approvals import Approvals
from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.inbound import ButtonPress, UserMessage
from bot.core.texts import say
from bot.core.tool import Effect, ToolCall, ToolSpec
from bot.store.approvals import Approval
from bot.store.store import Store
from tests.fakes.clock import FakeClock

HERE = Address("telegram", "main", "-1001")
ANN = Sender("telegram", "7", "Ann")
BOB = Sender("telegram", "8", "Bob")
EVE = Sender("telegram", "9", "Eve")
SPEC = ToolSpec("note_write", "Notes.", {}, Effect.WRITE)
OWN = ToolSpec("remind", "Reminds.", {}, Effect.WRITE, own_reach=True)


class Desk:
    """Approvals of a turn that Bob asked for; Ann is the owner."""

    def __init__(self, store: Store) -> None:
        self.clock, self.counted = FakeClock(), Counter[str]()
        self.approvals = Approvals(store.approvals, self.clock, lambda who: who.id == "7", 30, self._count)
        self.turn = Turn("t1", UserMessage("1", HERE, BOB, "s3cret words", 1.0), "en")

    def _count(self, decision: str) -> None:
        self.counted[decision] += 1

    async def ask(self, spec: ToolSpec = SPEC, number: int = 1) -> Approval:
        call = ToolCall(f"c{number}", spec.name, {"text": "s3cret milk"})
        return await self.approvals.ask(self.turn, call, spec, "This tool writes to your files.")

    async def press(self, approval: Approval, who: Sender, verb: str) -> str:
        payload = f"b:{approval.card.id}:{verb}"
        return await self.approvals.decide(ButtonPress("p", HERE, who, payload, 1.0), "en")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Store.open(tmp_path) as store:
        yield Desk(store)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "bot.brain.approvals")
    return caplog


@pytest.mark.parametrize("verb", ["once", "chat", "always", "deny"])
async def test_a_decision_is_told_and_counted_once_however_often_it_is_pressed(
    verb: str, desk: Desk, told: pytest.LogCaptureFixture
) -> None:
    approval = await desk.ask()
    assert await desk.press(approval, ANN, verb) == say(f"decision_{verb}")
    for late in ("once", "deny"):
        assert await desk.press(approval, ANN, late) == say("press_decided", decision=say(f"decision_{verb}"))
    assert desk.counted == {verb: 1}
    [line] = told.messages
    assert approval.card.id in line and "note_write" in line and line.endswith(f"{verb}, by telegram:7")
    assert "s3cret" not in told.text and str(HERE) in line


async def test_b089_a_press_by_somebody_else_is_told_and_changes_nothing(
    desk: Desk, told: pytest.LogCaptureFixture
) -> None:
    approval = await desk.ask()
    for who in (EVE, BOB):
        assert await desk.press(approval, who, "once") == say("press_not_yours")
    assert desk.counted == {"not_allowed": 2}
    assert [line.rpartition(": ")[2] for line in told.messages] == [
        "not_allowed, by telegram:9",
        "not_allowed, by telegram:8",
    ]
    assert await desk.press(approval, ANN, "once") == say("decision_once")
    own = await desk.ask(OWN, 2)
    assert await desk.press(own, BOB, "once") == say("decision_once"), "what stays within the asker's reach"


@pytest.mark.parametrize("waiting", [False, True])
async def test_b099_a_time_that_is_up_is_no_denial(waiting: bool, desk: Desk, told: pytest.LogCaptureFixture) -> None:
    approval = await desk.ask()
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(desk.approvals.wait(approval)) if waiting else None
        await desk.clock.advance(30 * 60)
        while ended is not None and not ended.done():  # it may not have been asleep yet: the store is read in a thread
            await asyncio.sleep(0.005)
            await desk.clock.advance(1)
        assert await desk.press(approval, ANN, "once") in (
            say("decision_expired"),
            say("press_decided", decision=say("decision_expired")),
        )
    assert ended is None or ended.result().card.decision == "expired"
    assert desk.counted == {"expired": 1}
    assert [line.rpartition(": ")[2] for line in told.messages] == ["expired"]


async def test_questions_of_a_turn_that_is_over_are_void(desk: Desk, told: pytest.LogCaptureFixture) -> None:
    decided, _ = await desk.ask(), await desk.ask(number=2)
    await desk.press(decided, ANN, "deny")
    for _ in range(2):
        await desk.approvals.void("t1")
    assert desk.counted == {"deny": 1, "void": 1} and len(told.messages) == 2
