"""The command line as scripts rely on it: exit statuses, where output goes, and what is imported."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.app.control import ControlServer
from bot.app.lock import FolderLock
from tests.cli.programs import ROOT, bowerbird, configured, environment, interruptible

HEAVY = (
    "anthropic",
    "openai",
    "aiohttp",
    "starlette",
    "uvicorn",
    "chromadb",
    "rich",
    "prompt_toolkit",
    "pydantic",
    "yaml",
    "aiosqlite",
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configured(tmp_path)


def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.yaml"
    file.write_text("data_dir: data\nlanguage: klingon\nnmae: x\n")
    return file


def test_help_and_version_are_fine() -> None:
    for arguments in (["--help"], ["--version"], ["run", "--help"], ["trace", "--help"]):
        done = bowerbird(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(("usage: bowerbird", "bowerbird "))


def test_every_command_of_the_help_explains_itself() -> None:
    said = bowerbird("--help").stdout
    for command in ("run", "chat", "init", "doctor", "status", "trace"):
        assert f"    {command} " in said
        assert len(bowerbird(command, "--help").stdout.splitlines()) > 6
    assert "exit status: 0 fine, 1 failed, 2 wrong usage, 78 wrong configuration" in said


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["run", "--frob"],
        ["status", "extra"],
        ["trace"],
        ["trace", "t", "--last", "0"],
        ["trace", "t", "--last", "x"],
    ],
)
def test_wrong_usage_is_2_and_says_what_is_right(arguments: list[str]) -> None:
    done = bowerbird(*arguments)
    assert done.returncode == 2
    assert "usage: bowerbird" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", [["run"], ["chat"], ["status"], ["trace", "t"]])
def test_wrong_configuration_is_78_and_names_file_line_and_key_of_every_problem(
    tmp_path: Path, command: list[str]
) -> None:
    done = bowerbird(*command, "--config", broken(tmp_path), text="hi")
    assert done.returncode == 78
    assert "broken.yaml:2: language: " in done.stderr
    assert "broken.yaml:3: nmae: " in done.stderr
    assert all(line.startswith("bowerbird: ") for line in done.stderr.splitlines())
    assert done.stdout == ""


def test_doctor_reports_a_wrong_configuration_as_findings(tmp_path: Path) -> None:
    done = bowerbird("doctor", "--json", "--config", broken(tmp_path))
    assert done.returncode == 78
    findings = json.loads(done.stdout)["findings"]
    assert any("broken.yaml:3: nmae" in finding["line"] for finding in findings)


def test_a_configuration_that_does_not_exist_is_78() -> None:
    done = bowerbird("status", "--config", "/does/not/exist.yaml")
    assert done.returncode == 78
    assert "/does/not/exist.yaml" in done.stderr


def test_an_unknown_log_level_is_78(config: Path) -> None:
    done = bowerbird("status", "--config", config, BOWERBIRD_LOG="loud")
    assert done.returncode == 78
    assert "BOWERBIRD_LOG" in done.stderr


def test_doctor_of_a_sound_configuration_says_what_runs_and_what_is_stored(config: Path) -> None:
    done = bowerbird("doctor", "--json", "--config", config)
    lines = [finding["line"] for finding in json.loads(done.stdout)["findings"]]
    assert "is not running" in lines
    assert "is made at the first start" in lines
    assert "Traceback" not in done.stderr
    assert not (config.parent / "data").exists(), "looking makes nothing"


def test_status_and_trace_without_a_daemon_are_1_with_a_sentence(config: Path) -> None:
    for arguments, said in ((["status"], "is not running"), (["trace", "terminal:main:main:"], "no conversation")):
        done = bowerbird(*arguments, "--config", config)
        assert done.returncode == 1
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""


def test_a_reader_that_has_enough_causes_neither_noise_nor_failure(config: Path) -> None:
    command = f"({sys.executable} -m bot doctor --config {config}; echo status $? >&2) | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment(), check=False)
    assert done.stderr.strip() in ("status 0", "status 1")


def test_an_interrupt_is_no_traceback(config: Path) -> None:
    """``chat`` waits for the end of its input; the signal comes while it reads."""
    command = [sys.executable, "-m", "bot", "chat", "--config", str(config)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
        preexec_fn=interruptible,
    ) as process:
        while not (config.parent / "data" / "chat.log").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 1
    assert said == ""


async def test_an_unexpected_error_is_one_line_with_a_reference_and_its_details_go_to_a_file(config: Path) -> None:
    """Here the daemon is of another version and tells something that this command line cannot read."""

    async def stranger(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b'{"turn": "t", "address": "a", "at": 0}\n'})

    command = [sys.executable, "-m", "bot", "trace", "t", "--config", str(config)]
    with FolderLock(config.parent / "data") as lock:
        async with ControlServer(lock, stranger):
            process = await asyncio.create_subprocess_exec(*command, env=environment(), stderr=subprocess.PIPE)
            _, said = await process.communicate()
    assert process.returncode == 1
    [line] = said.decode().splitlines()
    reference, path = line.partition("(reference ")[2].split(")")[0], Path(line.partition("details are in ")[2])
    assert path == config.parent / "data" / "errors.log"
    details = path.read_text()
    assert f"reference {reference}\n" in details
    assert "KeyError: 'kind'" in details


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, bot.cli.main; bot.cli.main._parser([]); print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout.split()
    assert not [name for name in HEAVY if name in modules]


def test_the_version_takes_less_than_half_a_second_of_work() -> None:
    """Measured in processor time, which other work on the machine does not change much; about 0.1 s when written."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "bot", "--version"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5


def test_python_m_bot_is_bowerbird() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bot", "--version"], capture_output=True, text=True, env=environment(), check=True
    )
    assert done.stdout.startswith("bowerbird ")
    assert os.linesep in done.stdout
