"""Pairing through a whole daemon: a stranger on a platform, the page's owner, and ``bowerbird pair`` as a process."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import BaseModel, ConfigDict

from bot.app.control import ControlServer, control_app
from bot.app.control_client import ControlClient
from bot.app.daemon import run_daemon
from bot.app.lock import FolderLock
from bot.app.pairing import approve, listing, revoke
from bot.config.load import load
from bot.config.loaded import Config as Loaded
from bot.config.loaded import Entry
from bot.core.address import Address, Sender
from bot.core.errors import AlreadyRunning, TransportError
from bot.core.inbound import Receipt, UserMessage
from bot.core.ports import ChannelKit, Receive
from bot.core.view import Limits
from bot.inbox.access import Access
from bot.inbox.pairing import ALPHABET, CODE_CHARS
from bot.time.clock import SystemClock
from tests.app.conftest import CONFIG, free_port
from tests.cli.programs import ROOT, environment
from tests.fakes.channel import FakeChannel
from tests.fakes.house import House, MemoryRecords
from tests.sim.llm import LlmSim, answer, text

CODE = re.compile(rf"[{ALPHABET}]{{{CODE_CHARS}}}")
BOB, EVE = Sender("fake", "20", "Bob"), Sender("fake", "21", "Eve")


class Street(FakeChannel):
    """The platform on which strangers write."""

    receive: Receive

    async def run(self, receive: Receive) -> None:
        self.receive = receive
        await super().run(receive)

    async def say(self, who: Sender, text: str, number: int = 1) -> Receipt:
        here = Address("fake", "main", who.id)
        return await self.receive(UserMessage(str(number), here, who, text, 1.0))

    def told(self, who: Sender) -> list[str]:
        return [message.text for message in self.messages.values() if message.to.chat == who.id]

    async def until_told(self, who: Sender, words: str) -> str:
        async with asyncio.timeout(10):
            while True:
                for said in self.told(who):
                    if words in said:
                        return said
                await asyncio.sleep(0.01)


class Config(BaseModel):
    """Made by the test, never read from a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    street: Any
    access: Access = Access()


def build(config: Config, kit: ChannelKit) -> Street:
    street: Street = config.street
    street.governor = kit.governor
    return street


@dataclass
class Town:
    """A config file, and daemons on its data folder, with ``street`` as one more channel."""

    config: Loaded
    port: int
    street: Street = field(default_factory=lambda: Street(SystemClock(), Limits(4096, "utf16"), strict=False))

    @asynccontextmanager
    async def daemon(self) -> AsyncIterator[Street]:
        entry = Entry("fake", "fake", Config(street=self.street), __name__)
        config = replace(self.config, channels={**self.config.channels, "fake": entry})
        ready = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(run_daemon(config, ready=ready.set))
            await ready.wait()
            while not hasattr(self.street, "receive"):
                await asyncio.sleep(0.005)
            yield self.street
            task.cancel()
        del self.street.receive

    async def pair(self, *arguments: str) -> tuple[int, str]:
        """Exit status and what was printed."""
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "pair", *arguments, "--config", str(self.config.file)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=environment(),
            cwd=ROOT,
        )
        out, _ = await program.communicate()
        assert program.returncode is not None
        return program.returncode, out.decode()

    async def on_the_page(self, said: str, number: int) -> None:
        async with aiohttp.ClientSession() as http:
            body = {"chat": "c", "text": said, "id": f"m{number}"}
            async with http.post(f"http://127.0.0.1:{self.port}/v1/messages", json=body) as got:
                assert got.status == 202


@pytest.fixture
def town(tmp_path: Path, sim: LlmSim) -> Town:
    port, file = free_port(), tmp_path / "config.yaml"
    file.write_text(CONFIG.format(port=port, sim=sim.url), encoding="utf-8")
    return Town(load(file, {}), port)


def code_in(receipt: Receipt) -> str:
    found = CODE.search(receipt.refused)
    assert found, receipt
    return found[0]


async def test_the_command_line_makes_the_first_one_the_owner_who_lets_in_the_next(town: Town, sim: LlmSim) -> None:
    sim.script(answer(text("Hello Bob.")))
    async with town.daemon() as street:
        code = code_in(await street.say(BOB, "hi"))
        status, shown = await town.pair("list")
        assert status == 0 and code in shown and "Bob (fake:20)" in shown
        status, shown = await town.pair("approve", code)
        assert (status, shown) == (0, "Bob (fake:20) may now talk to me and, as the first one on fake, is its owner.\n")
        await street.until_told(BOB, "are my owner here")
        await street.say(BOB, "hi", 2)
        await street.until_told(BOB, "Hello Bob.")
        await street.say(BOB, f"/pair {code_in(await street.say(EVE, 'hi'))}", 3)
        await street.until_told(EVE, "You have been let in")
        found = json.loads((await town.pair("list", "--json"))[1])
        assert [(one["id"], one["standing"], one["by"]) for one in found["people"]] == [
            ("20", "owner", "command line"),
            ("21", "user", "fake:20"),
        ]
        assert (await town.pair("revoke", "fake:21"))[0] == 0
        assert not (await street.say(EVE, "hi", 2)).turn
        assert (await town.pair("revoke", "fake:99"))[0] == 1
        assert (await town.pair("approve", code))[0] == 0


