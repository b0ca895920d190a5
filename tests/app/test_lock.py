from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.lock import LOCK_NAME, FolderLock, holder
from bot.core.errors import AlreadyRunning, StoreError

HOLD = """
import pathlib, subprocess, sys
from bot.app.lock import FolderLock
with FolderLock(pathlib.Path(sys.argv[1])):
    child = subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, close_fds=False)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


class Holder:
    """Another process that holds the lock and has started a program of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.child = int(self.process.stdout.readline())

    def end(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.process.communicate()

    def end_child(self) -> None:
        os.kill(self.child, signal.SIGKILL)


def test_b241_a_second_daemon_is_refused_and_the_first_ones_process_is_named(tmp_path: Path) -> None:
    other = Holder(tmp_path)
    try:
        with pytest.raises(AlreadyRunning, match=rf"process {other.process.pid}\b"):
            FolderLock(tmp_path).acquire()
    finally:
        other.end(signal.SIGTERM)
        other.end_child()


def test_the_lock_dies_with_a_killed_process_even_while_a_program_it_started_lives_on(tmp_path: Path) -> None:
    other = Holder(tmp_path)
    try:
        other.end(signal.SIGKILL)
        assert holder(tmp_path) == other.process.pid, "a killed process leaves its id behind"
        with FolderLock(tmp_path) as lock:
            assert lock.held
            assert holder(tmp_path) == os.getpid()
    finally:
        other.end_child()


@pytest.mark.parametrize("left", [b"", b"1\n", b"4194304999\n", b"\xff\xfe not a number", b"7" * 5000])
def test_what_an_old_lock_file_says_is_no_obstacle(tmp_path: Path, left: bytes) -> None:
    (tmp_path / LOCK_NAME).write_bytes(left)
    with FolderLock(tmp_path):
        assert (tmp_path / LOCK_NAME).read_text() == f"{os.getpid()}\n"


def test_letting_go_makes_room_for_the_next_and_names_nobody(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.acquire()
    with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"):
        FolderLock(tmp_path).acquire()
    lock.release()
    lock.release()
    assert not lock.held
    assert holder(tmp_path) is None
    with FolderLock(tmp_path):
        pass


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    with FolderLock(folder):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / LOCK_NAME).stat().st_mode & 0o777 == 0o600


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_text("")
    with pytest.raises(StoreError, match="is not a folder"):
        FolderLock(file).acquire()
    with pytest.raises(StoreError, match="is not a folder"):
        FolderLock(file / "below").acquire()


READ_ONLY = """
import os, pathlib, sys
from bot.app.lock import FolderLock
from bot.core.errors import StoreReadOnly
if os.geteuid() == 0:
    os.setuid(65534)
try:
    FolderLock(pathlib.Path(sys.argv[1])).acquire()
except StoreReadOnly as error:
    print(error)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that an unprivileged user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("with_file", [False, True])
def test_a_read_only_folder_is_refused_with_a_sentence_that_says_what_to_do(open_folder: Path, with_file: bool) -> None:
    folder = open_folder / "data"
    folder.mkdir()
    if with_file:
        (folder / LOCK_NAME).touch(0o444)
    folder.chmod(0o555)
    command = [sys.executable, "-c", READ_ONLY, str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    folder.chmod(0o755)
    assert "cannot be written" in said
    assert str(folder) in said
