"""A house behind the real web channel and the real HTTP server: it answers by a script, without a brain."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bot.core.address import Address
from bot.core.errors import ChatClosed, StoreFull
from bot.core.inbound import ButtonPress, Inbound, Receipt, StopPressed, UserMessage
from bot.core.model import CallBlock, TextBlock, Usage
from bot.core.ports import ChannelKit, Clock, NoShelf, Shelf, owner_of
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, KeptFile, ResultRow, StepRow, UserRow
from bot.core.view import ApprovalCard, Part, Phase, ToolLine, View
from bot.net.http import Transport
from bot.store.files import Files
from bot.time.clock import SystemClock
from bot.web.health import Health
from bot.web.metrics import Metrics
from bot.web.server import WebServer
from channels.web.channel import Config, WebChannel, build
from tests.fakes.archive import MemoryArchive
from tests.fakes.governor import OpenGovernor
from tests.fakes.notes import MemoryNotes


class Turn:
    """One answer, shown whole after every change, as the publisher does it."""

    def __init__(self, house: House, message: UserMessage, id_: str) -> None:
        self.house, self.message, self.view = house, message, View(id_)
        self.stopped = asyncio.Event()
        self.presses: asyncio.Queue[ButtonPress] = asyncio.Queue()

    @property
    def id(self) -> str:
        return self.view.turn

    async def show(self, **changes: Any) -> None:
        self.view = replace(self.view, **changes)
        await self.house.show(self.message.address, self.view)

    async def think(self) -> None:
        await self.show(phase=Phase.THINKING)

    async def write(self, text: str) -> None:
        await self.show(text=self.view.text + text, phase=Phase.WRITING)

    async def stream(self, text: str, pause: float = 0.0, size: int = 4) -> bool:
        """Write ``text`` piece by piece; False when the person pressed Stop meanwhile."""
        for at in range(0, len(text), size):
            if self.stopped.is_set():
                return False
            await self.write(text[at : at + size])
            await asyncio.sleep(pause)
        return True

    async def tool(self, call_id: str, name: str, summary: str) -> None:
        await self.show(tools=(*self.view.tools, ToolLine(call_id, name, summary)))

    async def tool_done(self, call_id: str, seconds: float, *, error: bool = False) -> None:
        await self.show(
            tools=tuple(
                replace(line, seconds=seconds, error=error) if line.call_id == call_id else line
                for line in self.view.tools
            )
        )

    async def ask(self, card: ApprovalCard) -> str:
        """Show the card, wait for a press, show the decision; returns the verb."""
        await self.show(cards=(*self.view.cards, card), phase=Phase.WAITING)
        press = await self.presses.get()
        verb = press.payload.rpartition(":")[2]
        await self.house.channel.answer(press, f"Noted: {verb}.")
        decided = tuple(
            replace(one, decision=verb, decided_by="Owner") if one.id == card.id else one for one in self.view.cards
        )
        await self.show(cards=decided, phase=Phase.THINKING)
        return verb

    async def end(self, stop: StopReason = StopReason.ANSWERED, notice: str = "", **changes: Any) -> None:
        self.record(stop, notice)
        notices = (*self.view.notices, notice) if notice else self.view.notices
        await self.show(phase=Phase.DONE, stop=stop, notices=notices, **changes)

    def record(self, stop: StopReason | None, notice: str = "") -> None:
        """Write what the transcript would hold of this turn, beside the person's message."""
        calls = [
            ToolCall(line.call_id, line.name, {"q": line.summary} if line.summary else {}) for line in self.view.tools
        ]
        archive, now = self.house.archive, self.house.clock.now()
        content: tuple[TextBlock | CallBlock, ...] = (TextBlock(self.view.text), *map(CallBlock, calls))
        step = StepRow(1, content, "fake/fake", "end", Usage(11, 7))
        archive.append(self.message.address, self.id, now, step)
        for line in self.view.tools:
            result = ResultRow(line.call_id, line.name, "…", line.error, line.seconds or 0.0)
            archive.append(self.message.address, self.id, now, result)
        if stop is not None:
            archive.append(self.message.address, self.id, now, EndRow(stop, notice))


Script = Callable[[Turn], Awaitable[None]]


async def echo(turn: Turn) -> None:
    await turn.think()
    await turn.write(f"You said: {turn.message.text}")
    await turn.end()


