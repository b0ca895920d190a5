"""One writer, group commit, readers apart, and every fault of the disk as a sentence."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bot.core.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly
from bot.store.database import Database
from bot.store.migrations import STEPS
from bot.store.reading import open_read_only
from bot.store.store import FILE_NAME

INSERT = "INSERT INTO notes (owner, key, value) VALUES ('test', ?, ?)"


def put(key: str, value: str = "x"):  # type: ignore[no-untyped-def]
    return lambda db: db.execute(INSERT, (key, value)).rowcount


def count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM notes").fetchone()[0])


async def test_writes_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    commits = 0

    def hook(db: sqlite3.Connection) -> None:
        nonlocal commits
        db.set_trace_callback(lambda sql: counted(sql))

    def counted(sql: str) -> None:
        nonlocal commits
        commits += sql == "COMMIT"

    async with Database.open(tmp_path / "a.db") as database:
        await database.write(hook)
        commits = 0
        await asyncio.gather(*(database.write(put(str(n))) for n in range(200)))
        assert await database.read(count) == 200
    assert commits < 20


async def test_a_statement_that_fails_takes_no_other_down(tmp_path: Path) -> None:
    async with Database.open(tmp_path / "a.db") as database:
        await database.write(put("taken"))
        results = await asyncio.gather(
            database.write(put("a")), database.write(put("taken")), database.write(put("b")), return_exceptions=True
        )
        assert [isinstance(result, Exception) for result in results] == [False, True, False]
        assert await database.read(count) == 3


async def test_b244_a_rollback_keeps_the_rows_of_others(tmp_path: Path) -> None:
    def half_done(db: sqlite3.Connection) -> None:
        db.execute(INSERT, ("gone", "x"))
        raise ValueError("after the insert")

    async with Database.open(tmp_path / "a.db") as database:
        results = await asyncio.gather(database.write(half_done), database.write(put("kept")), return_exceptions=True)
        assert isinstance(results[0], ValueError)
        assert await database.read(lambda db: db.execute("SELECT key FROM notes").fetchall()) == [("kept",)]


async def test_a_cancelled_caller_leaves_its_write_whole_and_the_writer_alive(tmp_path: Path) -> None:
    async with Database.open(tmp_path / "a.db") as database:
        task = asyncio.ensure_future(database.write(put("cancelled")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await database.write(put("later"))
        assert await database.read(count) == 2


async def test_b237_parallel_processes_all_get_their_row(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Database.open(path):
        pass
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom bot.store.database import Database\n"
        "async def main():\n"
        "    async with Database.open(Path(sys.argv[1])) as d:\n"
        "        await d.write(lambda db: db.execute(\"INSERT INTO notes VALUES ('p', ?, 'x')\", (sys.argv[2],)))\n"
        "asyncio.run(main())"
    )
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(path), str(n)) for n in range(4)
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0, 0]
    async with Database.open(path) as database:
        assert await database.read(count) == 4


async def test_a_file_locked_for_five_seconds_only_delays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Database.open(path) as database:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(5.0, lambda: other.execute("COMMIT"))
        timer.start()
        loop = asyncio.get_running_loop()
        began = loop.time()
        lag = 0.0

        async def watch() -> None:
            nonlocal lag
            while True:
                before = loop.time()
                await asyncio.sleep(0.05)
                lag = max(lag, loop.time() - before - 0.05)

        watcher = asyncio.ensure_future(watch())
        assert await database.write(put("a"), durable=True) == 1
        watcher.cancel()
        timer.join()
        other.close()
        assert loop.time() - began >= 4.5
        assert lag < 1.0, "the event loop must not wait for the lock"


async def test_a_lock_that_is_never_released_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Database.open(path) as database:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await database._writer.run(lambda db: db.execute("PRAGMA busy_timeout = 100"))
        with pytest.raises(StoreBusy, match="Another program holds"):
            await database.write(put("a"))
        other.execute("ROLLBACK")
        other.close()
        assert await database.write(put("a")) == 1


async def test_a_full_disk_is_named_and_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    async with Database.open(tmp_path / "a.db") as database:
        await database.write(put("before"), durable=True)
        pages = await database.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
        await database._writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        with pytest.raises(StoreFull, match="free some space"):
            await database.write(put("too much", "x" * 100_000))
        assert await database.read(count) == 1
        await database._writer.run(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
        await database.write(put("after", "x" * 100_000))
        assert await database.read(count) == 2


def test_a_disk_that_fills_up_under_the_writer_is_named(tmp_path: Path) -> None:
    """A real file-size limit of the kernel, in a process of its own."""
    program = (
        "import asyncio, resource, signal, sys\nfrom pathlib import Path\nfrom bot.store.database import Database\n"
        "from bot.core.errors import StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "async def main():\n"
        "    done = 0\n"
        "    async with Database.open(Path(sys.argv[1])) as d:\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))\n"
        "        try:\n"
        "            for n in range(1000):\n"
        "                row = (str(n), 'x' * 5000)\n"
        "                await d.write(lambda db: db.execute(\"INSERT INTO notes VALUES ('p', ?, ?)\", row), durable=True)\n"
        "                done += 1\n"
        "        except StoreError as error:\n"
        "            print(done, type(error).__name__, error)\n"
        "        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "asyncio.run(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")], capture_output=True, text=True, timeout=25
    )
    assert ran.returncode == 0, ran.stderr
    done = int(ran.stdout.split()[0])
    assert done > 10
    db = sqlite3.connect(tmp_path / "a.db")
    assert count(db) == done
    db.close()


def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o555)
    program = (
        "import asyncio, concurrent.futures.thread, os, sys\nfrom pathlib import Path\n"
        "from bot.store.store import Store\nfrom bot.core.errors import StoreError\n"
        "async def main():\n"
        "    try:\n"
        "        async with Store.open(Path(sys.argv[1])):\n"
        "            print('opened')\n"
        "    except StoreError as error:\n"
        "        print(type(error).__name__, error)\n"
        "if os.geteuid() == 0:\n"
        "    os.setgid(65534); os.setuid(65534)\n"
        "asyncio.run(main())"
    )
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and "pytest" in str(parent):
            parent.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=25, env=environment
    )
    assert "StoreReadOnly" in ran.stdout and "write access" in ran.stdout, ran.stdout + ran.stderr


async def test_b240_the_log_file_stays_bounded_while_readers_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with Database.open(path) as database:

        async def write(part: int) -> None:
            for n in range(300):
                await database.write(put(f"{part}.{n}", "x" * 2000))

        async def read() -> None:
            for _ in range(300):
                await database.read(count)

        await asyncio.gather(write(0), write(1), read(), read())
        assert (tmp_path / "a.db-wal").stat().st_size < 16 * 1024 * 1024


async def test_b249_no_thread_is_left_after_closing_or_after_a_failed_start(tmp_path: Path) -> None:
    def workers() -> int:
        return sum("connection_worker" in thread.name for thread in threading.enumerate())

    assert workers() == 0
    async with Database.open(tmp_path / "a.db"):
        assert workers() > 0
    (tmp_path / "not-a-database").write_bytes(b"x" * 5000)
    with pytest.raises(StoreError):
        async with Database.open(tmp_path / "not-a-database"):
            pass
    await asyncio.sleep(0.1)
    assert workers() == 0


async def test_a_store_of_a_newer_version_is_refused_with_advice(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "a.db")
    db.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    db.close()
    with pytest.raises(StoreError, match="upgrade Bowerbird"):
        async with Database.open(tmp_path / "a.db"):
            pass
    (tmp_path / "a.db").rename(tmp_path / FILE_NAME)
    with pytest.raises(StoreError, match="upgrade Bowerbird"):
        async with open_read_only(tmp_path):
            pass


async def test_a_reader_cannot_write(tmp_path: Path) -> None:
    async with Database.open(tmp_path / "a.db") as database:
        with pytest.raises(StoreReadOnly):
            await database.read(put("a"))
