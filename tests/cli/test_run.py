"""``bowerbird run`` and ``bowerbird chat`` with the real daemon, without a model and without the network."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.programs import PATIENCE, Pty, bowerbird, environment

OFFLINE = """
data_dir: data
channels: {terminal: {}, web: {port: 0}}
providers: {ollama: off, local: off}
brain: {llm: {default: {provider: openai, model: none}, fallback: []}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(OFFLINE)
    return file


@contextmanager
def daemon(config: Path, stdin: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bot", "run", "--config", str(config)]
    process = subprocess.Popen(command, stdin=stdin, stderr=subprocess.PIPE, env=environment(), text=True)
    try:
        until = time.monotonic() + PATIENCE
        while bowerbird("status", "--config", config).returncode:
            assert process.poll() is None and time.monotonic() < until, "the daemon did not start"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_daemon_in_time_and_the_folder_is_free_again(config: Path, number: signal.Signals) -> None:
    with daemon(config) as process:
        began = time.monotonic()
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert time.monotonic() - began < 10
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert not (config.parent / "data" / "daemon.sock").exists()
    assert (config.parent / "data" / "daemon.lock").read_text() == ""


def test_settings_without_effect_are_named_once_at_the_start(config: Path) -> None:
    config.write_text(OFFLINE.replace("fallback: []}", "fallback: []}, money: {day_usd: 1}") + "hooks: []\n")
    with daemon(config) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        assert process.stderr is not None
        (line,) = [line for line in process.stderr.read().splitlines() if "not built into this version" in line]
    assert line.endswith(f"without effect in {config}: brain.money")


def test_b241_a_second_daemon_is_refused_at_once_and_the_first_is_named(config: Path) -> None:
    with daemon(config) as process:
        second = bowerbird("run", "--config", config)
        assert second.returncode == 1
        assert f"(process {process.pid})" in second.stderr
        assert "Traceback" not in second.stderr
        assert bowerbird("status", "--config", config).returncode == 0


def test_the_daemon_never_reads_its_standard_input(config: Path) -> None:
    mine, theirs = os.pipe()
    os.write(theirs, b"not for you\n")
    with daemon(config, stdin=mine):
        waiting = struct.unpack("i", fcntl.ioctl(mine, termios.FIONREAD, b"\0" * 4))[0]
        assert waiting == len(b"not for you\n")
        os.close(theirs)
        assert bowerbird("status", "--config", config).returncode == 0
    os.close(mine)


def test_a_killed_daemon_leaves_nothing_that_keeps_the_next_one_out(config: Path) -> None:
    with daemon(config) as process:
        process.kill()
        process.wait()
    with daemon(config):
        done = bowerbird("chat", "--config", config, text="/help")
        assert done.returncode == 0
        assert "/new" in done.stdout


def test_a_pipe_without_a_daemon_starts_one_for_itself_and_leaves_none(config: Path) -> None:
    done = bowerbird("chat", "--config", config, text="/help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "/new" in done.stdout
    assert bowerbird("status", "--config", config).returncode == 1
    told = bowerbird("trace", "terminal:main:main:", "--config", config)
    assert "Owner: /help" in told.stdout


def test_a_terminal_without_a_daemon_starts_one_for_itself(config: Path) -> None:
    command = [sys.executable, "-m", "bot", "chat", "--config", str(config)]
    with Pty(command, config.parent, {}) as terminal:
        terminal.expect(r"Ctrl.C stops[\s\S]*\n›")
        terminal.send("/help\r")
        terminal.expect("/new")
        terminal.stays()
        assert bowerbird("status", "--config", config).returncode == 0
        terminal.send("\x03")
        assert terminal.leaves() == 0
        assert terminal.cooked()
    assert "INFO" in (config.parent / "data" / "chat.log").read_text()
