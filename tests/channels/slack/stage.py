"""Turns on the real adapter, the real libraries and the simulator's wire, in time that a test drives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from bot.app.supervision import Supervisor
from bot.core.address import Address
from bot.core.events import TextDelta, TurnEnded, TurnEvent
from bot.core.inbound import Inbound, Receipt, UserMessage
from bot.core.ports import ChannelKit
from bot.core.stop import StopReason
from bot.net.http import Transport
from bot.outbox.governor import BucketGovernor
from bot.outbox.publisher import Outcome, Publisher
from channels.slack.channel import SlackChannel, build
from channels.slack.config import Config
from tests.fakes.archive import MemoryArchive
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import FakeLedger
from tests.fakes.notes import MemoryNotes
from tests.sim.slack import Call, Channel, Shown, SlackSim

QUIET_SECONDS = 0.003
T = TypeVar("T")


class WireClock(FakeClock):
    """A driven clock for parts that talk over sockets: before time moves on, the wire has gone quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: Callable[[], int] = lambda: 0

    async def settle(self, rounds: int = 2) -> None:
        quiet, last = 0, -1
        while quiet < rounds:
            await asyncio.sleep(QUIET_SECONDS)
            quiet, last = (quiet + 1 if self.busy() == last else 0), self.busy()


