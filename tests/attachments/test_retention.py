"""What is kept of files and for how long: by age, by size, and never what a turn still needs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from bot.attachments import retention
from bot.attachments.retention import FRESH_SECONDS, KEPT_SECONDS, MOST_BYTES, Retention
from bot.core.address import Address, Sender
from bot.core.inbound import FileRef, UserMessage
from bot.core.transcript import KeptFile, ResultRow, UserRow
from bot.core.view import OutFile
from bot.store.files import Files
from bot.store.store import Store
from tests.fakes.clock import FakeClock

HERE = Address("web", "main", "a")
ANN = Sender("web", "owner")
OLD = KEPT_SECONDS + 60


class Cellar:
    """A store, its files, and the rule over them."""

    def __init__(self, store: Store, data_dir: Path) -> None:
        self.store, self.data_dir, self.clock = store, data_dir, FakeClock()
        self.rule = Retention(store.files, store.inbox, store.transcript, self.clock)

    async def put(self, content: bytes, age: float, size: int | None = None) -> str:
        """A kept file that was last asked for ``age`` seconds ago. ``size``: as large as that, without taking the room."""
        path = await self.store.files.keep(content)
        if size is not None:
            os.truncate(self.data_dir / path, size)
        when = self.clock.now() - age
        os.utime(self.data_dir / path, (when, when))
        return path

    def has(self, path: str) -> bool:
        return (self.data_dir / path).exists()


@pytest_asyncio.fixture
async def cellar(tmp_path: Path) -> AsyncIterator[Cellar]:
    async with Store.open(tmp_path) as store:
        yield Cellar(store, tmp_path)


async def test_old_files_go_and_younger_ones_stay(cellar: Cellar) -> None:
    old, young = await cellar.put(b"old", OLD), await cellar.put(b"young", KEPT_SECONDS - 60)
    await cellar.rule.sweep()
    assert (cellar.has(old), cellar.has(young)) == (False, True)


async def test_what_is_kept_anew_is_young_again(cellar: Cellar) -> None:
    path = await cellar.put(b"twice", OLD)
    assert await cellar.store.files.keep(b"twice") == path
    await cellar.rule.sweep()
    assert cellar.has(path)


async def test_of_too_much_the_oldest_goes(cellar: Cellar) -> None:
    part = MOST_BYTES // 4
    paths = [await cellar.put(b"%d" % n, FRESH_SECONDS + 1000 - n, part) for n in range(6)]
    await cellar.rule.sweep()
    assert [cellar.has(path) for path in paths] == [False, False, True, True, True, True]
    await cellar.rule.sweep()
    assert sum(map(cellar.has, paths)) == 4


async def test_what_has_just_arrived_stays_however_much_there_is(cellar: Cellar) -> None:
    paths = [await cellar.put(b"%d" % n, 60.0, MOST_BYTES) for n in range(3)]
    await cellar.rule.sweep()
    assert all(map(cellar.has, paths))


async def test_a_turn_that_is_not_over_keeps_its_files(cellar: Cellar) -> None:
    sent, kept, picture, made, whole, loose = [await cellar.put(name, OLD) for name in map(str.encode, "skpmwl")]
    refs = (FileRef("web", sent, "s", ""), FileRef("telegram", "AgADBA-../..", "t", ""))
    recorded = await cellar.store.inbox.record(UserMessage("1", HERE, ANN, "", 1.0, files=refs), "t1", 1.0)
    files = (KeptFile("k", "", kept, picture=picture),)
    result = ResultRow("c1", "draw", "done", files=(OutFile("m", "", made),), whole=whole)
    await cellar.store.transcript.append(HERE, "t1", 1.0, UserRow("", ANN, "1", files=files), result)
    await cellar.rule.sweep()
    assert [cellar.has(path) for path in (sent, kept, picture, made, whole, loose)] == [*[True] * 5, False]
    await cellar.store.inbox.finish(recorded.row.id, "answered", 2.0)
    await cellar.rule.sweep()
    assert not any(cellar.has(path) for path in (sent, kept, picture, made, whole))


async def test_a_question_that_is_asked_again_keeps_the_files_of_the_first_time(cellar: Cellar) -> None:
    picture = await cellar.put(b"p", OLD)
    row = UserRow("Look", ANN, "1", files=(KeptFile("p.png", "image/png", picture=picture),))
    await cellar.store.transcript.append(HERE, "t1", 1.0, row)
    await cellar.store.inbox.record(UserMessage("2", HERE, ANN, "/retry", 1.0, again="t1"), "t2", 1.0)
    await cellar.rule.sweep()
    assert cellar.has(picture)


async def test_what_a_death_left_half_written_goes_after_an_hour(cellar: Cellar) -> None:
    path = await cellar.put(b"whole", 10.0)
    for name, age in (("tmpold", FRESH_SECONDS + 10), ("tmpnew", 10.0)):
        draft = (cellar.data_dir / path).with_name(name)
        draft.write_bytes(b"half")
        os.utime(draft, (cellar.clock.now() - age,) * 2)
    await cellar.rule.sweep()
    left = {place.name for place in (cellar.data_dir / path).parent.iterdir()}
    assert left == {Path(path).name, "tmpnew"}


async def test_a_file_that_is_asked_for_while_the_rule_looks_stays(cellar: Cellar) -> None:
    path = await cellar.put(b"wanted after all", OLD)
    (listed,) = await cellar.store.files.listed()
    await cellar.store.files.keep(b"wanted after all")
    assert await cellar.store.files.remove(listed) is False
    assert cellar.has(path)


async def test_nothing_kept_and_a_folder_that_cannot_be_read_are_no_trouble(tmp_path: Path) -> None:
    files = Files(tmp_path)
    assert await files.listed() == []
    (tmp_path / "files").write_text("no folder")
    assert await files.listed() == []


async def test_the_rule_is_applied_in_the_background_for_as_long_as_the_daemon_runs(cellar: Cellar) -> None:
    task = asyncio.ensure_future(cellar.rule.run())
    first = await cellar.put(b"first", OLD)
    await cellar.clock.advance(retention.FIRST_SECONDS)
    async with asyncio.timeout(5):
        while cellar.has(first):
            await asyncio.sleep(0.01)
        second = await cellar.put(b"second", OLD)
        while cellar.has(second):
            await cellar.clock.advance(retention.EVERY_SECONDS)
            await asyncio.sleep(0.01)
    task.cancel()
