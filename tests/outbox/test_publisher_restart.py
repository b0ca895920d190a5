"""A process that dies, is stopped or starts again, and a screen that stays right."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.core.errors import ChannelUnreachable, RateLimited, StoreFull
from bot.core.events import ApprovalAsked, Resumed, TextDelta, ThinkingStarted, TurnEnded
from bot.core.stop import StopReason
from bot.core.texts import say
from bot.core.view import ApprovalCard, Limits, Ref
from bot.outbox.ledger import Ledger
from bot.outbox.publisher import Publisher
from bot.store.parts import PartRecord
from bot.store.store import Store
from tests.fakes.channel import HERE, Fault
from tests.fakes.ledger import FakeLedger
from tests.outbox.stage import TURN, Stage

SMALL = Limits(size=300, unit="utf16", pace=1.0)
TOKENS = [f"token{number} " for number in range(120)]
TEXT = "".join(TOKENS).strip()
COPIED = say("copy_above", "en")
CARD = ApprovalCard("c1", "1", "shell", "run", "why", '{"cmd": "ls"}', 2_000_000_000.0)


def words(*texts: str) -> list[str]:
    return " ".join(texts).split()


class Killed(Exception):
    """The process died here: what was durable is durable, the rest is gone."""


@dataclass
class MortalLedger:
    """Dies before or after its ``last``-th write."""

    inner: Ledger
    last: int
    after: bool
    writes: int = field(default=0)

    async def _mortal(self, write: str, *args: object) -> None:
        self.writes += 1
        if self.writes == self.last and not self.after:
            raise Killed
        await getattr(self.inner, write)(*args)
        if self.writes == self.last:
            raise Killed

    async def intend(self, turn: str, index: int, start: int, text_hash: str) -> None:
        await self._mortal("intend", turn, index, start, text_hash)

    async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
        await self._mortal("record", turn, index, ref, text_hash)

    async def seal(self, turn: str, index: int, end: int) -> None:
        await self._mortal("seal", turn, index, end)

    async def drop(self, turn: str, index: int) -> None:
        await self._mortal("drop", turn, index)

    async def load(self, turn: str) -> Sequence[PartRecord]:
        return await self.inner.load(turn)


async def until_killed(stage: Stage) -> bool:
    """Whether the process died before the turn was over."""
    killed = False
    try:
        async with stage.running():
            await stage.stream(TOKENS, 12)
            stage.end()
            await stage.clock.advance(30)
    except* Killed:
        killed = True
    return killed


async def resumed(stage: Stage) -> None:
    stage.restart()
    async with stage.running():
        stage.emit(Resumed(TEXT))
        stage.end()
        await stage.clock.advance(60)


@pytest.mark.parametrize("nonces", [False, True])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("last", range(1, 15))
async def test_a_process_that_dies_at_any_write_leaves_a_turn_that_ends_right(
    last: int, after: bool, nonces: bool
) -> None:
    stage = Stage(limits=SMALL, nonces=nonces)
    durable = stage.ledger
    stage.ledger = MortalLedger(durable, last, after)  # type: ignore[assignment]
    stage.publisher = stage.new_publisher()
    assert await until_killed(stage)
    stage.ledger = durable
    await resumed(stage)
    assert stage.result() == "delivered"
    leftover = len(stage.channel.texts) - len([row for row in await durable.load(TURN) if row.ref])
    assert leftover <= (0 if nonces else 1)
    assert leftover <= stage.publisher.repeated_sends
    shown = [stage.channel.messages[row.ref.message_id].text for row in await durable.load(TURN) if row.ref]
    assert words(*shown) == words(TEXT, COPIED if stage.publisher.repeated_sends and not nonces else "")
    assert all(len(text) <= 300 for text in shown)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(11))
async def test_a_process_that_dies_at_any_call_leaves_a_turn_that_ends_right(call: int, after: bool) -> None:
    """Before the platform did it, or after it did and before anybody knew."""
    stage = Stage(limits=SMALL)
    stage.channel.fault = lambda number: Fault(Killed(), after) if number == call else None  # type: ignore[arg-type]
    assert await until_killed(stage)
    stage.channel.fault = lambda number: None
    await resumed(stage)
    assert stage.result() == "delivered"
    rows = [row for row in await stage.ledger.load(TURN) if row.ref]
    was_send = stage.channel.calls[call].action == "send"
    shown = [stage.channel.messages[row.ref.message_id].text for row in rows if row.ref]
    assert words(*shown) == words(TEXT, COPIED if was_send else "")
    assert stage.publisher.repeated_sends == was_send
    assert len(stage.channel.texts) == len(rows) + (was_send and after)


@pytest.mark.parametrize("seconds", [0.7, 1.3, 2.1, 3.4, 5.2, 8.8, 10.1, 12.3])
async def test_a_publisher_that_is_cancelled_at_any_time_leaves_a_sound_ledger(seconds: float) -> None:
    stage = Stage(limits=SMALL, latency=lambda number: 0.8, nonces=True)
    async with stage.running():
        for token in TOKENS:
            stage.say(token)
            await stage.clock.advance(1 / 12)
            if stage.clock.monotonic() > seconds:
                break
    rows = await stage.ledger.load(TURN)
    assert all(row.end is not None for row in rows[:-1])
    await resumed(stage)
    assert " ".join(stage.channel.texts) == TEXT


async def test_what_was_accepted_is_recorded_even_if_the_turn_is_cancelled_right_then() -> None:
    stage = Stage()
    reached = asyncio.Event()

    @dataclass
    class SlowLedger(FakeLedger):
        tries: int = 0

        async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
            self.tries += 1
            if self.tries == 1:
                reached.set()
                await asyncio.sleep(3600)
            await super().record(turn, index, ref, text_hash)

    ledger = stage.ledger = SlowLedger()
    stage.publisher = stage.new_publisher()
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await reached.wait()
    assert [row.ref for row in await ledger.load(TURN)] == [Ref("1")]


async def test_a_finished_turn_is_not_touched_again_after_a_restart() -> None:
    stage = Stage(limits=SMALL)
    async with stage.running():
        await stage.stream(TOKENS, 12)
        stage.end()
        await stage.clock.advance(30)
    calls = len(stage.channel.calls)
    await resumed(stage)
    assert stage.result() == "delivered"
    assert len(stage.channel.calls) == calls


async def test_a_preview_is_shown_anew_after_a_restart_because_nobody_knows_what_it_shows() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await stage.clock.advance(2)
    stage.restart()
    async with stage.running():
        stage.emit(Resumed("Some words that are long enough to be shown."), ThinkingStarted())
        await stage.clock.advance(2)
    assert [call.action for call in stage.channel.calls] == ["send", "edit"]


async def test_nothing_is_called_after_a_restart_before_the_turn_has_resumed() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await stage.clock.advance(2)
    stage.restart()
    async with stage.running():
        await stage.clock.advance(60)
    assert len(stage.channel.calls) == 1


async def closed(stage: Stage, note: str = "I am restarting.") -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(stage.publisher.close(note))
        await stage.clock.advance(10)


async def test_at_the_end_of_the_process_the_text_stands_with_a_note_and_the_turn_goes_on_in_the_same_message() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("The first half of a long answer, and ")
        stage.emit(ApprovalAsked(CARD))
        await stage.clock.advance(2)
        stage.say("some more of it.")
    await closed(stage)
    part = stage.channel.messages["1"].part
    assert part.final and part.view.stop is None
    assert part.rendered.text.startswith("The first half of a long answer, and some more of it.")
    assert part.rendered.text.endswith("\n\nI am restarting.")
    assert [button.payload for button in part.buttons] == ["b:c1:once", "b:c1:chat", "b:c1:always", "b:c1:deny"]
    assert [(row.end, row.accepted_hash) for row in await stage.ledger.load(TURN)] == [(None, "")]
    await resumed(stage)
    assert stage.channel.texts == [TEXT]
    assert stage.channel.count("send") == 1


async def test_where_nothing_is_on_the_screen_a_restart_is_not_announced() -> None:
    stage = Stage()
    async with stage.running():
        stage.emit(ThinkingStarted())
        await stage.clock.advance(1)
    await closed(stage)
    assert stage.channel.calls == []


async def test_a_turn_that_had_ended_gets_its_last_text_and_no_note() -> None:
    stage = Stage(limits=Limits(size=4096, pace=3.0))
    async with stage.running():
        stage.say("Some words that are long enough to be shown.")
        await stage.clock.advance(1)
        stage.say(" The end.")
        stage.end()
        await stage.clock.advance(0)
    await closed(stage)
    assert stage.channel.texts == ["Some words that are long enough to be shown. The end."]
    rows = await stage.ledger.load(TURN)
    calls = len(stage.channel.calls)
    assert rows[0].accepted_hash
    stage.restart()
    async with stage.running():
        stage.emit(Resumed("Some words that are long enough to be shown. The end."))
        stage.end(StopReason.ANSWERED)
        await stage.clock.advance(10)
    assert len(stage.channel.calls) == calls


async def test_the_note_is_given_up_at_the_first_failure() -> None:
    for error in (RateLimited("slow down", 1.0), ChannelUnreachable("down", maybe_done=False)):
        stage = Stage()
        async with stage.running():
            stage.say("Some words that are long enough to be shown.")
            await stage.clock.advance(2)
        stage.channel.fault = lambda number, error=error: Fault(error)  # type: ignore[misc]
        await closed(stage)
        assert len(stage.channel.calls) == 2


async def test_a_send_that_was_cut_off_by_the_end_of_the_process_is_not_repeated_for_the_note() -> None:
    stage = Stage(limits=SMALL, latency=lambda number: 1.0)
    async with stage.running():
        stage.say("word " * 100)
        await stage.clock.advance(1.7)
    assert [call.action for call in stage.channel.calls] == ["send", "send"]
    await closed(stage)
    assert len(stage.channel.calls) == 2


async def test_a_part_that_still_waited_for_its_turn_was_not_sent() -> None:
    stage = Stage(fault=lambda number: Fault(RateLimited("slow down", 60)))
    async with stage.running():
        stage.say("Hi.")
        stage.end()
        await stage.clock.advance(5)
        stage.channel.fault = lambda number: None
    assert stage.ledger.log == [("intend", 0), ("drop", 0)]
    stage.publisher = stage.new_publisher()
    async with stage.running():
        stage.emit(Resumed("Hi."))
        stage.end()
        await stage.clock.advance(5)
    assert stage.ledger.log == [("intend", 0), ("drop", 0)]


@asynccontextmanager
async def real_ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    async with Store.open(tmp_path) as store:
        yield store.parts


async def test_the_stores_own_ledger_carries_a_turn_over_a_restart(tmp_path: Path) -> None:
    stage = Stage(limits=Limits(size=300, unit="utf16", pace=0))
    async with real_ledger(tmp_path) as ledger:
        stage.ledger = ledger  # type: ignore[assignment]
        stage.publisher = stage.new_publisher()
        stage.say(TEXT[:500])
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            running = group.create_task(stage.publisher.run())
            while len(stage.channel.messages) < 2:
                await asyncio.sleep(0.01)
            running.cancel()
    async with real_ledger(tmp_path) as ledger:
        stage.ledger = ledger  # type: ignore[assignment]
        stage.restart()
        stage.emit(Resumed(TEXT))
        stage.end()
        async with asyncio.timeout(10):
            outcome = await stage.publisher.run()
        assert outcome.delivered
        rows = await ledger.load(TURN)
    assert [row.start for row in rows[1:]] == [row.end for row in rows[:-1]]
    assert " ".join(stage.channel.texts) == TEXT
    assert stage.channel.violations == []


async def test_a_send_that_is_on_its_way_when_the_turn_is_cancelled_is_remembered_and_not_repeated() -> None:
    stage = Stage(latency=lambda number: 0.8)
    async with stage.running() as task:
        stage.say("A beginning that is long enough to be shown.")
        await stage.clock.settle()
        assert [call.action for call in stage.channel.calls] == ["send"]
        task.cancel()
        await stage.clock.advance(1)
    assert [row.ref for row in await stage.ledger.load(TURN)] == [Ref("1")]
    await resumed(stage)
    assert len(stage.channel.texts) == 1 and stage.publisher.repeated_sends == 0


class FullOnce(FakeLedger):
    """Has no room for the first thing that the platform accepted."""

    full = True

    async def record(self, turn: str, index: int, ref: Ref, text_hash: str) -> None:
        if self.full:
            self.full = False
            raise StoreFull("the disk is full")
        await super().record(turn, index, ref, text_hash)


async def test_what_the_store_could_not_note_is_still_known_to_the_next_publisher() -> None:
    stage = Stage()
    stage.ledger = FullOnce()
    first = stage.new_publisher()
    first.emit(TextDelta("The whole answer of this turn."))
    with pytest.raises(StoreFull):
        await first.run()
    second = Publisher(stage.channel, stage.governor, stage.ledger, stage.clock, HERE, TURN, "en", screen=first.screen)
    second.emit(Resumed("The whole answer of this turn."))
    second.emit(TurnEnded(StopReason.ANSWERED))
    async with asyncio.TaskGroup() as group:
        group.create_task(second.run())
        await stage.clock.advance(5)
    assert stage.channel.texts == ["The whole answer of this turn."] and stage.channel.count("send") == 1
