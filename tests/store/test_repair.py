"""Torn, emptied and vanished files: set aside, saved as far as they can be read, and the loss named."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.address import Address, Sender
from bot.core.errors import StoreReadOnly
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, UserRow
from bot.store.reading import examined
from bot.store.store import FILE_NAME, Store

HERE = Address("web", "main", "c")
WHO = Sender("web", "owner")


async def filled(folder: Path, rows: int = 400) -> None:
    async with Store.open(folder) as store:
        for n in range(rows):
            await store.transcript.append(HERE, f"t{n}", 1.0, UserRow(f"message {n} " + "x" * 200, WHO, str(n)))


async def texts(store: Store) -> list[str]:
    return [row.body.text for row in await store.transcript.rows(HERE, 10_000) if isinstance(row.body, UserRow)]


async def test_a_sound_file_is_left_alone(tmp_path: Path) -> None:
    await filled(tmp_path, 5)
    async with Store.open(tmp_path) as store:
        assert store.loss is None
        assert len(await texts(store)) == 5


async def test_b248_an_emptied_file_does_not_stop_the_start_and_the_loss_is_named(tmp_path: Path) -> None:
    await filled(tmp_path, 5)
    (tmp_path / FILE_NAME).write_bytes(b"")
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and "backup" in str(store.loss)
        assert await texts(store) == []
    assert not list(tmp_path.glob("damaged-*")), "nothing is kept where there was nothing"


async def test_b248_a_vanished_file_is_named(tmp_path: Path) -> None:
    await filled(tmp_path, 5)
    (tmp_path / FILE_NAME).unlink()
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and "backup" in str(store.loss)
    async with Store.open(tmp_path) as store:
        assert store.loss is None


@pytest.mark.parametrize("damaged", [False, True])
async def test_in_a_folder_that_others_may_enter_the_files_are_still_private(tmp_path: Path, damaged: bool) -> None:
    tmp_path.chmod(0o755)
    if damaged:
        (tmp_path / FILE_NAME).write_bytes(os.urandom(9000))
    async with Store.open(tmp_path) as store:
        await store.transcript.append(HERE, "t", 1.0, UserRow("secret", WHO, "1"))
        files = [path for path in tmp_path.iterdir() if path.name.startswith(FILE_NAME) or path.is_dir()]
        assert len(files) >= 3
        assert not [path.name for path in files if path.stat().st_mode & 0o077]


async def test_a_file_that_is_no_database_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(os.urandom(9000))
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and store.loss.saved == 0
    assert next(tmp_path.glob(f"damaged-*/{FILE_NAME}")).stat().st_size == 9000


@pytest.mark.parametrize("version", [0, 1, 7])
async def test_the_database_of_another_program_is_kept_aside_and_not_written_to(tmp_path: Path, version: int) -> None:
    path = tmp_path / FILE_NAME
    with closing(sqlite3.connect(path)) as other:
        other.executescript(f"CREATE TABLE notes (text); PRAGMA user_version = {version};")
    before = path.read_bytes()
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and store.loss.saved == 0
    assert next(tmp_path.glob(f"damaged-*/{FILE_NAME}")).read_bytes() == before


async def test_a_folder_that_cannot_be_looked_into_is_named() -> None:
    with pytest.raises(StoreReadOnly, match="cannot be read"):
        await examined(Path("x" * 300))


async def test_a_first_start_that_was_broken_off_before_its_tables_is_no_damage(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as begun:
        begun.execute("PRAGMA journal_mode = WAL")
        begun.execute("PRAGMA user_version = 0")
    async with Store.open(tmp_path) as store:
        assert store.loss is None


async def test_a_file_with_torn_pages_is_saved_around_them(tmp_path: Path) -> None:
    await filled(tmp_path)
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    middle = (len(data) // 2) // 4096 * 4096
    data[middle : middle + 4096] = b"\x00" * 4096
    path.write_bytes(bytes(data))
    async with Store.open(tmp_path) as store:
        saved = await texts(store)
        if store.loss is not None:
            assert len(saved) >= 300
            assert saved[0].startswith("message 0 ") and saved[-1].startswith("message 399 ")
        else:
            assert len(saved) == 400, "the torn page held nothing of the transcript"
        await store.transcript.append(HERE, "after", 1.0, EndRow(StopReason.ANSWERED))


@pytest.mark.parametrize(("share", "least"), [(0.5, 60), (0.9, 250)])
async def test_a_file_that_was_cut_short_is_saved_as_far_as_it_goes(tmp_path: Path, share: float, least: int) -> None:
    await filled(tmp_path)
    path = tmp_path / FILE_NAME
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share) // 4096 * 4096)
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and "transcript" in store.loss.tables_cut
        saved = await texts(store)
        assert len(saved) >= least
        await store.transcript.append(HERE, "after", 1.0, EndRow(StopReason.ANSWERED))


@pytest.mark.parametrize(("begin", "end"), [(0, 16), (16, 18), (0, 100)])
async def test_a_file_whose_header_was_overwritten_is_saved_whole(tmp_path: Path, begin: int, end: int) -> None:
    await filled(tmp_path)
    path = tmp_path / FILE_NAME
    with path.open("r+b") as file:
        file.seek(begin)
        file.write(b"\xa5" * (end - begin))
    damaged = path.read_bytes()
    async with Store.open(tmp_path) as store:
        assert store.loss is not None and store.loss.tables_cut == ()
        assert len(await texts(store)) == 400
        assert [kept.name for kept in store.loss.aside.iterdir()] == [FILE_NAME]
        assert (store.loss.aside / FILE_NAME).read_bytes() == damaged


async def test_a_log_beside_an_overwritten_header_counts(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 50:
            pass
        writer.kill()
    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size > 0
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.write(b"\xa5" * 100)
    async with Store.open(tmp_path) as store:
        kept = {row.turn for row in await store.inbox.unfinished()}
    assert {f"t{n}" for n in range(51)} <= kept


async def test_b246_one_row_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await filled(tmp_path, 10)
    async with Store.open(tmp_path) as store:
        await store.database.write(
            lambda db: db.execute('UPDATE transcript SET body = \'{"kind": "user", "te\' WHERE id = 5')
        )
        assert len(await texts(store)) == 9
    assert "row 5" in caplog.text


WRITER = """
import asyncio, sys
from pathlib import Path
from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.store.store import Store

async def main():
    async with Store.open(Path(sys.argv[1])) as store:
        n = 0
        while True:
            message = UserMessage(str(n), Address("web", "main", "c"), Sender("web", "owner"), "x" * 500, 1.0)
            await store.inbox.record(message, f"t{n}", 1.0)
            print(n, flush=True)
            n += 1

asyncio.run(main())
"""


@pytest.mark.parametrize("cut", [0, 1, 4097])
async def test_b245_kill_minus_nine_and_a_half_written_log_lose_nothing_that_was_acknowledged(
    tmp_path: Path, cut: int
) -> None:
    """``cut`` appends half-written frames behind the log's sound end, as a crash of the machine can."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = -1
        for line in writer.stdout:
            acknowledged = int(line)
            if acknowledged >= 150:
                writer.send_signal(signal.SIGKILL)
                break
        acknowledged = max([acknowledged, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    with (tmp_path / f"{FILE_NAME}-wal").open("ab") as log:
        log.write(os.urandom(cut))
    async with Store.open(tmp_path) as store:
        assert store.loss is None
        kept = {row.turn for row in await store.inbox.unfinished()}
    assert {f"t{n}" for n in range(acknowledged + 1)} <= kept
    await asyncio.sleep(0)
