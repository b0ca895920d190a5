"""What a service manager is told: over a real datagram socket, by the real daemon in a process of its own."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.app.control_client import ControlClient
from bot.app.notify import LOOK_SECONDS, ServiceManager, keep_informed
from bot.app.supervision import Supervisor
from bot.core.inbound import Inbound, Receipt
from bot.core.ports import Progress
from tests.app.conftest import free_port
from tests.cli.programs import PATIENCE, ROOT, environment
from tests.fakes.channel import FakeChannel
from tests.fakes.clock import FakeClock

CONFIG = """
data_dir: data
channels: {{terminal: {{}}, web: {{port: {port}}}}}
providers: {{ollama: off, local: off}}
brain: {{llm: {{default: {{provider: openai, model: none}}, fallback: []}}}}
"""
WATCHDOG_SECONDS = 4.0


@dataclass
class Manager:
    """The other end of the socket: every ``NAME=value`` it was told, with the time."""

    socket: socket.socket
    heard: list[tuple[float, str]] = field(default_factory=list)

    def hear(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                message = self.socket.recv(4096).decode()
            except TimeoutError:
                return
            self.heard += [(time.monotonic(), line) for line in message.split("\n")]
            return

    def until(self, line: str, since: int = 0, times: int = 1) -> int:
        """The place after the ``times``-th ``line`` in what was heard from ``since`` on."""
        patience = time.monotonic() + PATIENCE
        while True:
            places = [n for n, (_, heard) in enumerate(self.heard) if n >= since and heard == line]
            if len(places) >= times:
                return places[times - 1] + 1
            assert time.monotonic() < patience, f"{line} was not told: {self.heard[since:]}"
            self.hear(0.5)

    def quiet(self, line: str, seconds: float) -> bool:
        """Whether ``line`` does not come within the time."""
        since, until = len(self.heard), time.monotonic() + seconds
        while time.monotonic() < until:
            self.hear(until - time.monotonic())
        return line not in [heard for _, heard in self.heard[since:]]


@contextmanager
def listening(address: str) -> Iterator[Manager]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        yield Manager(one)


@contextmanager
def started(folder: Path, *command: str) -> Iterator[tuple[subprocess.Popen[bytes], Manager, str]]:
    """The process, its service manager, and the address of its page."""
    port = free_port()
    (folder / "config.yaml").write_text(CONFIG.format(port=port))
    with listening(str(folder / "notify")) as manager, (folder / "log").open("wb") as log:
        facts = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1_000_000))}
        process = subprocess.Popen(
            [sys.executable, "-m", *command], env=environment(**facts), cwd=ROOT, stderr=log, stdin=subprocess.DEVNULL
        )
        try:
            yield process, manager, f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_daemon_says_when_it_is_ready_that_it_lives_and_that_it_stops(tmp_path: Path) -> None:
    with started(tmp_path, "bot", "run", "--config", str(tmp_path / "config.yaml")) as (process, manager, url):
        manager.until("READY=1")
        assert get(url + "/readyz")[0] == 200
        manager.until("STATUS=terminal: connected, web: connected")
        manager.until("WATCHDOG=1", times=3)
        pings = [at for at, line in manager.heard if line == "WATCHDOG=1"]
        assert all(later - earlier < WATCHDOG_SECONDS for earlier, later in itertools.pairwise(pings))
        process.send_signal(signal.SIGTERM)
        manager.until("STOPPING=1")
        assert process.wait(PATIENCE) == 0
    assert "ERROR" not in (tmp_path / "log").read_text()


def test_what_cannot_start_never_says_that_it_is_ready(tmp_path: Path) -> None:
    with started(tmp_path, "bot", "run", "--config", str(tmp_path / "nothing.yaml")) as (process, manager, _):
        assert process.wait(PATIENCE) == 78
        assert manager.quiet("READY=1", 0.1)


async def test_b255_a_channel_that_hangs_stops_the_pings_is_started_again_and_is_called_stale(tmp_path: Path) -> None:
    (tmp_path / "alive").touch()
    lives = tmp_path / "lives"
    with started(tmp_path, "tests.app.mute", str(tmp_path / "config.yaml")) as (process, manager, url):
        manager.until("READY=1")
        manager.until("WATCHDOG=1", times=2)
        assert lives.read_text() == "one\n"

        (tmp_path / "alive").unlink()
        manager.until("STATUS=terminal: connected, web: connected, mute: stale")
        assert manager.quiet("WATCHDOG=1", WATCHDOG_SECONDS)
        assert lives.read_text().count("one") >= 2
        status, body = get(url + "/readyz")
        assert (status, json.loads(body)["status"], json.loads(body)["channels"]["mute"]) == (503, "stale", "stale")
        assert get(url + "/healthz")[0] == 200
        async with ControlClient(tmp_path / "data") as client:
            told = await client.status()
        assert told["channels"]["mute"] == "stale" and "mute gives no sign of life" in told["trouble"]

        (tmp_path / "alive").touch()
        after = manager.until("WATCHDOG=1", since=len(manager.heard))
        manager.until("STATUS=terminal: connected, web: connected, mute: connected", since=after - 3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    log = (tmp_path / "log").read_text()
    assert log.count("gets no ping: a channel gives no sign of life") == 1
    assert "Traceback" not in log


@pytest.mark.parametrize("abstract", [False, True])
def test_a_message_is_one_datagram_of_lines(tmp_path: Path, abstract: bool) -> None:
    address = f"@bowerbird-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with listening(address) as manager:
        ServiceManager.taken_from({"NOTIFY_SOCKET": address}).tell(READY=1, STATUS="two\nlines")
        assert manager.socket.recv(100) == b"READY=1\nSTATUS=two lines"


def test_the_variables_are_taken_out_of_the_environment() -> None:
    environ = {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "90000000", "WATCHDOG_PID": str(os.getpid()), "PATH": "/bin"}
    assert ServiceManager.taken_from(environ).watchdog_seconds == 90
    assert environ == {"PATH": "/bin"}


@pytest.mark.parametrize(
    ("more", "listens"),
    [
        ({"WATCHDOG_PID": "1"}, True),
        ({"WATCHDOG_USEC": "soon"}, True),
        ({"WATCHDOG_USEC": ""}, True),
        ({"NOTIFY_SOCKET": "vsock:2:1234"}, False),
        ({"NOTIFY_SOCKET": ""}, False),
    ],
)
def test_a_watchdog_that_is_not_ours_or_cannot_be_read_is_none(more: dict[str, str], listens: bool) -> None:
    manager = ServiceManager.taken_from({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "90000000"} | more)
    assert (manager.watchdog_seconds, manager.listens) == (0, listens)


def test_a_manager_that_cannot_be_reached_is_told_of_once_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = ServiceManager(str(tmp_path / "nobody"))
    manager.tell(READY=1)
    manager.tell(WATCHDOG=1)
    assert caplog.text.count("cannot be told") == 1


class Recorded(ServiceManager):
    """A service manager that remembers, and when."""

    def __init__(self, clock: FakeClock, watchdog_seconds: float) -> None:
        super().__init__("/run/x", watchdog_seconds)
        self.clock, self.told = clock, list[tuple[float, dict[str, object]]]()

    def tell(self, **facts: object) -> None:
        self.told.append((self.clock.monotonic(), facts))

    @property
    def pings(self) -> list[float]:
        return [at for at, facts in self.told if "WATCHDOG" in facts]


@dataclass
class Progressing(FakeChannel):
    progress: Progress | None = None


@dataclass
class Informed:
    manager: Recorded
    supervisor: Supervisor
    channel: Progressing
    writer_answers: asyncio.Event = field(default_factory=asyncio.Event)


async def receive(inbound: Inbound) -> Receipt:
    return Receipt()


@asynccontextmanager
async def informed(clock: FakeClock, watchdog_seconds: float = 90.0) -> AsyncIterator[Informed]:
    channel = Progressing(clock)
    it = Informed(Recorded(clock, watchdog_seconds), Supervisor(channel, clock), channel)
    it.writer_answers.set()

    async def settled() -> None:
        await it.writer_answers.wait()

    words = lambda: {"fake": "stale" if it.supervisor.stale else "connected"}  # noqa: E731
    tasks = [
        asyncio.ensure_future(keep_informed(it.manager, clock, [it.supervisor], words, settled)),
        asyncio.ensure_future(it.supervisor.run(receive)),
    ]
    try:
        yield it
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_pings_come_within_every_half_of_the_watchdogs_time() -> None:
    clock = FakeClock()
    async with informed(clock) as it:
        await clock.advance(600)
        gaps = {later - earlier for earlier, later in itertools.pairwise(it.manager.pings)}
        assert max(gaps) <= 45 and len(it.manager.pings) < 20
        assert it.manager.told[0] == (0, {"READY": 1, "STATUS": "fake: connected"})


async def test_a_channel_that_hangs_has_half_of_the_watchdogs_time_to_come_back() -> None:
    """Whenever it begins to hang: from the first withheld ping on there are 45 s, and the ping comes once it is well."""
    for begins in range(50, 100, 7):
        clock = FakeClock()
        async with informed(clock) as it:
            await clock.advance(begins)
            it.channel.progress = Progress(-1000.0, 1.0)
            await clock.advance(60)
            assert it.supervisor.stale
            withheld = it.manager.pings[-1]
            it.channel.progress = Progress(clock.monotonic() + 1, 1000.0)
            await clock.advance(LOOK_SECONDS + 1)
            assert it.manager.pings[-1] > withheld


async def test_without_a_watchdog_the_status_is_told_and_no_ping() -> None:
    clock = FakeClock()
    async with informed(clock, watchdog_seconds=0) as it:
        await clock.advance(10)
        it.channel.progress = Progress(-1000.0, 1.0)
        await clock.advance(20)
        assert [facts.get("STATUS") for _, facts in it.manager.told] == ["fake: connected", "fake: stale"]
        assert it.manager.pings == []


async def test_a_writer_that_does_not_answer_stops_the_pings() -> None:
    clock = FakeClock()
    async with informed(clock) as it:
        await clock.advance(100)
        before = len(it.manager.pings)
        it.writer_answers.clear()
        await clock.advance(300)
        assert len(it.manager.pings) == before
        it.writer_answers.set()
        await clock.advance(10)
        assert len(it.manager.pings) == before + 1
