"""The connection of a terminal, and the one message of a pipe, against a house on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.app.control import ControlServer, control_app
from bot.app.control_client import ControlClient, NoDaemon, TerminalOff
from bot.app.lock import FolderLock
from bot.cli.chat_line import FRAME_BYTES, ChatLine, ChatRefused
from bot.cli.chat_plain import PlainChat
from bot.cli.house import house
from bot.core.address import Address
from bot.core.errors import AlreadyRunning, StoreFull, TooLong
from bot.core.inbound import UserMessage
from bot.core.model import TextBlock
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, StepRow, UserRow
from bot.time.clock import SystemClock
from bot.web.server import FRAME_BYTES as SERVER_FRAME_BYTES
from tests.fakes.house import House, MemoryRecords

MAIN = Address("terminal", "main", "main")
CLOCK = SystemClock()


class Ear:
    """Keeps the frames it hears and lets a test wait for one."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self._heard = asyncio.Event()

    def __call__(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        self._heard.set()

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(10):
            while not (found := [frame for frame in self.frames if wanted(frame)]):
                self._heard.clear()
                await self._heard.wait()
        return found[0]


@asynccontextmanager
async def connected(data_dir: Path, ear: Ear, patience: float = 0.0) -> AsyncIterator[ChatLine]:
    async with ControlClient(data_dir) as client:
        line = ChatLine(client, "main", CLOCK, patience=patience)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(line.run(ear))
            yield line
            running.cancel()


async def test_what_was_not_acknowledged_is_sent_again_and_stays_one_message(tmp_path: Path) -> None:
    ear, first = Ear(), House(tmp_path)
    async with connected(tmp_path, ear, patience=10) as line:
        async with first.open():
            await ear.until(lambda frame: frame["type"] == "history")
            line.say("one")
            await line.emptied()
        line.say("two")
        second = House(tmp_path, turns="later")
        async with second.open():
            async with asyncio.timeout(10):
                await line.emptied()
            await ear.until(lambda frame: frame["type"] == "part" and frame["turn"] == "later-1" and frame["final"])
            assert not line.waiting
            assert line.connected
    assert [inbound.text for inbound in second.inbound if isinstance(inbound, UserMessage)] == ["two"]


async def test_a_first_connection_that_fails_is_an_error_at_once_or_after_patience(tmp_path: Path) -> None:
    async with ControlClient(tmp_path) as client:
        with pytest.raises(NoDaemon):
            await ChatLine(client, "main", CLOCK).run(Ear())
        with pytest.raises(NoDaemon):
            await ChatLine(client, "main", CLOCK, patience=0.3).run(Ear())


async def test_a_chat_that_is_refused_is_not_tried_again(tmp_path: Path) -> None:
    async with House(tmp_path).open(), ControlClient(tmp_path) as client:
        with pytest.raises(ChatRefused, match="printable"):
            await ChatLine(client, "\n", CLOCK).run(Ear())


async def test_the_longest_message_arrives_and_a_longer_one_is_refused_here(tmp_path: Path) -> None:
    ear, home = Ear(), House(tmp_path)
    async with home.open(), connected(tmp_path, ear) as line:
        for text in ("x" * (FRAME_BYTES - 100), "中" * (FRAME_BYTES // 3 - 100), "\n" * (FRAME_BYTES // 2 - 100)):
            line.say(text)
            async with asyncio.timeout(10):
                await line.emptied()
            with pytest.raises(TooLong):
                line.say(text * 2)
    assert len(home.inbound) == 3
    assert FRAME_BYTES < SERVER_FRAME_BYTES


async def test_what_cannot_be_stored_is_left_out_before_it_is_sent(tmp_path: Path) -> None:
    home = House(tmp_path)
    async with home.open(), connected(tmp_path, Ear()) as line:
        line.say("a\ud800b\x00c")
        async with asyncio.timeout(10):
            await line.emptied()
    assert [inbound.text for inbound in home.inbound if isinstance(inbound, UserMessage)] == ["a?bc"]


async def test_the_language_of_the_terminal_comes_with_each_message(tmp_path: Path) -> None:
    home = House(tmp_path)
    async with home.open(), ControlClient(tmp_path) as client, asyncio.TaskGroup() as group:
        line = ChatLine(client, "main", CLOCK, language="zh")
        running = group.create_task(line.run(Ear()))
        line.say("/help")
        async with asyncio.timeout(10):
            await line.emptied()
        running.cancel()
    assert [inbound.sender.language for inbound in home.inbound if isinstance(inbound, UserMessage)] == ["zh"]


async def said(data_dir: Path, text: str) -> int:
    async with ControlClient(data_dir) as client:
        return await PlainChat(ChatLine(client, "main", CLOCK), CLOCK, "en").run(text)


async def test_a_message_that_joins_a_running_turn_gets_that_turns_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ear, home = Ear(), House(tmp_path)
    async with home.open(), connected(tmp_path, ear) as line:
        line.say("slow")
        await ear.until(lambda frame: frame["type"] == "part" and "word2" in frame["text"])
        async with asyncio.TaskGroup() as group:
            piped = group.create_task(said(tmp_path, "join"))
            while not any(isinstance(row.body, UserRow) and row.body.steered for row in home.records.all):
                await asyncio.sleep(0.01)
            line.stop()
        assert piped.result() == 1, "the turn it joined was stopped"
    output = capsys.readouterr()
    assert output.out.startswith("word1 word2")
    assert output.err == "Stopped.\n"


async def test_an_answer_that_ends_while_the_connection_is_gone_is_read_from_the_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = MemoryRecords()
    async with asyncio.TaskGroup() as group:
        async with House(tmp_path, records=records).open():
            piped = group.create_task(said(tmp_path, "slow"))
            while not records.all:
                await asyncio.sleep(0.01)
        records.append(MAIN, "turn-1", StepRow(1, (TextBlock("the whole"),), "a/b", "end"), EndRow(StopReason.ANSWERED))
        async with House(tmp_path, turns="later", records=records).open(), asyncio.timeout(10):
            assert await piped == 0
    assert capsys.readouterr().out == "the whole\n"


async def test_a_question_that_a_pipe_cannot_answer_is_mentioned_and_may_be_answered_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ear = Ear()
    async with House(tmp_path).open(), connected(tmp_path, ear) as line, asyncio.TaskGroup() as group:
        piped = group.create_task(said(tmp_path, "ask"))
        card = await ear.until(lambda frame: frame["type"] == "part" and bool(frame["cards"]))
        while not capsys.readouterr().err.startswith("shell waits for your decision"):
            await asyncio.sleep(0.02)
        line.press(card["buttons"][0]["payload"])
        assert await piped == 0
    assert capsys.readouterr().out == "Decided: once\n"


class TestHouse:
    async def test_a_running_daemon_is_used_and_none_is_started(self, tmp_path: Path) -> None:
        async def start(ready: Callable[[], None]) -> None:
            raise AssertionError("there is one already")

        async with House(tmp_path).open(), ControlClient(tmp_path) as client, house(client, start):
            assert (await client.status())["name"] == "Bowerbird"

    async def test_without_one_a_daemon_lives_as_long_as_it_is_needed(self, tmp_path: Path) -> None:
        async def start(ready: Callable[[], None]) -> None:
            async with House(tmp_path).open():
                ready()
                await asyncio.get_running_loop().create_future()

        async with ControlClient(tmp_path) as client:
            async with house(client, start):
                assert await said(tmp_path, "hi") == 0
            with pytest.raises(NoDaemon):
                await client.status()
        with FolderLock(tmp_path):
            pass

    async def test_another_process_that_was_faster_is_talked_to_once_it_listens(self, tmp_path: Path) -> None:
        async def start(ready: Callable[[], None]) -> None:
            raise AlreadyRunning("Bowerbird already runs.")

        ear = Ear()
        async with (
            ControlClient(tmp_path) as client,
            house(client, start),
            connected(tmp_path, ear, patience=10),
            House(tmp_path).open(),
        ):
            await ear.until(lambda frame: frame["type"] == "history")

    async def test_a_daemon_that_cannot_start_says_why(self, tmp_path: Path) -> None:
        async def start(ready: Callable[[], None]) -> None:
            raise StoreFull("No room.")

        async with ControlClient(tmp_path) as client:
            with pytest.raises(StoreFull, match="No room"):
                async with house(client, start):
                    raise AssertionError("it did not start")

    async def test_a_daemon_that_breaks_ends_what_needs_it(self, tmp_path: Path) -> None:
        breaks = asyncio.Event()

        async def start(ready: Callable[[], None]) -> None:
            ready()
            await breaks.wait()
            raise StoreFull("No room any more.")

        async with ControlClient(tmp_path) as client:
            with pytest.raises(StoreFull, match="any more"):
                async with house(client, start):
                    breaks.set()
                    await asyncio.get_running_loop().create_future()


async def test_a_daemon_without_terminals_is_an_error_at_once_whatever_the_patience(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        app = control_app(House(tmp_path / "unused"), MemoryRecords())
        async with ControlServer(lock, app), ControlClient(tmp_path) as client:
            with pytest.raises(TerminalOff):
                await ChatLine(client, "main", CLOCK, patience=60).run(Ear())
