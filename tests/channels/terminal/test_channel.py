"""The terminal channel behind the real control socket, with real WebSocket clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.app.control import ControlServer, control_app
from bot.app.control_client import ControlClient, TerminalLink
from bot.app.lock import FolderLock
from bot.core.address import Address
from bot.core.errors import ChannelError, StoreError, StoreFull
from bot.core.inbound import ButtonPress, FileRef, Inbound, Receipt, StopPressed, UserMessage
from bot.core.ports import CallKind, owner_of
from bot.core.stop import StopReason
from bot.core.transcript import ReplyRow, Row, UserRow
from bot.core.view import Part, Phase, Ref, View
from channels.terminal.channel import TerminalChannel, build
from channels.terminal.config import Config
from tests.fakes.governor import OpenGovernor
from tests.fakes.house import House, MemoryRecords, kit, part_of

MAIN = Address("terminal", "main", "main")
Frame = dict[str, Any]


class Terminal:
    """One attached client that reads frames as a test wants them."""

    def __init__(self, link: TerminalLink) -> None:
        self.link = link
        self._frames = link.frames()

    async def next(self, *types: str) -> Frame:
        """The next frame of one of these types; others are passed over."""
        async with asyncio.timeout(10):
            async for frame in self._frames:
                if not types or frame["type"] in types:
                    return frame
        raise AssertionError(f"the connection ended before a {types} came")

    async def final(self) -> Frame:
        while not (frame := await self.next("part"))["final"]:
            pass
        return frame

    async def ended(self) -> None:
        async with asyncio.timeout(10):
            async for _ in self._frames:
                pass


@asynccontextmanager
async def attached(data_dir: Path, chat: str = "main") -> AsyncIterator[Terminal]:
    async with ControlClient(data_dir) as client, client.terminal(chat) as link:
        yield Terminal(link)


@asynccontextmanager
async def served(channel: TerminalChannel, data_dir: Path) -> AsyncIterator[None]:
    """The channel's handler on a socket, without a house behind it."""
    with FolderLock(data_dir) as lock:
        async with ControlServer(lock, control_app(House(data_dir / "unused"), MemoryRecords(), channel.attach)):
            yield


def shown(
    channel: TerminalChannel, turn: str, text: str, *, final: bool = False, index: int = 0, last: bool = True
) -> Part:
    view = View(turn, text, Phase.WRITING, stop=StopReason.ANSWERED if final and last else None)
    return Part(turn, index, 0, text, channel.render(text), view, last=last, final=final)


async def test_a_message_is_received_as_the_owners_and_answered_live(tmp_path: Path) -> None:
    house = House(tmp_path, language="zh")
    async with house.open(), attached(tmp_path) as terminal:
        hello = await terminal.next()
        assert hello == {"type": "hello", "chat": "main", "address": "terminal:main:main:", "language": "zh"}
        assert await terminal.next() == {"type": "history", "entries": []}
        await terminal.link.send({"type": "message", "id": "m1", "text": "你好"})
        receipt = await terminal.next("receipt")
        assert (receipt["id"], receipt["turn"], receipt["duplicate"], receipt["refused"]) == ("m1", "turn-1", False, "")
        final = await terminal.final()
        assert (final["turn"], final["text"], final["stop"]) == ("turn-1", "You said **你好**.", "answered")
    message = house.inbound[0]
    assert isinstance(message, UserMessage)
    assert (message.id, message.address, message.sender) == ("m1", MAIN, owner_of("terminal"))
    assert message.direct
    assert message.addressed


