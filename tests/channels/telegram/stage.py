"""Turns on the real adapter, the real library and the simulator's wire, in time that a test drives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from bot.core.address import Address
from bot.core.events import TextDelta, TurnEnded
from bot.core.ports import ChannelKit
from bot.core.stop import StopReason
from bot.net.http import Transport
from bot.outbox.governor import BucketGovernor
from bot.outbox.publisher import Outcome, Publisher
from channels.telegram.channel import TelegramChannel, build
from channels.telegram.config import Config
from tests.fakes.archive import MemoryArchive
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import FakeLedger
from tests.fakes.notes import MemoryNotes
from tests.sim.telegram import TelegramSim
from tests.sim.telegram.nouns import Call, Chat

QUIET_SECONDS = 0.003


class WireClock(FakeClock):
    """A driven clock for parts that talk over sockets: before time moves on, the wire has gone quiet."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = lambda: 0

    async def settle(self, rounds: int = 2) -> None:
        quiet, last = 0, -1
        while quiet < rounds:
            await asyncio.sleep(QUIET_SECONDS)
            quiet, last = (quiet + 1 if self.busy() == last else 0), self.busy()


class Stage:
    """``turn(chat)`` starts a publisher there; everything shares one governor and one bot."""

    def __init__(
        self,
        clock: WireClock,
        sim: TelegramSim,
        channel: TelegramChannel,
        governor: BucketGovernor,
        notes: MemoryNotes,
        http: Transport,
    ) -> None:
        self.clock, self.sim, self.channel, self.governor = clock, sim, channel, governor
        self.notes, self.http = notes, http
        self.group = asyncio.TaskGroup()
        self._turns: list[asyncio.Task[None]] = []

    def start(self, work: Coroutine[None, None, None]) -> None:
        self._turns.append(self.group.create_task(work))

    def hush(self) -> None:
        """Whatever is still shown is broken off."""
        for task in self._turns:
            task.cancel()

    def private(self, number: int) -> Chat:
        return self.sim.private(self.sim.person(number, f"P{number}"))

    def turn(self, chat: Chat, name: str = "") -> Turn:
        return Turn(self, chat, name or f"t{chat.id}")


class Turn:
    """One answer that the test writes. ``outcome`` is set once its publisher has come to an end."""

    def __init__(self, stage: Stage, chat: Chat, name: str) -> None:
        self.stage, self.chat, self.outcome = stage, chat, None
        self.to = Address("telegram", "main", str(chat.id))
        self.publisher = Publisher(
            stage.channel,
            stage.governor,
            FakeLedger(),
            stage.clock,
            self.to,
            name,
            "en",
            limits=stage.channel.limits_for(self.to),
            send_file=stage.channel.send_file,
            jitter=lambda: 0.5,
        )
        self.outcome: Outcome | None = None
        self.first_token_at: float | None = None
        stage.start(self._run())

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
        return [call for call in self.stage.sim.calls if call.chat_id == self.chat.id]

    @property
    def texts(self) -> list[str]:
        return self.stage.sim.bot_texts(self.chat)


@asynccontextmanager
async def stage(section: Mapping[str, Any] = MappingProxyType({}), **sim_options: object) -> AsyncIterator[Stage]:
    clock = WireClock()
    async with TelegramSim(monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now, **sim_options) as sim:  # type: ignore[arg-type]
        clock.busy = lambda: len(sim.calls)
        http = Transport()
        try:
            async with _living(clock, sim, MemoryNotes(), http, section) as made:
                yield made
        finally:
            await http.aclose()


@asynccontextmanager
async def reborn(house: Stage) -> AsyncIterator[Stage]:
    """The next life on the same notes, while the one before shows nothing any more."""
    house.hush()
    async with _living(house.clock, house.sim, house.notes, house.http) as made:
        yield made


@asynccontextmanager
async def _living(
    clock: WireClock,
    sim: TelegramSim,
    notes: MemoryNotes,
    http: Transport,
    section: Mapping[str, Any] = MappingProxyType({}),
) -> AsyncIterator[Stage]:
    governor = BucketGovernor(clock)
    kit = ChannelKit(
        governor=governor,
        clock=clock,
        archive=MemoryArchive(),
        notes=notes,
        name="telegram",
        account="main",
        language="en",
        about=dict,
        http=http,
    )
    channel = build(Config.model_validate({"token": sim.token, "api_base": sim.url, **section}), kit)
    governor.declare("telegram", channel.rates)
    made = Stage(clock, sim, channel, governor, notes, http)
    async with asyncio.TaskGroup() as made.group:
        yield made
