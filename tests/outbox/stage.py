"""One turn on a fake platform with a driven clock: what the tests of the publisher share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace

from bot.core.events import TextDelta, TurnEnded, TurnEvent
from bot.core.stop import StopReason
from bot.core.view import Limits, Rendered
from bot.outbox.governor import BucketGovernor, Rates
from bot.outbox.publisher import Outcome, Publisher
from tests.fakes.channel import HERE, FakeChannel, Fault
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import FakeLedger

TURN = "turn-1"


class Stage:
    """``channel.calls`` and ``channel.texts`` are what happened, ``result()`` how it ended."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        render: Callable[[str], Rendered] | None = None,
        latency: Callable[[int], float] = lambda number: 0.0,
        fault: Callable[[int], Fault | None] = lambda number: None,
        nonces: bool = False,
        patience: float = 86_400.0,
    ) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger()
        limits = replace(limits or Limits(size=4096, unit="utf16", pace=1.0), idempotent=nonces)
        self.governor = BucketGovernor(self.clock, {"fake": Rates(chat_interval=limits.pace)})
        self.channel = FakeChannel(
            self.clock, limits, self.governor, render, latency=latency, fault=fault, nonces=nonces
        )
        self.patience = patience
        self.publisher = self.new_publisher()
        self._outcome: Outcome | None = None

    def new_publisher(self) -> Publisher:
        return Publisher(
            self.channel,
            self.governor,
            self.ledger,
            self.clock,
            HERE,
            TURN,
            "en",
            jitter=lambda: 0.5,
            patience=self.patience,
        )

    def restart(self) -> None:
        """A new process: what was in memory is gone, the ledger and the platform stay."""
        self.governor = BucketGovernor(self.clock, {"fake": Rates(chat_interval=self.channel.limits.pace)})
        self.channel.governor = self.governor
        self.publisher = self.new_publisher()
        self._outcome = None

    def result(self) -> str:
        """``running``, ``delivered``, or why not."""
        if self._outcome is None:
            return "running"
        return "delivered" if self._outcome.delivered else self._outcome.reason

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """The publisher beside the block; leaving it stops the publisher where it is."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._run())
            await self.clock.settle()
            yield task
            task.cancel()

    async def _run(self) -> None:
        self._outcome = await self.publisher.run()

    def emit(self, *events: TurnEvent) -> None:
        for event in events:
            self.publisher.emit(event)

    def say(self, text: str) -> None:
        self.emit(TextDelta(text))

    def end(self, reason: StopReason = StopReason.ANSWERED, text: str = "") -> None:
        self.emit(TurnEnded(reason, text))

    async def stream(self, tokens: Iterable[str], per_second: float) -> None:
        for token in tokens:
            self.say(token)
            await self.clock.advance(1 / per_second)
