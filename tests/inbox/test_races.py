"""What two things at the same moment must not break: stops, ends, full disks, messages that come again."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from bot.brain.turn import Floor, Turn
from bot.core.address import Address, Sender
from bot.core.inbound import CallerRequest, StopPressed, UserMessage
from bot.core.model import ModelText
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, UserRow
from bot.core.view import Limits
from bot.time.clock import SystemClock
from tests.fakes.channel import FakeChannel
from tests.fakes.provider import calls, says
from tests.inbox.conftest import HERE, OWNER, House, OpenHouse
from tests.inbox.test_lanes import HERE as LANE
from tests.inbox.test_lanes import harness

SUM = ToolCall("c1", "calculate", {"expression": "1+1"})


class HastyClock(SystemClock):
    """Waits a hundredth of what it is asked to."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


async def stop(house: House, number: int = 1) -> None:
    await house.inbox.receive(StopPressed(f"s{number}", HERE, OWNER, 1.0))


async def refuse_writes(house: House, event: str) -> None:
    """From now on the store fails at ``event``, and at nothing else."""
    trigger = f"CREATE TEMP TRIGGER refused BEFORE {event} BEGIN SELECT RAISE(FAIL, 'no'); END"
    await house.store.database._writer.run(lambda db: db.execute(trigger))


async def allow_writes(house: House) -> None:
    await house.store.database._writer.run(lambda db: db.execute("DROP TRIGGER refused"))


async def test_a_stop_while_a_turn_waits_for_a_slot_ends_that_turn(tmp_path: Path) -> None:
    other = Address("web", "main", "other")
    async with harness(tmp_path, limit=1) as house:
        gate = asyncio.Event()
        stopped: list[str] = []

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "runs":
                await gate.wait()
            elif stopping.is_set():
                stopped.append(turn.message.text)

        house.work = work
        await house.say("runs", address=other)
        while "+runs" not in house.order:
            await asyncio.sleep(0.001)
        await house.say("waits")
        while house.lanes.live_turns < 2:
            await asyncio.sleep(0.001)
        assert house.lanes.stop(LANE, lambda turn: True) == 1
        await asyncio.sleep(0.01)
        gate.set()
        await house.idle()
        assert stopped == ["waits"]
        assert await house.store.inbox.unfinished() == []


