"""Flood waits over a restart: a wait holds for whoever comes next, and only for as long as Telegram said."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.core.address import Address
from bot.outbox.silences import NOTE, Silences
from bot.store.store import FILE_NAME, Store
from tests.fakes.clock import FakeClock
from tests.fakes.governor import OpenGovernor


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path) as opened:
        yield opened


def silences(store: Store, clock: FakeClock) -> Silences:
    """Those of one more life."""
    return Silences(store.notes("channel:telegram"), clock)


async def test_a_wait_holds_for_the_next_life_and_no_longer_than_it_was(store: Store) -> None:
    clock = FakeClock()
    first = silences(store, clock)
    assert await first.left("7") == 0
    await first.keep("7", 30)
    await clock.advance(10)
    second = silences(store, clock)
    assert await second.left("7") == pytest.approx(20)
    assert await second.left("8") == 0
    await clock.advance(20)
    assert await second.left("7") == 0


def address(chat: str) -> Address:
    return Address("telegram", "main", chat)


async def test_the_next_life_hands_each_wait_that_is_still_to_come_to_the_governor_once(store: Store) -> None:
    clock = FakeClock()
    first = silences(store, clock)
    for chat, seconds in (("7", 30), ("8", 60), ("9", 5)):
        await first.keep(chat, seconds)
    await clock.advance(10)
    second, governor = silences(store, clock), OpenGovernor()
    await asyncio.gather(*(second.hand_over(governor, address) for _ in range(3)))
    assert [to for to, _ in governor.silences] == [address("7"), address("8")]
    assert [seconds for _, seconds in governor.silences] == pytest.approx([20, 50])


async def test_waits_that_were_said_to_another_bot_are_not_this_ones(store: Store) -> None:
    clock, notes, governor = FakeClock(), store.notes("channel:telegram"), OpenGovernor()
    await Silences(notes, clock, "1").keep("7", 30)
    await Silences(notes, clock, "2").keep("8", 30)
    await Silences(notes, clock, "2").hand_over(governor, address)
    assert [to for to, _ in governor.silences] == [address("8")]


async def test_within_one_life_it_is_the_governor_that_waits(store: Store) -> None:
    clock = FakeClock()
    only = silences(store, clock)
    await only.left("7")
    await only.keep("7", 30)
    assert await only.left("7") == 0


async def test_waits_of_other_chats_are_kept_until_they_are_over(store: Store) -> None:
    clock = FakeClock()
    first = silences(store, clock)
    await first.keep("7", 30)
    await first.keep("7", 5)
    await first.keep("8", 60)
    await clock.advance(40)
    second = silences(store, clock)
    await second.keep("9", 50)
    third = silences(store, clock)
    assert [await third.left(chat) for chat in ("7", "8", "9")] == pytest.approx([0, 20, 50])
    assert "7" not in (await store.notes("channel:telegram").read(NOTE) or "")


async def test_a_wait_that_no_restart_could_break_is_not_written(store: Store) -> None:
    await silences(store, FakeClock()).keep("7", 1)
    assert await store.notes("channel:telegram").read(NOTE) is None


@pytest.mark.parametrize("told", ["", "no json", "[]", '{"7": "soon"}', "7"])
async def test_a_note_that_cannot_be_read_silences_nobody(told: str, store: Store) -> None:
    await store.notes("channel:telegram").write(NOTE, told)
    assert await silences(store, FakeClock()).left("7") == 0


async def test_a_store_that_cannot_be_written_does_not_hide_the_wait(store: Store, tmp_path: Path) -> None:
    """What it is called from goes on to raise the wait itself."""
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, 'full'); END")
    await silences(store, FakeClock()).keep("7", 30)
    assert await store.notes("channel:telegram").read(NOTE) is None