class House:
    """Implements ``bot.core.ports.Receive``. ``inbound`` is all that arrived; ``script`` answers each message."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        clock: Clock | None = None,
        script: Script = echo,
        language: str = "auto",
        data_dir: Path | None = None,
    ) -> None:
        self.config = config or Config(port=0)
        self.clock: Clock = clock or SystemClock()
        self.archive = MemoryArchive()
        self.governor = OpenGovernor()
        self.script = script
        self.inbound: list[Inbound] = []
        self.turns: dict[str, Turn] = {}
        self.about: dict[str, Any] = {
            "name": "Bowerbird",
            "version": "0.1.0",
            "model": {"state": "ready", "name": "fake", "demo": False},
            "models": ["fake/fake"],
        }
        self.full = False
        self.refusal = ""
        self.port = 0
        self.shelf: Shelf = NoShelf() if data_dir is None else Files(data_dir)
        self.channel = self._built(language)
        self._language = language
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        self._known: dict[tuple[Address, str], Receipt] = {}
        self._ids = itertools.count(1)

    def _built(self, language: str) -> WebChannel:
        kit = ChannelKit(
            governor=self.governor,
            clock=self.clock,
            http=Transport(),
            archive=self.archive,
            notes=MemoryNotes(),
            name="web",
            account="main",
            language=language,
            about=self._about,
            shelf=self.shelf,
        )
        return build(self.config, kit)

    def _about(self) -> Mapping[str, Any]:
        return self.about

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def address(self, chat: str) -> Address:
        return Address("web", "main", chat)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[House]:
        """The channel running and its port served. Opening again is a restart: same port, same past, nothing else."""
        if self.port:
            self.channel = self._built(self._language)
        health = Health(lambda: {"web": self.channel.connected})
        server = WebServer(self.config.host, self.port, [self.channel.app], health, Metrics(self.clock))
        async with server:
            self.port = server.port
            self._group = asyncio.TaskGroup()
            async with self._group:
                running = self._group.create_task(self.channel.run(self.receive))
                await asyncio.sleep(0)
                try:
                    yield self
                finally:
                    for task in (running, *self._tasks):
                        task.cancel()
                    self._tasks.clear()

    async def receive(self, inbound: Inbound) -> Receipt:
        if self.full:
            raise StoreFull("the disk is full")
        if self.refusal:
            return Receipt(refused=self.refusal)
        key = (inbound.address, inbound.id)
        if key in self._known:
            return replace(self._known[key], duplicate=True)
        self.inbound.append(inbound)
        self._known[key] = self._received(inbound)
        return self._known[key]

    def _received(self, inbound: Inbound) -> Receipt:
        match inbound:
            case UserMessage():
                turn = Turn(self, inbound, f"turn{next(self._ids)}")
                self.turns[turn.id] = turn
                files = tuple(KeptFile(ref.name, ref.media_type, ref.id) for ref in inbound.files)
                row = UserRow(inbound.text, inbound.sender, inbound.id, files=files)
                self.archive.append(inbound.address, turn.id, self.clock.now(), row)
                self._tasks.append(self._group.create_task(_played(self.script, turn)))
                return Receipt(turn=turn.id)
            case StopPressed():
                for turn in self._at(inbound.address):
                    turn.stopped.set()
            case ButtonPress():
                for turn in self._at(inbound.address):
                    turn.presses.put_nowait(inbound)
            case _:
                pass
        return Receipt()

    def _at(self, address: Address) -> list[Turn]:
        return [turn for turn in self.turns.values() if turn.message.address == address and not turn.view.final]

    async def show(self, to: Address, view: View) -> None:
        rendered = self.channel.render(view.text)
        await self.channel.show(to, None, Part(view.turn, 0, 0, view.text, rendered, view, final=view.final))

    def start(self, chat: str, text: str = "Hello") -> Turn:
        """A turn that the test itself drives."""
        address = self.address(chat)
        message = UserMessage(f"m{next(self._ids)}", address, owner_of("web"), text, self.clock.now())
        turn = Turn(self, message, f"turn{next(self._ids)}")
        self.turns[turn.id] = turn
        self.archive.append(address, turn.id, self.clock.now(), UserRow(text, message.sender, message.id))
        return turn


async def _played(script: Script, turn: Turn) -> None:
    try:
        await script(turn)
    except ChatClosed:
        return


def card(id_: str = "card1", *, expires_at: float = 2_000_000_000.0) -> ApprovalCard:
    return ApprovalCard(
        id=id_,
        call_id="c1",
        tool="shell",
        effect="run",
        reason="This tool runs a program.",
        arguments='{\n  "command": "ls -la",\n  "timeout": 60\n}',
        expires_at=expires_at,
    )
