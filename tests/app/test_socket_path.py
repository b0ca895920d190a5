from __future__ import annotations

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.lock import FolderLock
from bot.app.socket_path import PATH_BYTES, POINTER_NAME, SOCKET_NAME, ControlSocket, fits, socket_of
from bot.core.errors import StoreError


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[FolderLock]:
    with FolderLock(tmp_path / "data") as lock:
        yield lock


@pytest.fixture
def long_lock(tmp_path: Path) -> Iterator[FolderLock]:
    """Its folder's path fits into no socket address; half of it are wide characters, which count as bytes."""
    with FolderLock(tmp_path / ("数据" * 10) / ("d" * 60)) as lock:
        yield lock


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_socket_lies_in_the_data_folder_and_only_its_owner_may_open_it(lock: FolderLock) -> None:
    place = ControlSocket(lock)
    with place.open():
        assert place.path == lock.data_dir / SOCKET_NAME == socket_of(lock.data_dir)
        assert mode(place.path) == 0o600
        assert connects(place.path)
    place.remove()
    assert not place.path.exists()


def test_without_the_lock_there_is_no_socket(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="lock"):
        ControlSocket(FolderLock(tmp_path)).open()


def test_a_dead_daemons_socket_is_replaced(lock: FolderLock) -> None:
    ControlSocket(lock).open().close()
    assert not connects(lock.data_dir / SOCKET_NAME)
    with ControlSocket(lock).open():
        assert connects(lock.data_dir / SOCKET_NAME)


def test_a_file_that_is_no_socket_is_not_removed(lock: FolderLock) -> None:
    (lock.data_dir / SOCKET_NAME).write_text("mine")
    with pytest.raises(StoreError, match="move it away"):
        ControlSocket(lock).open()
    assert (lock.data_dir / SOCKET_NAME).read_text() == "mine"


def test_a_path_that_is_too_long_is_replaced_by_a_short_one_that_the_folder_names(
    long_lock: FolderLock, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    place = ControlSocket(long_lock, {"XDG_RUNTIME_DIR": str(run)} if fits(run / ("x" * 40)) else {})
    with place.open():
        assert len(str(place.path).encode()) <= PATH_BYTES
        assert socket_of(long_lock.data_dir) == place.path
        assert mode(place.path) == 0o600
        assert mode(place.path.parent) == 0o700
        assert mode(long_lock.data_dir / POINTER_NAME) == 0o600
        assert connects(place.path)
    place.remove()
    assert not place.path.parent.exists()
    assert not (long_lock.data_dir / POINTER_NAME).exists()


def test_the_runtime_folder_comes_first_and_an_unusable_one_is_passed_over(
    long_lock: FolderLock, tmp_path: Path
) -> None:
    for environ in ({"XDG_RUNTIME_DIR": str(tmp_path / "missing")}, {"XDG_RUNTIME_DIR": "/" + "long" * 40}, {}):
        place = ControlSocket(long_lock, environ)
        with place.open():
            assert connects(socket_of(long_lock.data_dir))
        place.remove()


def test_the_short_folder_of_a_killed_daemon_is_cleared_away_by_the_next(long_lock: FolderLock) -> None:
    first = ControlSocket(long_lock, {})
    first.open().close()
    second = ControlSocket(long_lock, {})
    with second.open():
        assert second.path != first.path
        assert not first.path.parent.exists()
    second.remove()


@pytest.mark.parametrize("text", ["", "\n", "/etc/hostname", "/nowhere/daemon.sock"])
def test_a_pointer_to_something_else_removes_nothing_and_breaks_nothing(long_lock: FolderLock, text: str) -> None:
    (long_lock.data_dir / POINTER_NAME).write_text(text)
    socket_of(long_lock.data_dir)
    place = ControlSocket(long_lock, {})
    with place.open():
        assert connects(place.path)
    place.remove()
    assert Path("/etc/hostname").exists()