async def test_a_stop_before_the_first_step_of_a_turn_does_not_block_its_lane(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        await house.say("one")
        while not house.lanes.live_turns:
            await asyncio.sleep(0)
        assert house.lanes.stop(LANE, lambda turn: True) == 1
        await house.say("two")
        await house.idle()
        assert "-two" in house.order


async def test_an_api_message_that_looks_like_a_command_keeps_its_place(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        gate = asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            await gate.wait()

        house.work = work
        await house.say("one")
        asked = UserMessage("9", LANE, OWNER, "/status of what?", 1.0, caller=CallerRequest())
        house.lanes.submit((await house.store.inbox.record(asked, "t9", 1.0)).row)
        await asyncio.sleep(0.02)
        assert house.order == ["+one"]
        gate.set()


async def test_a_stop_that_comes_after_the_answer_is_written_does_not_hide_it(open_house: OpenHouse) -> None:
    slow = FakeChannel(SystemClock(), Limits(4096, "utf16"), strict=False, latency=lambda number: 0.2)
    async with open_house(says("The whole answer."), channel=slow) as house:
        turn = (await house.say("hi")).turn
        async with asyncio.timeout(5):
            while not any(isinstance(row.body, EndRow) for row in await house.store.transcript.turn_rows(turn)):
                await asyncio.sleep(0.002)
        await stop(house)
        await house.idle()
        assert house.shown == ["The whole answer."]
        assert house.ended == [StopReason.ANSWERED]
        assert (await house.outcomes())["1"] == "answered"


async def test_many_messages_at_once_interrupt_a_turn_only_once(open_house: OpenHouse) -> None:
    script = [ModelText("A long story that goes on"), asyncio.Event()]
    async with open_house(script, says("two"), says("three"), when_busy="interrupt") as house:
        await house.say("one")
        async with asyncio.timeout(5):
            while not house.shown:
                await asyncio.sleep(0.002)
        hold = threading.Event()
        await house.say("two", 2)
        busy = asyncio.ensure_future(house.store.database._writer.run(lambda db: hold.wait(5)))
        third = asyncio.ensure_future(house.say("three", 3))
        await asyncio.sleep(0.02)
        hold.set()
        await asyncio.gather(busy, third)
        await house.idle()
        assert (await house.outcomes())["1"] == "stopped"
        assert "restart" not in house.shown[0]


async def test_a_message_stored_just_before_its_delivery_broke_off_is_answered_when_it_comes_again(
    open_house: OpenHouse,
) -> None:
    async with open_house(says("here")) as house:
        await house.store.inbox.record(UserMessage("1", HERE, OWNER, "hi", 1.0), "t1", 1.0)
        receipt = await house.say("hi")
        assert receipt.duplicate and receipt.turn == "t1"
        await house.idle()
        assert house.shown == ["here"]


async def test_a_message_whose_joining_could_not_be_stored_is_not_lost(open_house: OpenHouse) -> None:
    gate = asyncio.Event()
    async with open_house([gate, *calls(SUM)], says("both"), clock=HastyClock()) as house:
        turn = (await house.say("one")).turn
        async with asyncio.timeout(5):
            while not house.provider.requests:
                await asyncio.sleep(0.002)
        await house.say("two", 2)
        await refuse_writes(house, "UPDATE OF turn ON inbox")
        gate.set()
        async with asyncio.timeout(5):
            while not house.trouble:
                await asyncio.sleep(0.002)
        await allow_writes(house)
        await house.idle()
        assert await house.outcomes() == {"1": "answered", "2": "answered"}
        said = [row.body.text for row in await house.store.transcript.turn_rows(turn) if isinstance(row.body, UserRow)]
        assert said == ["one", "two"]


async def test_a_store_that_fails_again_and_again_never_sets_a_message_aside(open_house: OpenHouse) -> None:
    async with open_house(*[says("late")] * 9, clock=HastyClock()) as house:
        await refuse_writes(house, "INSERT ON drafts")
        await house.say("hi")
        async with asyncio.timeout(5):
            while len(house.trouble) < 4:
                await asyncio.sleep(0.002)
        await allow_writes(house)
        await house.idle()
        assert house.shown == ["late"] and house.ended == [StopReason.ANSWERED]


async def test_a_stop_while_the_store_fails_ends_the_turn_once_it_works(open_house: OpenHouse) -> None:
    async with open_house(*[says("never")] * 9, clock=HastyClock()) as house:
        await refuse_writes(house, "INSERT ON drafts")
        await house.say("hi")
        async with asyncio.timeout(5):
            while len(house.trouble) < 3:
                await asyncio.sleep(0.002)
        await stop(house)
        await asyncio.sleep(0.05)
        await allow_writes(house)
        await house.idle()
        assert house.ended == [StopReason.STOPPED] and house.trouble[-1] is None
        assert (await house.outcomes())["1"] == "stopped"


async def test_a_strangers_message_is_not_answered_after_a_crash_before_it_was_refused(open_house: OpenHouse) -> None:
    async with open_house(says("never")) as house:
        stranger = Sender("fake", "666", "Mallory")
        await house.store.inbox.record(UserMessage("1", HERE, stranger, "hi", 1.0), "", 1.0)
        await house.store.inbox.record(UserMessage("2", HERE, stranger, "hi", 1.0), "t2", 1.0)
        assert await house.inbox.resume() == 0
        await house.idle()
        assert house.shown == [] and house.provider.requests == []
        assert await house.outcomes() == {"1": "set aside", "2": "set aside"}
