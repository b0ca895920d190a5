"""The control app, its server and its client over a real unix socket."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.app.control import ControlServer, control_app
from bot.app.control_client import ControlClient, NoDaemon, TerminalOff
from bot.app.lock import FolderLock
from bot.app.records import row_json, rows_of
from bot.core.address import Address
from bot.core.errors import AlreadyRunning, StoreBusy, TransportError, TransportTimeout
from bot.core.inbound import Quote
from bot.core.model import CallBlock, ImageBlock, Message, TextBlock, ThinkingBlock, Usage
from bot.core.ports import owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import Body, BreakRow, EndRow, GivenRow, ReplyRow, ResultRow, StepRow, UserRow
from tests.fakes.house import House, MemoryRecords

MAIN = Address("terminal", "main", "main")
BODIES: tuple[Body, ...] = (
    UserRow("你好 \u2028 \x1b", owner_of("terminal"), "m1", Quote("before", "Ann")),
    GivenRow((Message("user", (ImageBlock("image/png", b"\x00\xff"),)),)),
    StepRow(
        1,
        (ThinkingBlock("v", "hm", "{}"), TextBlock("ok"), CallBlock(ToolCall("c1", "f", {"x": [1]}))),
        "a/b",
        "tool_use",
        Usage(3),
    ),
    ResultRow("c1", "f", "out", error=True, seconds=0.5),
    ReplyRow("reply"),
    EndRow(StopReason.ANSWERED, reference="r1"),
    BreakRow(),
)


class Status:
    """Implements ``bot.core.ports.Control``."""

    def __init__(self, answer: Mapping[str, Any] | Exception, pause: float = 0.0) -> None:
        self._answer, self._pause = answer, pause

    async def status(self) -> Mapping[str, Any]:
        await asyncio.sleep(self._pause)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def test_status_is_what_the_daemon_says(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as server, ControlClient(tmp_path) as client:
        assert await client.status() == await house.status()
        assert server.path.exists()
    assert not server.path.exists()


async def test_a_trace_has_every_row_of_the_address_or_of_the_turn_and_nothing_of_others(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.records.append(MAIN, "t1", *BODIES)
    house.records.append(MAIN, "t2", ReplyRow("second"))
    house.records.append(Address("terminal", "main", "other"), "t3", ReplyRow("elsewhere"))
    async with house.open(), ControlClient(tmp_path) as client:
        whole = [row async for row in client.trace(str(MAIN))]
        assert [row["kind"] for row in whole] == [body.kind for body in BODIES] + ["reply"]
        assert whole[0]["text"] == "你好 \u2028 \x1b"
        assert whole[0] | {"id": 1, "address": "terminal:main:main:", "turn": "t1"} == whole[0]
        assert whole[2]["content"][2]["call"]["arguments"] == {"x": [1]}
        assert [row["text"] for row in [row async for row in client.trace(str(MAIN), last=1)]] == ["second"]
        assert [row["turn"] for row in [row async for row in client.trace("t3")]] == ["t3"]
        assert [row async for row in client.trace("no/such turn?")] == []


async def test_a_row_survives_being_written_as_json() -> None:
    records = MemoryRecords()
    records.append(MAIN, "t1", *BODIES)
    for row in await rows_of(records, "t1", 1):
        line = row_json(row)
        assert "\n" not in line
        assert json.loads(line)["kind"] == row.body.kind


async def test_nothing_that_listens_is_said_with_what_to_do(tmp_path: Path) -> None:
    async with ControlClient(tmp_path) as client:
        with pytest.raises(NoDaemon, match="bowerbird run"):
            await client.status()
        with pytest.raises(NoDaemon):
            _ = [row async for row in client.trace("t1")]
        with pytest.raises(NoDaemon):
            async with client.terminal("main"):
                pass


async def test_a_killed_daemons_socket_counts_as_no_daemon(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "tests.fakes.house", str(tmp_path)], stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        async with ControlClient(tmp_path) as client:
            assert (await client.status())["name"] == "Bowerbird"
            with pytest.raises(AlreadyRunning, match=str(process.pid)):
                FolderLock(tmp_path).acquire()
        process.kill()
    assert (tmp_path / "daemon.sock").exists()
    async with ControlClient(tmp_path) as client:
        with pytest.raises(NoDaemon):
            await client.status()
    async with House(tmp_path).open(), ControlClient(tmp_path) as client:
        assert (await client.status())["name"] == "Bowerbird"


async def test_a_daemon_that_does_not_answer_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        app = control_app(Status({}, pause=30), MemoryRecords())
        async with ControlServer(lock, app), ControlClient(tmp_path, timeout=0.1) as client:
            with pytest.raises(TransportTimeout, match="does not answer"):
                await client.status()


async def test_an_error_of_the_store_is_passed_on_as_its_sentence(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        app = control_app(Status(StoreBusy("The file is in use.")), MemoryRecords())
        async with ControlServer(lock, app), ControlClient(tmp_path) as client:
            with pytest.raises(TransportError, match=r"The file is in use\."):
                await client.status()


async def test_a_daemon_without_the_terminal_channel_says_how_to_switch_it_on(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        async with ControlServer(lock, control_app(Status({}), MemoryRecords())), ControlClient(tmp_path) as client:
            with pytest.raises(TerminalOff, match="terminal"):
                async with client.terminal("main"):
                    pass


async def test_the_socket_works_where_the_path_is_too_long(tmp_path: Path) -> None:
    data_dir = tmp_path / ("deep" * 20) / ("er" * 20)
    async with House(data_dir).open() as server, ControlClient(data_dir) as client:
        assert server.path.parent != data_dir
        assert (await client.status())["name"] == "Bowerbird"
    assert not server.path.parent.exists()
