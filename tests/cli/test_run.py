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

from tests.cli.programs import PATIENCE, Pty, bowerbird, environment, interruptible

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
    process = subprocess.Popen(
        command, stdin=stdin, stderr=subprocess.PIPE, env=environment(), text=True, preexec_fn=interruptible
    )
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
    config.write_text(f"{OFFLINE}team: {{max_parallel: 2}}\nschedule: {{jobs: []}}\nhooks: []\n")
    with daemon(config) as process:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        assert process.stderr is not None
        (line,) = [line for line in process.stderr.read().splitlines() if "not built into this version" in line]
    assert line.endswith(f"without effect in {config}: team")


def test_b241_a_second_daemon_is_refused_at_once_and_the_first_is_named(config: Path) -> None:
    with daemon(config) as process:
        second = bowerbird("run", "--config", config)
        assert second.returncode == 1
        assert f"(process {process.pid})" in second.stderr
        assert "Traceback" not in second.stderr
        assert bowerbird("status", "--config", config).returncode == 0


@pytest.mark.parametrize("folder", ["/proc/x", "/dev/null/x", "x" * 300])
def test_a_data_folder_that_cannot_be_made_is_refused_with_a_sentence(config: Path, folder: str) -> None:
    config.write_text(OFFLINE.replace("data_dir: data", f"data_dir: {folder}"))
    done = bowerbird("run", "--config", config)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("bowerbird: ")]
    assert folder in line and "data_dir" in line
    assert bowerbird("doctor", "--config", config).returncode == 1


def test_without_a_file_nothing_is_said_of_settings_in_it(tmp_path: Path) -> None:
    done = bowerbird("doctor", cwd=tmp_path, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
    assert "it has no effect" not in done.stdout and "None" not in done.stdout


@pytest.mark.parametrize("command", ["run", "doctor", "status", "chat", "pair", "trace"])
def test_an_interrupt_at_any_moment_of_the_start_shows_no_traceback(config: Path, command: str) -> None:
    words = [command, *(["turn"] if command == "trace" else []), "--config", str(config)]
    start = "import runpy, sys; print(flush=True); runpy.run_module('bot', run_name='__main__', alter_sys=True)"
    for wait in (0.0, 0.03, 0.07, 0.13, 0.25, 0.4):
        with subprocess.Popen(
            [sys.executable, "-c", start, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            preexec_fn=interruptible,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.readline()  # Python itself has started
            time.sleep(0.02 + wait)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE)
            assert b"Traceback" not in said and b"panicked" not in said, (wait, said.decode())


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
