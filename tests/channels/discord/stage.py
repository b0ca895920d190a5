"""Turns on the real adapter, the real library and the simulator's wire, in time that a test drives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from discord.gateway import KeepAliveHandler

from bot.core.address import Address
from bot.core.events import TextDelta, TurnEnded
from bot.core.ports import ChannelKit, Receive
from bot.core.stop import StopReason
from bot.net.http import Transport
from bot.outbox.governor import BucketGovernor
from bot.outbox.publisher import Outcome, Publisher
from channels.discord.channel import DiscordChannel, build
from channels.discord.config import Config
from tests.fakes.archive import MemoryArchive
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import FakeLedger
from tests.fakes.notes import MemoryNotes
from tests.sim.discord import Call, Channel, DiscordSim

QUIET_SECONDS = 0.003


class WireClock(FakeClock):
    """A driven clock for parts that talk over sockets: before time moves on, the wire has gone quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: Callable[[], object] = lambda: 0

    async def settle(self, rounds: int = 2) -> None:
        quiet, last = 0, None
        while quiet < rounds:
            await asyncio.sleep(QUIET_SECONDS)
            quiet, last = (quiet + 1 if self.busy() == last else 0), self.busy()


class Stage:
    """``turn(chat)`` starts a publisher there; everything shares one governor and one bot. ``notes`` outlive the bot."""

    def __init__(self, clock: WireClock, sim: DiscordSim, http: Transport, notes: MemoryNotes) -> None:
        self.clock, self.sim, self.http, self.notes = clock, sim, http, notes
        self.governor = BucketGovernor(clock)
        kit = ChannelKit(
            governor=self.governor,
            clock=clock,
            archive=MemoryArchive(),
            notes=notes,
            name="discord",
            account="main",
            language="en",
            about=lambda: {"name": "Bowerbird"},
            http=http,
        )
        section = {"token": sim.token, "api_base": sim.api_base, "gateway_url": sim.gateway_url}
        self.channel: DiscordChannel = build(Config.model_validate(section | {"access": {"groups": [9001]}}), kit)
        self.governor.declare("discord", self.channel.rates)
        self.group = asyncio.TaskGroup()

    def reborn(self) -> Stage:
        """Another process of the same bot, later."""
        other = Stage(self.clock, self.sim, self.http, self.notes)
        other.group = self.group
        return other

    def dm(self, number: int) -> Channel:
        return self.sim.dm(self.sim.person(number, f"P{number}"))

    def turn(self, chat: Channel, name: str = "") -> Turn:
        return Turn(self, chat, name or f"t{chat.id % 10**9}")

    async def passed(self, come: Callable[[], object], within: float = 2.0) -> None:
        """Let as much time pass as it takes."""
        for _ in range(int(within / 0.05)):
            if come():
                return
            await self.clock.advance(0.05)
        raise AssertionError("it did not come to that")

    @asynccontextmanager
    async def hearing(self, receive: Receive) -> AsyncIterator[asyncio.Task[None]]:
        """The channel, taking what arrives, until the end of the block. Between two lives five seconds pass, as Discord
        wants it."""
        await self.clock.advance(5.1)
        task = self.group.create_task(self.channel.run(receive))
        try:
            await self.sim.until(lambda _: self.channel.connected or task.done())
            yield task
        finally:
            task.cancel()
            await asyncio.wait([task])
            nothing_beats()


class Turn:
    """One answer that the test writes. ``outcome`` is set once its publisher has come to an end."""

    def __init__(self, stage: Stage, chat: Channel, name: str) -> None:
        self.stage, self.chat = stage, chat
        self.to = Address("discord", "main", str(chat.id))
        channel, governor, clock = stage.channel, stage.governor, stage.clock
        self.publisher = Publisher(
            *(channel, governor, FakeLedger(), clock, self.to, name, "en"),
            send_file=channel.send_file,
            jitter=lambda: 0.5,
        )
        self.outcome: Outcome | None = None
        self.first_token_at: float | None = None
        self.task = stage.group.create_task(self._run())

    async def _run(self) -> None:
        self.outcome = await self.publisher.run()

    def say(self, text: str) -> None:
        if self.first_token_at is None:
            self.first_token_at = self.stage.clock.monotonic()
        self.publisher.emit(TextDelta(text))

    def end(self) -> None:
        self.publisher.emit(TurnEnded(StopReason.ANSWERED))

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
        """Those in its chat, in order."""
        return [call for call in self.stage.sim.calls if call.channel_id == self.chat.id]

    @property
    def texts(self) -> list[str]:
        return self.stage.sim.bot_texts(self.chat)


def nothing_beats() -> None:
    """No connection of the library's is left, whose thread would send heartbeats for it."""
    threads = [one for one in threading.enumerate() if isinstance(one, KeepAliveHandler)]
    for one in threads:
        one.join(0.2)
    assert [one for one in threads if one.is_alive()] == []


@asynccontextmanager
async def stage(*, latency: float = 0.0, strict_rates: bool = True) -> AsyncIterator[Stage]:
    """At the end, no rule of the platform is broken."""
    clock, notes, http = WireClock(), MemoryNotes(), Transport()
    async with DiscordSim(
        latency=latency, strict_rates=strict_rates, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now
    ) as sim:
        house = Stage(clock, sim, http, notes)
        clock.busy = lambda: (len(sim.calls), [call.status for call in sim.calls[-8:]])
        try:
            async with house.group:
                yield house
            assert sim.violations == [], sim.violations
        finally:
            await http.aclose()
