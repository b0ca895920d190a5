"""Files that wait for their message: whole on the disk or not at all, for an hour, within bounds."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.attachments.intake import MOST_BYTES
from bot.core.errors import StoreReadOnly
from bot.store.files import Files
from channels.web.refusal import Refused
from channels.web.uploads import AT_ONCE, KNOWN_SECONDS, WAIT_SECONDS, WAITING_BYTES, Upload, Uploads, typed
from tests.fakes.clock import FakeClock


async def pieces(*contents: bytes) -> AsyncIterator[bytes]:
    for content in contents:
        yield content


class Place:
    """The uploads of one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir, self.clock = data_dir, FakeClock()
        self.files = Files(data_dir)
        self.uploads = Uploads(self.files, self.clock)

    async def put(self, *contents: bytes, name: str = "a.txt", media_type: str = "text/plain") -> Upload:
        return await self.uploads.take(name, media_type, pieces(*contents))

    @property
    def waiting(self) -> list[str]:
        folder = self.data_dir / "uploads"
        return sorted(place.name for place in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def refused(doing: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(Refused) as turned_away:
        await doing
    return turned_away.value.word


async def test_an_upload_goes_into_a_message_as_often_as_the_message_is_sent(place: Place) -> None:
    upload = await place.put(b"milk", b"", b" and eggs")
    assert place.waiting == [upload.id, f"{upload.id}.json"]
    for _ in range(2):
        (sent,) = await place.uploads.use([upload.id])
        assert await place.files.read(sent.path) == b"milk and eggs"
        assert (sent.upload.name, sent.upload.size) == ("a.txt", 13)
        assert place.waiting == [f"{upload.id}.json"]


async def test_the_same_content_twice_is_kept_once_and_has_both_names(place: Place) -> None:
    one, two = await place.put(b"same", name="one.txt"), await place.put(b"same", name="two.txt")
    sent = await place.uploads.use([one.id, two.id])
    assert [one.upload.name for one in sent] == ["one.txt", "two.txt"]
    assert sent[0].path == sent[1].path
    assert place.waiting == sorted([f"{one.id}.json", f"{two.id}.json"])


async def test_it_outlives_the_process_that_took_it(place: Place, tmp_path: Path) -> None:
    upload = await place.put(b"kept")
    (sent,) = await Place(tmp_path).uploads.use([upload.id])
    assert (await place.files.read(sent.path), sent.upload) == (b"kept", upload)


@pytest.mark.parametrize(
    "id_", ["", "x", "../bowerbird.db", "file-" + "0" * 24, "file-..%2f..", "file-" + "0" * 23 + "/"]
)
async def test_what_was_never_given_out_is_not_known(place: Place, tmp_path: Path, id_: str) -> None:
    (tmp_path / "bowerbird.db").write_text("{}")
    await place.put(b"another")
    assert await refused(place.uploads.use([id_])) == "file_unknown"
    assert await place.uploads.drop(id_) is False
    assert (tmp_path / "bowerbird.db").exists()


@given(id_=st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
async def test_no_id_leads_anywhere(place: Place, id_: str) -> None:
    assert await refused(place.uploads.use([id_])) == "file_unknown"
    assert await place.uploads.drop(id_) is False


async def test_too_large_and_empty_leave_nothing(place: Place) -> None:
    most = [b"x" * (1024 * 1024)] * (MOST_BYTES // (1024 * 1024))
    assert await refused(place.put(*most, b"y")) == "file_too_large"
    assert await refused(place.put()) == "file_empty"
    assert await refused(place.put(b"", b"")) == "file_empty"
    assert place.waiting == []
    assert (await place.put(*most)).size == MOST_BYTES


async def test_the_largest_file_takes_little_memory_and_is_the_owners_alone(place: Place) -> None:
    async def long() -> AsyncIterator[bytes]:
        for _ in range(MOST_BYTES // 65_536):
            yield b"x" * 65_536

    tracemalloc.start()
    try:
        upload = await place.uploads.take("film.mp4", "", long())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (upload.size, peak < 4 * 1024 * 1024) == (MOST_BYTES, True)
    assert (place.data_dir / "uploads" / upload.id).stat().st_mode & 0o777 == 0o600


async def test_an_upload_that_breaks_off_or_is_given_up_leaves_nothing(place: Place) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 300_000
        raise Refused(400, "file_broken")

    assert await refused(place.uploads.take("a", "", broken())) == "file_broken"

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 300_000
            await asyncio.sleep(0.01)

    task = asyncio.ensure_future(place.uploads.take("a", "", endless()))
    while not place.waiting:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert place.waiting == []


async def test_only_so_many_are_on_their_way_at_once(place: Place) -> None:
    go = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"x"
        await go.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(place.uploads.take("a", "", slow()))
        await asyncio.sleep(0.05)
        assert await refused(place.put(b"one more")) == "files_busy"
        go.set()
    await place.put(b"one more")


async def test_only_so_much_waits(place: Place) -> None:
    upload = await place.put(b"x")
    with (place.files.arrivals() / "file-sparse").open("wb") as sparse:
        sparse.truncate(WAITING_BYTES)
    assert await refused(place.put(b"more")) == "files_waiting"
    await place.uploads.use([upload.id])


async def test_what_no_message_came_for_is_gone_after_an_hour(place: Place) -> None:
    waits, sent = await place.put(b"waits"), await place.put(b"sent")
    (kept,) = await place.uploads.use([sent.id])
    await place.clock.advance(WAIT_SECONDS - 1)
    young = await place.put(b"young")
    await place.uploads.sweep()
    assert place.waiting == sorted([waits.id, f"{waits.id}.json", f"{sent.id}.json", young.id, f"{young.id}.json"])
    await place.clock.advance(2)
    await place.uploads.sweep()
    assert place.waiting == sorted([f"{sent.id}.json", young.id, f"{young.id}.json"])
    assert await refused(place.uploads.use([waits.id])) == "file_unknown"
    assert (await place.uploads.use([sent.id]))[0].path == kept.path
    await place.clock.advance(KNOWN_SECONDS)
    await place.uploads.sweep()
    assert place.waiting == []
    assert await place.files.read(kept.path) == b"sent"


async def test_what_a_death_left_half_written_is_swept(place: Place) -> None:
    folder = place.files.arrivals()
    old, now = folder / "file-aaa.part", folder / "file-bbb.json.part"
    for draft, age in ((old, 1000.0), (now, 10.0)):
        draft.write_bytes(b"half")
        os.utime(draft, (place.clock.now() - age,) * 2)
    (folder / "file-ccc").write_bytes(b"whole, and its record was not written any more")
    os.utime(folder / "file-ccc", (place.clock.now() - WAIT_SECONDS - 1,) * 2)
    await place.uploads.sweep()
    assert place.waiting == [now.name]


async def test_a_file_that_is_taken_back_is_gone_and_a_sent_one_stays(place: Place) -> None:
    one, two = await place.put(b"one"), await place.put(b"two")
    (sent,) = await place.uploads.use([two.id])
    assert await place.uploads.drop(one.id) is True
    assert await place.uploads.drop(one.id) is False
    assert await place.uploads.drop(two.id) is False
    assert await refused(place.uploads.use([one.id])) == "file_unknown"
    assert await place.files.read(sent.path) == b"two"


@pytest.mark.parametrize(
    ("claimed", "name", "media_type"),
    [
        ("image/PNG; charset=x", "a", "image/png"),
        ("", "a.pdf", "application/pdf"),
        ("application/x-www-form-urlencoded", "a.csv", "text/csv"),
        ("text/html\r\nX: y", "a", "application/octet-stream"),
        ("nonsense", "a.png", "image/png"),
        ("", "noname", "application/octet-stream"),
    ],
)
def test_the_type_is_the_senders_word_or_the_names(claimed: str, name: str, media_type: str) -> None:
    assert typed(claimed, name) == media_type


FULL = """
import asyncio, sys
from pathlib import Path
from bot.core.errors import StoreFull
from bot.store.files import Files
from bot.time.clock import SystemClock
from channels.web.uploads import Uploads

async def main(folder):
    uploads = Uploads(Files(folder), SystemClock())

    async def pieces():
        yield b"x" * 300_000
        with (folder / "others").open("wb", 0) as others:
            try:
                while others.write(b"y" * 1_000_000):
                    pass
            except OSError:
                pass
        yield b"z" * 300_000

    for at in range(2):  # the disk fills up meanwhile; it is full before
        try:
            await uploads.take("a", "", pieces())
        except StoreFull as error:
            print(at, "full disk" if "free some space" in str(error) else error)
        assert not list((folder / "uploads").iterdir())

asyncio.run(main(Path(sys.argv[1])))
"""


def on_a_small_disk(folder: Path, size: str) -> list[str]:
    """``FULL`` on a file system of its own, in namespaces of its own."""
    mounted = f'mount -t tmpfs -o size={size} none {folder} && exec {sys.executable} -c "$0" {folder}'
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, FULL]


def test_a_full_disk_takes_nothing_and_says_so(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(on_a_small_disk(tmp_path, "100m"), cwd=root, capture_output=True, text=True, check=False)
    if (done.returncode and "unshare" in done.stderr + done.stdout) or "mount:" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    assert (done.stdout, done.stderr, done.returncode) == ("0 full disk\n1 full disk\n", "", 0)


async def test_a_folder_that_cannot_be_written_is_said_to_be_one(place: Place, tmp_path: Path) -> None:
    (tmp_path / "uploads").write_text("not a folder")
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        await place.put(b"x")