async def test_the_same_message_sent_again_is_one_message(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open():
        for duplicate in (False, True):
            async with attached(tmp_path) as terminal:
                await terminal.link.send({"type": "message", "id": "m1", "text": "once"})
                assert (await terminal.next("receipt"))["duplicate"] is duplicate
    assert len(house.inbound) == 1


async def test_several_terminals_see_one_chat_and_other_chats_stay_apart(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open(), attached(tmp_path) as one, attached(tmp_path) as two, attached(tmp_path, "work") as other:
        for terminal in (one, two, other):
            await terminal.next("history")
        await one.link.send({"type": "message", "id": "m1", "text": "hi"})
        said = await two.next("said")
        assert said == {"type": "said", "id": "m1", "turn": "turn-1", "text": "hi"}
        assert (await one.final())["text"] == (await two.final())["text"] == "You said **hi**."
        await other.link.send({"type": "message", "id": "m1", "text": "there"})
        assert (await other.final())["text"] == "You said **there**."
    assert house.inbound[1].address == Address("terminal", "main", "work")


async def test_stop_and_presses_arrive_and_a_press_is_answered_where_it_was_made(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open(), attached(tmp_path) as one, attached(tmp_path) as two:
        await one.link.send({"type": "message", "id": "m1", "text": "ask"})
        while not (card := await one.next("part"))["cards"]:
            pass
        assert {button["payload"] for button in card["buttons"]} == {
            f"b:card1:{verb}" for verb in ("once", "chat", "always", "deny")
        }
        await two.link.send({"type": "press", "id": "p1", "payload": "b:card1:once"})
        assert (await two.next("answer")) == {"type": "answer", "press": "p1", "text": "Noted: once."}
        final = await one.final()
        assert final["cards"][0]["decision"] == "once"
        await one.link.send({"type": "message", "id": "m2", "text": "slow"})
        while (await one.next("part"))["phase"] != "writing":
            pass
        await one.link.send({"type": "stop", "id": "s1"})
        assert (await one.final())["stop"] == "stopped"
    kinds = [type(inbound) for inbound in house.inbound]
    assert kinds == [UserMessage, ButtonPress, UserMessage, StopPressed]


async def test_whoever_attaches_late_gets_the_history_and_the_answer_that_grows(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open():
        async with attached(tmp_path) as early:
            await early.link.send({"type": "message", "id": "m1", "text": "hi"})
            await early.final()
            await early.link.send({"type": "message", "id": "m2", "text": "slow"})
            while (await early.next("part"))["phase"] != "writing":
                pass
            async with attached(tmp_path) as late:
                history = await late.next("history")
                assert [(entry["who"], entry["text"]) for entry in history["entries"]] == [
                    ("person", "hi"),
                    ("bot", "You said **hi**."),
                    ("person", "slow"),
                ]
                growing = await late.next("part")
                assert growing["turn"] == "turn-2"
                await late.link.send({"type": "stop", "id": "s1"})
                await early.final()
        async with attached(tmp_path) as later:
            entries = (await later.next("history"))["entries"]
            assert (entries[-1]["notice"], entries[-1]["stop"]) == ("Stopped.", "stopped")


async def test_the_history_can_be_asked_for_again(tmp_path: Path) -> None:
    async with House(tmp_path).open(), attached(tmp_path) as terminal:
        assert (await terminal.next("history"))["entries"] == []
        await terminal.link.send({"type": "message", "id": "m1", "text": "hi"})
        await terminal.final()
        await terminal.link.send({"type": "look"})
        assert [entry["text"] for entry in (await terminal.next("history"))["entries"]] == ["hi", "You said **hi**."]


async def test_a_restarted_daemon_takes_the_same_terminals_again(tmp_path: Path) -> None:
    first = House(tmp_path)
    async with first.open(), attached(tmp_path) as terminal:
        await terminal.link.send({"type": "message", "id": "m1", "text": "hi"})
        await terminal.final()
    await terminal.ended()
    assert terminal.link.refusal == "", "a stopping daemon does not turn a terminal away for good"
    async with House(tmp_path, records=first.records).open(), attached(tmp_path) as terminal:
        assert [entry["text"] for entry in (await terminal.next("history"))["entries"]] == ["hi", "You said **hi**."]


async def test_the_daemon_stops_while_terminals_are_attached_and_silent(tmp_path: Path) -> None:
    async with asyncio.timeout(8):
        async with House(tmp_path).open():
            client = ControlClient(tmp_path)
            async with client, client.terminal("main") as link:
                await anext(link.frames())
                loop = asyncio.get_running_loop()
                began = loop.time()
    assert loop.time() - began < 3.5


async def test_show_is_idempotent_and_asks_the_governor(tmp_path: Path) -> None:
    governor = OpenGovernor()
    channel = build(Config(), kit(MemoryRecords(), governor=governor))
    part = shown(channel, "t1", "half")
    assert await channel.show(MAIN, None, part) == await channel.show(MAIN, Ref("t1.0"), part) == Ref("t1.0")
    await channel.show(MAIN, Ref("t1.0"), shown(channel, "t1", "whole", final=True))
    assert governor.calls == [(MAIN, CallKind.PREVIEW), (MAIN, CallKind.PREVIEW), (MAIN, CallKind.FINAL)]


async def test_a_terminal_that_reads_slowly_gets_the_newest_state_of_each_part_and_not_every_one(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    async with house.open(), attached(tmp_path) as terminal:
        await terminal.next("history")
        texts = ["x" * 200_000 + str(number) for number in range(400)]
        for text in texts:
            await house.channel.show(MAIN, None, shown(house.channel, "t1", text))
            await asyncio.sleep(0)
        await house.channel.show(MAIN, None, shown(house.channel, "t1", "end", final=True))
        received = 0
        while not (frame := await terminal.next("part"))["final"]:
            received += 1
    assert frame["text"] == "end"
    assert received < len(texts)


async def test_a_part_that_was_removed_is_gone_for_those_who_attach_later(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open(), attached(tmp_path) as terminal:
        ref = await house.channel.show(MAIN, None, shown(house.channel, "t.1", "gone"))
        await house.channel.remove(MAIN, ref)
        await house.channel.remove(MAIN, Ref("nonsense"))
        assert await terminal.next("removed") == {"type": "removed", "turn": "t.1", "index": 0}
        async with attached(tmp_path) as later:
            await house.channel.show(MAIN, None, shown(house.channel, "t2", "other"))
            assert (await later.next("part"))["turn"] == "t2"


async def test_an_answer_in_several_parts_is_kept_until_its_last_part_is_final(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open():
        await house.channel.show(MAIN, None, shown(house.channel, "t1", "sealed", final=True, last=False))
        await house.channel.show(MAIN, None, shown(house.channel, "t1", "grows", index=1))
        async with attached(tmp_path) as terminal:
            assert [(await terminal.next("part"))["text"] for _ in range(2)] == ["sealed", "grows"]
        await house.channel.show(MAIN, None, shown(house.channel, "t1", "done", index=1, final=True))
        async with attached(tmp_path) as terminal:
            await house.channel.show(MAIN, None, shown(house.channel, "t2", "other"))
            assert (await terminal.next("part"))["turn"] == "t2"


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        "7",
        '{"type": "message"}',
        '{"type": "message", "id": "m", "text": ""}',
        '{"type": "message", "id": 7, "text": "x"}',
        json.dumps({"type": "message", "id": "i" * 200, "text": "x"}),
        json.dumps({"type": "press", "id": "p", "payload": "b" * 200}),
        '{"type": "approve", "id": "m"}',
    ],
)
async def test_a_frame_that_is_none_is_refused_and_the_connection_lives(tmp_path: Path, text: str) -> None:
    house = House(tmp_path)
    async with house.open() as server:
        connector = aiohttp.UnixConnector(path=str(server.path))
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.ws_connect("http://x/terminal") as socket,
        ):
            await socket.send_str(text)
            await socket.send_bytes(b"\x00")
            await socket.send_str(json.dumps({"type": "message", "id": "m1", "text": "still here \ud800"}))
            types: list[str] = []
            while not types or types[-1] != "receipt":
                types.append((await socket.receive_json())["type"])
            assert types.count("error") == 2
    assert [inbound.id for inbound in house.inbound] == ["m1"]
    assert isinstance(house.inbound[0], UserMessage)
    assert house.inbound[0].text == "still here ?"


@pytest.mark.parametrize("chat", [" ", "a\nb", "x" * 65, "\x1b[31m"])
async def test_a_chat_without_a_proper_name_is_refused_for_good(tmp_path: Path, chat: str) -> None:
    async with House(tmp_path).open(), attached(tmp_path, chat) as terminal:
        await terminal.ended()
        assert "printable" in terminal.link.refusal


async def test_before_the_channel_runs_a_terminal_is_asked_to_come_back(tmp_path: Path) -> None:
    channel = build(Config(), kit(MemoryRecords()))
    assert not channel.connected
    async with served(channel, tmp_path), attached(tmp_path) as terminal:
        await terminal.ended()
        assert terminal.link.refusal == ""


async def test_what_cannot_be_stored_is_not_acknowledged_and_the_reason_is_said(tmp_path: Path) -> None:
    async def full(inbound: Inbound) -> Receipt:
        raise StoreFull("No room is left on the disk.")

    channel = build(Config(), kit(MemoryRecords()))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(channel.run(full))
        async with served(channel, tmp_path), attached(tmp_path) as terminal:
            await terminal.link.send({"type": "message", "id": "m1", "text": "hi"})
            assert await terminal.next("error", "receipt") == {
                "type": "error",
                "id": "m1",
                "text": "No room is left on the disk.",
            }
        running.cancel()
    assert not channel.connected


async def test_a_history_that_cannot_be_read_keeps_nobody_out(tmp_path: Path) -> None:
    class Unreadable(MemoryRecords):
        async def rows(self, address: Address, limit: int) -> list[Row]:
            raise StoreError("The file is damaged.")

    async with House(tmp_path, records=Unreadable()).open(), attached(tmp_path) as terminal:
        assert await terminal.next("history") == {"type": "history", "entries": []}


async def test_an_answer_that_ends_while_the_history_is_read_is_told_once(tmp_path: Path) -> None:
    """Between reading and attaching nothing may be lost or doubled."""

    class Slow(MemoryRecords):
        async def rows(self, address: Address, limit: int) -> list[Row]:
            self.append(MAIN, "t1", UserRow("q", owner_of("terminal"), "m1"), ReplyRow("whole"))
            await house.channel.show(MAIN, None, shown(house.channel, "t1", "whole", final=True))
            return list(self.all)

    house = House(tmp_path, records=Slow())
    async with house.open(), attached(tmp_path) as terminal:
        history = await terminal.next("history")
        assert [entry["who"] for entry in history["entries"]] == ["person"]
        assert (await terminal.final())["text"] == "whole"


async def test_files_do_not_come_through_a_terminal() -> None:
    channel = build(Config(), kit(MemoryRecords()))
    with pytest.raises(ChannelError):
        await channel.fetch(FileRef("terminal", "f", "a.txt", "text/plain"))
    assert list(await channel.history(MAIN, 5)) == []
    press = ButtonPress("p", MAIN, owner_of("terminal"), "b:1:once", 0.0, token="t99")
    await channel.answer(press, "nobody is there any more")


def test_the_web_cannot_mount_the_terminal() -> None:
    """``bot.web`` serves the ``app`` of every channel that has one; the terminal's handler makes whoever calls it owner."""
    assert not hasattr(build(Config(), kit(MemoryRecords())), "app")


def test_any_text_renders_as_itself() -> None:
    channel = build(Config(), kit(MemoryRecords()))
    assert channel.limits.structured
    for text in ("", "a\x1b[2Jb", "中文", "```\n" * 5):
        assert channel.render(text).text == text
        assert channel.render(text).length == len(text)
    assert part_of(channel, View("t1", "x")).nonce == "t1.0"
