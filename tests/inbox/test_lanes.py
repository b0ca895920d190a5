"""Order within a chat, none lost, parking, stopping, and lanes that die when idle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.brain.turn import Floor, Turn
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.inbox.admission import Admission
from bot.inbox.lanes import Lanes, WhenBusy
from bot.store.inbox import InboxRow
from bot.store.store import Store
from tests.fakes.clock import FakeClock

HERE = Address("web", "main", "c")
OWNER = Sender("web", "owner")
Work = Callable[[Turn, Floor, asyncio.Event], Awaitable[None]]


class Harness:
    """Lanes whose turns do what the test says; ``order`` notes starts and ends."""

    def __init__(self, store: Store, group: asyncio.TaskGroup, when_busy: WhenBusy, limit: int) -> None:
        self.store, self.order = store, list[str]()
        self.work: Work = self.nothing
        self.number = 0
        self.clock = FakeClock()
        self.lanes = Lanes(
            group=group,
            run=self.run,
            turn_of=lambda row, message: Turn(row.turn, message, "en"),
            transcript=store.transcript,
            clock=self.clock,
            admission=Admission(limit),
            when_busy=when_busy,
        )

    async def nothing(self, turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
        await asyncio.sleep(0)

    async def run(self, row: InboxRow, turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
        text = turn.message.text
        self.order.append(f"+{text}")
        try:
            await self.work(turn, floor, stopping)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not stopping.is_set() or task is None:
                raise
            task.uncancel()
            self.order.append(f"!{text}")
        self.order.append(f"-{text}")
        await self.store.inbox.finish_turn(turn.id, "answered", 1.0)

    async def say(self, text: str, sender: Sender = OWNER, address: Address = HERE) -> None:
        self.number += 1
        said = UserMessage(str(self.number), address, sender, text, 1.0)
        self.lanes.submit((await self.store.inbox.record(said, f"t{self.number}", 1.0)).row)

    async def idle(self) -> None:
        async with asyncio.timeout(5):
            while self.lanes.live_lanes:
                await asyncio.sleep(0.001)


@asynccontextmanager
async def harness(folder: Path, when_busy: WhenBusy = "queue", limit: int = 256) -> AsyncIterator[Harness]:
    async with Store.open(folder) as store, asyncio.TaskGroup() as group:
        made = Harness(store, group, when_busy, limit)
        yield made
        await made.idle()


async def test_b065_messages_of_a_chat_are_answered_in_order_and_none_is_lost(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        for n in range(6):
            await house.say(str(n))
        await house.idle()
        assert house.order == [f"{sign}{n}" for n in range(6) for sign in "+-"]
        assert await house.store.inbox.unfinished() == []


async def test_chats_do_not_wait_for_each_other(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        gate = asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "slow":
                await gate.wait()

        house.work = work
        await house.say("slow")
        await house.say("quick", address=Address("web", "main", "other"))
        while "-quick" not in house.order:
            await asyncio.sleep(0.001)
        assert "-slow" not in house.order
        gate.set()


async def test_b087_a_parked_turn_lets_the_chat_go_on_and_takes_its_place_again(tmp_path: Path) -> None:
    async with harness(tmp_path, limit=1) as house:
        decided = asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "asks":
                async with floor.parked():
                    await decided.wait()
                house.order.append("resumed")

        house.work = work
        await house.say("asks")
        await house.say("hi")
        while "-hi" not in house.order:
            await asyncio.sleep(0.001)
        decided.set()
        await house.idle()
        assert house.order == ["+asks", "+hi", "-hi", "resumed", "-asks"]


async def test_a_resumed_turn_waits_for_the_one_that_runs_now(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        decided, gate = asyncio.Event(), asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "asks":
                async with floor.parked():
                    await decided.wait()
                house.order.append("resumed")
            else:
                await gate.wait()

        house.work = work
        await house.say("asks")
        await house.say("second")
        while "+second" not in house.order:
            await asyncio.sleep(0.001)
        decided.set()
        await asyncio.sleep(0.01)
        assert "resumed" not in house.order
        gate.set()
        await house.idle()
        assert house.order[-3:] == ["-second", "resumed", "-asks"]


async def test_messages_steer_a_running_turn_up_to_the_first_that_must_stand_alone(tmp_path: Path) -> None:
    async with harness(tmp_path, "steer") as house:
        begun, arrived = asyncio.Event(), asyncio.Event()
        joined: list[int] = []

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "one":
                begun.set()
                await arrived.wait()
                joined.append(await floor.steer(False))

        house.work = work
        await house.say("one")
        await begun.wait()
        await house.say("two")
        await house.say("three")
        await house.say("/new")
        await house.say("four")
        await house.say("other", Sender("web", "someone"))
        arrived.set()
        await house.idle()
        assert joined == [2]
        assert [entry for entry in house.order if entry[0] == "+"] == ["+one", "+/new", "+four", "+other"]
        assert [row.turn for row in await house.store.transcript.rows(HERE, 10)] == ["t1", "t1"]
        assert await house.store.inbox.unfinished() == []


async def test_interrupt_stops_the_running_turn_for_the_same_persons_next_message(tmp_path: Path) -> None:
    async with harness(tmp_path, "interrupt") as house:

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "first":
                await asyncio.Event().wait()

        house.work = work
        await house.say("first")
        while "+first" not in house.order:
            await asyncio.sleep(0.001)
        await house.say("second")
        await house.idle()
        assert house.order == ["+first", "!first", "-first", "+second", "-second"]


async def test_collect_waits_a_moment_and_answers_what_came_together(tmp_path: Path) -> None:
    async with harness(tmp_path, "collect") as house:
        joined: list[int] = []

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            joined.append(await floor.steer(True))

        house.work = work
        await house.say("one")
        await house.say("two")
        await asyncio.sleep(0.02)
        await house.clock.advance(0.6)
        await house.idle()
        assert joined == [1]


async def test_stopping_reaches_running_and_parked_turns_but_not_waiting_messages(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "asks":
                async with floor.parked():
                    await asyncio.Event().wait()
            elif turn.message.text == "runs":
                await asyncio.Event().wait()

        house.work = work
        for text in ("asks", "runs", "waits"):
            await house.say(text)
        while "+runs" not in house.order:
            await asyncio.sleep(0.001)
        assert house.lanes.stop(HERE, lambda turn: True) == 2
        assert house.lanes.stop(HERE, lambda turn: True) == 0
        await house.idle()
        assert {"!asks", "!runs", "-waits"} <= set(house.order) and "!waits" not in house.order


async def test_commands_that_need_no_order_are_answered_beside_a_running_turn(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        gate = asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            if turn.message.text == "long":
                await gate.wait()

        house.work = work
        await house.say("long")
        for command in ("/status", "/unknown", "/new"):
            await house.say(command)
        while "-/status" not in house.order or "-/unknown" not in house.order:
            await asyncio.sleep(0.001)
        assert "+/new" not in house.order
        gate.set()


async def test_a_house_that_closes_starts_nothing_more(tmp_path: Path) -> None:
    async with harness(tmp_path) as house:
        house.lanes.close()
        await house.say("late")
        await asyncio.sleep(0.01)
        assert house.order == []
        assert len(await house.store.inbox.unfinished()) == 1


@pytest.mark.parametrize("chats", [50])
async def test_lanes_die_when_idle(tmp_path: Path, chats: int) -> None:
    async with harness(tmp_path) as house:
        for n in range(chats):
            await house.say("hi", address=Address("web", "main", str(n)))
        await house.idle()
        assert house.lanes.live_turns == 0


async def test_an_answer_that_a_slow_platform_has_not_shown_yet_holds_up_nobody_else(tmp_path: Path) -> None:
    async with harness(tmp_path, limit=1) as house:
        shown = asyncio.Event()

        async def work(turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
            floor.answered()
            if turn.message.text == "unseen":
                await shown.wait()

        house.work = work
        await house.say("unseen")
        await house.say("behind it")
        await house.say("elsewhere", address=Address("web", "main", "other"))
        while "-elsewhere" not in house.order:
            await asyncio.sleep(0.001)
        assert "+behind it" not in house.order
        shown.set()
        await house.idle()
        assert house.order[-1] == "-behind it"