class Stage:
    """One bot that listens, and its governor. ``ask`` has a person ask something and starts the publisher of the answer;
    ``received`` is what the adapter handed over."""

    def __init__(self, clock: WireClock, sim: SlackSim, kit: ChannelKit, streaming: str) -> None:
        self.clock, self.sim, self.kit = clock, sim, kit
        self.received: list[Inbound] = []
        self.group = asyncio.TaskGroup()
        config = {"bot_token": sim.bot_token, "app_token": sim.app_token, "api_base": sim.api_base}
        self._config = Config.model_validate(config | {"streaming": streaming})
        self.channel: SlackChannel = build(self._config, kit)
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._listening = self.group.create_task(Supervisor(self.channel, self.clock).run(self.receive))
        while not self.channel.connected:
            await self.clock.advance(0.01)

    async def stop(self) -> None:
        assert self._listening is not None
        self._listening.cancel()
        await asyncio.wait({self._listening})

    async def restart(self) -> None:
        """Another process takes over: it knows nothing but the notes."""
        await self.stop()
        self.channel = build(self._config, self.kit)
        await self.start()

    @property
    def notes(self) -> MemoryNotes:
        assert isinstance(self.kit.notes, MemoryNotes)
        return self.kit.notes

    def at(self, channel: Channel, thread: str = "") -> Address:
        return Address("slack", "main", channel.id, thread)

    def dm(self, number: int = 1) -> Channel:
        return self.sim.dm(self.sim.person(f"U{number:04}", f"P{number}"))

    def room(self, number: int = 1) -> Channel:
        """A channel, in which answers open threads."""
        return self.sim.channel(
            f"C{number:04}", f"room{number}", members=[self.sim.person(f"U{number:04}", f"P{number}")]
        )

    async def ask(self, channel: Channel, *, thread: str | None = None, ledger: FakeLedger | None = None) -> Turn:
        text = "a question" if channel.is_dm else "<@BOT> a question"
        said = await self.sim.say(channel, next(iter(channel.members.values())), text, thread=thread)
        message = await self.heard(lambda one: isinstance(one, UserMessage) and one.id == said["ts"])
        return self.turn(message, channel, ledger)

    def turn(self, message: Inbound, channel: Channel, ledger: FakeLedger | None = None) -> Turn:
        """The answer to a message that was received."""
        return Turn(self, channel, message.address, ledger or FakeLedger(), turn_of(message))

    def again(self, turn: Turn) -> Turn:
        """The same turn, with a publisher that knows only the ledger."""
        return Turn(self, turn.channel, turn.to, turn.ledger, turn.name)

    async def heard(self, holds: Callable[[Inbound], bool], within: float = 10.0) -> Inbound:
        """The first such inbound, once it has come."""
        began = self.clock.monotonic()
        while not any(holds(one) for one in self.received):
            assert self.clock.monotonic() - began < within, "nothing came"
            await self.clock.advance(0.06)
        return next(one for one in self.received if holds(one))

    async def receive(self, inbound: Inbound) -> Receipt:
        key = (inbound.address, inbound.id, inbound.kind)
        known = any((one.address, one.id, one.kind) == key for one in self.received)
        if not known:
            self.received.append(inbound)
        is_meant = isinstance(inbound, UserMessage) and inbound.addressed
        return Receipt(turn_of(inbound) if is_meant else "", duplicate=known)

    async def done(self, work: Coroutine[Any, Any, T]) -> T:
        """What ``work`` comes to, while time goes on."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.clock.advance(0.05)
        return task.result()


def turn_of(inbound: Inbound) -> str:
    return f"turn of {inbound.id}"


class Turn:
    """One answer that the test writes. ``outcome`` is set once its publisher has come to an end."""

    def __init__(self, stage: Stage, channel: Channel, to: Address, ledger: FakeLedger, name: str) -> None:
        self.stage, self.channel, self.to, self.ledger, self.name = stage, channel, to, ledger, name
        self.publisher = Publisher(
            stage.channel,
            stage.kit.governor,
            ledger,
            stage.clock,
            self.to,
            name,
            "en",
            limits=stage.channel.limits,
            send_file=stage.channel.send_file,
            send_files=stage.channel.send_files,
            jitter=lambda: 0.5,
        )
        self.outcome: Outcome | None = None
        self.first_token_at: float | None = None
        self.task = stage.group.create_task(self._run())

    async def _run(self) -> None:
        self.outcome = await self.publisher.run()

    def emit(self, *events: TurnEvent) -> None:
        for event in events:
            self.publisher.emit(event)

    def say(self, text: str) -> None:
        if self.first_token_at is None:
            self.first_token_at = self.stage.clock.monotonic()
        self.emit(TextDelta(text))

    def end(self, reason: StopReason = StopReason.ANSWERED) -> None:
        self.emit(TurnEnded(reason))

    async def write(self, pieces: Sequence[str], per_second: float) -> None:
        """At this rate by the driven clock; several pieces at once where the clock would tick too finely."""
        at_once = max(1, round(per_second / 8))
        for start in range(0, len(pieces), at_once):
            self.say("".join(pieces[start : start + at_once]))
            await self.stage.clock.advance(at_once / per_second)

    async def delivered(self, within: float) -> None:
        """Let up to ``within`` seconds pass until the end stands on the screen."""
        passed = 0.0
        while self.outcome is None and passed < within:
            await self.stage.clock.advance(2.0)
            passed += 2.0
        assert self.outcome is not None and self.outcome.delivered, self.outcome

    @property
    def calls(self) -> list[Call]:
        """Those in its channel that show something, in order."""
        shown = [call for call in self.stage.sim.calls if call.channel == self.channel.id]
        return [call for call in shown if call.method.startswith("chat.")]

    @property
    def said(self) -> list[str]:
        """Its messages as texts, or as the names of the files that they are."""
        return [", ".join(message.files) or message.text for message in self.shown]

    @property
    def shown(self) -> list[Shown]:
        messages = self.stage.sim.visible(self.channel, self.to.thread or None)
        return [message for message in messages if message.from_bot]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.shown]


@asynccontextmanager
async def stage(
    streaming: str = "edit", *, notes: MemoryNotes | None = None, kind: type[Stage] = Stage, **sim_options: Any
) -> AsyncIterator[Stage]:
    clock = WireClock()
    options = {"monotonic": clock.monotonic, "sleep": clock.sleep, "now": clock.now} | sim_options
    async with SlackSim(**options) as sim:
        http, governor = Transport(), BucketGovernor(clock)
        kit = ChannelKit(
            governor=governor,
            clock=clock,
            archive=MemoryArchive(),
            notes=notes or MemoryNotes(),
            name="slack",
            account="main",
            language="en",
            about=dict,
            http=http,
        )
        made = kind(clock, sim, kit, streaming)
        governor.declare("slack", made.channel.rates)
        clock.busy = lambda: len(sim.calls) + len(sim.acks) + len(made.received) + sim.wires.pongs
        try:
            async with asyncio.TaskGroup() as made.group:
                await made.start()
                yield made
                await made.stop()
        finally:
            await http.aclose()
