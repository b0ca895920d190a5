"""Owners hear of trouble in their own chats: what lasts, once a day, over restarts as well."""

from __future__ import annotations

from pathlib import Path

from bot.app.alarm import Alarm
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.inbox.access import Access
from bot.inbox.announcements import Announcements
from bot.inbox.gate import Gate
from bot.store.inbox import InboxRow
from bot.store.store import Store
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes

HOME = Address("fake", "main", "7")


class House:
    def __init__(self, store: Store, notes: MemoryNotes) -> None:
        self.clock, self.told, self.troubles = FakeClock(), list[InboxRow](), {"en": "", "zh": ""}
        gate = Gate({"fake": Access(owners=("7", "9"))})
        announcements = Announcements(store.inbox, self.clock, self.told.append)
        about = lambda: {"troubles": self.troubles}  # noqa: E731
        self.alarm = Alarm(about, lambda: ["fake"], gate, store.inbox, announcements, notes, self.clock, "auto")
        self.store = store

    async def pass_time(self, minutes: int) -> None:
        for _ in range(minutes):
            await self.clock.advance(60)
            await self.alarm.look()


async def test_an_owner_is_told_once_of_what_lasts(tmp_path: Path) -> None:
    notes = MemoryNotes()
    async with Store.open(tmp_path) as store:
        said = UserMessage("1", HOME, Sender("fake", "7", "Ann", language="zh-CN"), "hello", 1.0)
        await store.inbox.record(said, "t1", 1.0)
        house = House(store, notes)
        house.troubles = {"en": "The key is refused.", "zh": "密钥被拒绝。"}
        await house.pass_time(4)
        assert house.told == []
        await house.pass_time(30)
        [row] = house.told
        assert row.inbound.address == HOME
        [reply, _] = [one.body for one in await store.transcript.turn_rows(row.turn)]
        assert "密钥被拒绝。" in str(reply)
        again = House(store, notes)
        again.troubles = house.troubles
        await again.pass_time(30)
        assert again.told == []
        await again.pass_time(24 * 60)
        assert len(again.told) == 1


async def test_what_passes_is_not_told(tmp_path: Path) -> None:
    async with Store.open(tmp_path) as store:
        await store.inbox.record(UserMessage("1", HOME, Sender("fake", "7", "Ann"), "hello", 1.0), "t1", 1.0)
        house = House(store, MemoryNotes())
        for _ in range(5):
            house.troubles = {"en": "Overloaded.", "zh": ""}
            await house.pass_time(3)
            house.troubles = {"en": "", "zh": ""}
            await house.pass_time(3)
        assert house.told == []


async def test_that_it_is_over_is_told_where_the_trouble_was(tmp_path: Path) -> None:
    async with Store.open(tmp_path) as store:
        await store.inbox.record(UserMessage("1", HOME, Sender("fake", "7", "Ann"), "hello", 1.0), "t1", 1.0)
        house = House(store, MemoryNotes())
        house.troubles = {"en": "Overloaded.", "zh": ""}
        await house.pass_time(6)
        house.troubles = {"en": "", "zh": ""}
        await house.pass_time(20)
        assert len(house.told) == 2
        assert "is over" in str((await store.transcript.turn_rows(house.told[1].turn))[0].body)
