"""A small house behind the real terminal channel, control app and socket: it answers by a script, without a brain.

``python -m tests.fakes.house DATA_DIR`` runs it as a process of its own until SIGTERM. What a message makes it do:
``slow`` writes until it is stopped, and ``join`` joins that; ``ask`` opens an approval card and goes on when it is
decided; ``fail`` ends without a model; ``long N`` answers with N paragraphs; ``refuse`` is turned away; anything else
is echoed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.app.control import ControlServer, control_app
from bot.app.lock import FolderLock
from bot.core.address import Address
from bot.core.inbound import ButtonPress, Inbound, Receipt, StopPressed, UserMessage
from bot.core.model import TextBlock, Usage
from bot.core.ports import ChannelKit, ChatSummary
from bot.core.stop import StopReason
from bot.core.transcript import Body, EndRow, Row, StepRow, UserRow
from bot.core.view import ApprovalCard, Button, OutFile, Part, Phase, Ref, ToolLine, View
from bot.net.http import Transport
from bot.time.clock import SystemClock
from channels.terminal.channel import TerminalChannel, build
from channels.terminal.config import Config
from tests.fakes.governor import OpenGovernor
from tests.fakes.notes import MemoryNotes

VERBS = ("once", "chat", "always", "deny")


class MemoryRecords:
    """Implements ``bot.app.records.Records``."""

    def __init__(self, start: int = 1) -> None:
        self.all: list[Row] = []
        self._ids = itertools.count(start)

    def append(self, address: Address, turn: str, *bodies: Body, at: float = 1_800_000_000.0) -> None:
        self.all += [Row(next(self._ids), address, turn, at, body) for body in bodies]

    async def chats(self, channel: str, account: str, limit: int) -> Sequence[ChatSummary]:
        return ()

    async def rows(self, address: Address, limit: int) -> Sequence[Row]:
        return [row for row in self.all if row.address == address][-limit:]

    async def turn_rows(self, turn: str) -> Sequence[Row]:
        return [row for row in self.all if row.turn == turn]


def kit(records: MemoryRecords, *, governor: OpenGovernor | None = None, language: str = "en") -> ChannelKit:
    return ChannelKit(
        governor=governor or OpenGovernor(),
        clock=SystemClock(),
        http=Transport(),
        archive=records,
        notes=MemoryNotes(),
        name="terminal",
        account="main",
        language=language,
        about=dict,
    )


class House:
    """Implements ``bot.core.ports.Control`` and ``bot.core.ports.Receive``. ``inbound`` is all that arrived, in order."""

    def __init__(
        self, data_dir: Path, *, language: str = "en", turns: str = "turn", records: MemoryRecords | None = None
    ) -> None:
        self.lock = FolderLock(data_dir)
        self.records = records or MemoryRecords()
        self.governor = OpenGovernor()
        self.channel: TerminalChannel = build(Config(), kit(self.records, governor=self.governor, language=language))
        self.inbound: list[Inbound] = []
        self._turns = (f"{turns}-{number}" for number in itertools.count(1))
        self._known: dict[tuple[Address, str], Receipt] = {}
        self._stops: dict[Address, asyncio.Event] = {}
        self._running: dict[Address, str] = {}
        self._presses: dict[str, asyncio.Future[ButtonPress]] = {}
        self._group = asyncio.TaskGroup()
        self._answers: list[asyncio.Task[None]] = []

    async def status(self) -> Mapping[str, Any]:
        return {"name": "Bowerbird", "pid": 1, "channels": {"terminal": "connected"}}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[ControlServer]:
        """The channel running and the socket served."""
        with self.lock:
            async with self._group:
                channel = self._group.create_task(self.channel.run(self.receive))
                app = control_app(self, self.records, self.channel.attach)
                async with ControlServer(self.lock, app) as server:
                    try:
                        yield server
                    finally:
                        for task in (channel, *self._answers):
                            task.cancel()

    async def receive(self, inbound: Inbound) -> Receipt:
        key = (inbound.address, inbound.id)
        if key in self._known:
            receipt = self._known[key]
            return Receipt(turn=receipt.turn, duplicate=True, refused=receipt.refused)
        self.inbound.append(inbound)
        receipt = self._known[key] = self._received(inbound)
        return receipt

    def _received(self, inbound: Inbound) -> Receipt:
        match inbound:
            case UserMessage(text="refuse"):
                return Receipt(refused="Not today.")
            case UserMessage(text="join") as message if message.address in self._running:
                running = self._running[message.address]
                self.records.append(message.address, running, UserRow("join", message.sender, message.id, steered=True))
                return Receipt(turn=next(self._turns))
            case UserMessage() as message:
                turn = next(self._turns)
                self.records.append(message.address, turn, UserRow(message.text, message.sender, message.id))
                self._answers.append(self._group.create_task(self._answer(turn, message)))
                return Receipt(turn=turn)
            case StopPressed(address=address) if address in self._stops:
                self._stops[address].set()
            case ButtonPress() as press if (
                waiting := self._presses.pop(press.payload.split(":")[1], None)
            ) is not None:
                waiting.set_result(press)
            case _:
                pass
        return Receipt()

    async def _answer(self, turn: str, message: UserMessage) -> None:
        to = message.address
        await self.show(to, View(turn))
        match message.text.split():
            case ["slow"]:
                view = await self._slowly(to, View(turn))
            case ["ask"]:
                view = await self._asking(to, View(turn, text="I need to look.", phase=Phase.WAITING))
            case ["fail"]:
                view = View(turn, notices=("No model can be reached.",), stop=StopReason.PROVIDER_UNAVAILABLE)
            case ["draw"]:
                chart = OutFile("chart.svg", "image/svg+xml", __file__)
                view = View(turn, text="Drawn.", files=(chart,), stop=StopReason.ANSWERED)
            case ["long", count]:
                view = await self._growing(to, View(turn), int(count))
            case _:
                tools = (ToolLine("c1", "echo", message.text, 0.2),)
                view = View(turn, text=f"You said **{message.text}**.", tools=tools, stop=StopReason.ANSWERED)
        assert view.stop is not None
        step = StepRow(1, (TextBlock(view.text),), "fake/fake", "end", Usage(1, 1))
        self.records.append(to, turn, step, EndRow(view.stop, "".join(view.notices)))
        await self.show(to, view)

    async def _slowly(self, to: Address, view: View) -> View:
        stop = self._stops[to] = asyncio.Event()
        self._running[to] = view.turn
        text = ""
        for number in itertools.count(1):
            text += f"word{number} "
            await self.show(to, View(view.turn, text=text, phase=Phase.WRITING))
            try:
                async with asyncio.timeout(0.05):
                    await stop.wait()
                break
            except TimeoutError:
                continue
        del self._stops[to], self._running[to]
        return View(view.turn, text=text, notices=("Stopped.",), stop=StopReason.STOPPED)

    async def _asking(self, to: Address, view: View) -> View:
        card = ApprovalCard(
            f"card{view.turn[-1]}", "c1", "shell", "run", "This tool runs a program.", '{"command": "ls"}', 2e9
        )
        waiting = self._presses[card.id] = asyncio.get_running_loop().create_future()
        await self.show(to, View(view.turn, view.text, Phase.WAITING, cards=(card,)))
        press = await waiting
        verb = press.payload.rpartition(":")[2]
        await self.channel.answer(press, f"Noted: {verb}.")
        decided = replace(card, decision=verb, decided_by="Owner")
        return View(view.turn, text=f"Decided: {verb}", cards=(decided,), stop=StopReason.ANSWERED)

    async def _growing(self, to: Address, view: View, count: int) -> View:
        text = ""
        for number in range(1, count + 1):
            text += f"paragraph {number}\n\n"
            await self.show(to, View(view.turn, text=text, phase=Phase.WRITING))
            await asyncio.sleep(0)
        return View(view.turn, text=text.strip(), stop=StopReason.ANSWERED)

    async def show(self, to: Address, view: View) -> Ref:
        return await self.channel.show(to, None, part_of(self.channel, view))


def part_of(channel: TerminalChannel, view: View) -> Part:
    """The whole view as one part, as the outbox makes it for a channel with room enough."""
    buttons = tuple(Button(verb, f"b:{card.id}:{verb}") for card in view.cards if not card.decision for verb in VERBS)
    return Part(view.turn, 0, 0, view.text, channel.render(view.text), view, buttons=buttons, final=view.final)


async def _process(data_dir: Path) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with House(data_dir, turns=f"turn-{os.getpid()}").open():
        print("open", flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_process(Path(sys.argv[1])))