async def test_the_owner_at_the_page_lets_in_the_first_one_elsewhere(town: Town) -> None:
    async with town.daemon() as street:
        await town.on_the_page(f"/pair {code_in(await street.say(BOB, 'hi'))}", 1)
        await street.until_told(BOB, "are my owner here")


async def test_without_a_daemon_the_command_line_decides_and_the_next_start_tells(town: Town) -> None:
    async with town.daemon() as street:
        first, second = code_in(await street.say(BOB, "hi")), code_in(await street.say(EVE, "hi"))
    _, shown = await town.pair("list", "--json")
    assert [one["code"] for one in json.loads(shown)["waiting"]] == [first, second]
    assert "is its owner" in (await town.pair("approve", first))[1]
    assert (await town.pair("approve", second[::-1]))[0] == 1
    assert "no longer counts" in (await town.pair("revoke", "fake:21"))[1]
    assert town.street.messages == {}
    async with town.daemon() as street:
        await street.until_told(BOB, "are my owner here")
        assert (await street.say(EVE, "hi", 2)).refused == ""
    async with town.daemon() as street:
        await street.say(BOB, "/pair", 2)
        assert "owner" in await street.until_told(BOB, "Known to me")
    assert len(street.told(BOB)) == 2 and street.told(EVE) == []


async def test_a_kill_between_the_approval_and_the_next_step_loses_and_repeats_nothing(town: Town) -> None:
    async with town.daemon() as street:
        code = code_in(await street.say(BOB, "hi"))
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _DIES_AFTER_THE_APPROVAL, str(town.config.file), code), cwd=ROOT, env=environment()
    )
    assert await program.wait() == -signal.SIGKILL
    assert (await approve(town.config, code)).kind == "already"
    async with town.daemon() as street:
        await street.until_told(BOB, "are my owner here")
    assert len(street.messages) == 1


_DIES_AFTER_THE_APPROVAL = """
import asyncio, os, signal, sys
from pathlib import Path
from bot.app.pairing import approve
from bot.config.load import load

async def work():
    await approve(load(Path(sys.argv[1]), {}), sys.argv[2])
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(work())
"""


async def test_looking_makes_no_data_folder_and_needs_no_lock(town: Town) -> None:
    assert (await listing(town.config)).people == ()
    assert not town.config.data_dir.exists()
    with FolderLock(town.config.data_dir):
        assert (await listing(town.config)).waiting == ()


async def test_while_another_holds_the_folder_and_does_not_answer_nothing_is_decided(town: Town) -> None:
    with FolderLock(town.config.data_dir), pytest.raises(AlreadyRunning):
        await revoke(town.config, "fake:20", patience=0.3)


async def test_a_daemon_that_is_just_starting_is_waited_for(town: Town) -> None:
    lock = FolderLock(town.config.data_dir)
    lock.acquire()
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(approve(town.config, "34679ACD"))
        await asyncio.sleep(0.3)
        assert not asked.done()
        lock.release()
        async with town.daemon():
            assert (await asked).kind == "unknown"


async def test_two_command_lines_at_once_decide_one_after_the_other(town: Town) -> None:
    async with town.daemon() as street:
        code = code_in(await street.say(BOB, "hi"))
    rulings = await asyncio.gather(*(approve(town.config, code) for _ in range(3)))
    assert sorted(ruling.kind for ruling in rulings) == ["already", "already", "approved"]


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"code": 7}', '{"identity": "x:1"}'])
async def test_a_body_that_is_none_is_refused_in_words(town: Town, body: str) -> None:
    async with (
        town.daemon(),
        aiohttp.ClientSession(connector=_connector(town)) as http,
        http.post("http://bowerbird/pair/approve", data=body) as got,
    ):
        assert (got.status, "code" in (await got.json())["error"]) == (400, True)


async def test_a_daemon_without_pairing_is_told_from_none(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as lock:
        app = control_app(House(tmp_path / "unused"), MemoryRecords())
        async with ControlServer(lock, app), ControlClient(tmp_path) as client:
            with pytest.raises(TransportError, match="404"):
                await client.pair()


def _connector(town: Town) -> Any:
    return aiohttp.UnixConnector(path=str(town.config.data_dir / "daemon.sock"))
