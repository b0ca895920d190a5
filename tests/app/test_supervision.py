"""A channel that fails is started again, ever more slowly; one that hangs at once; one whose token is refused stays off."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.app.supervision import Supervisor
from bot.core.errors import ChannelUnreachable, Unauthorised
from bot.core.inbound import Inbound, Receipt
from bot.core.ports import Progress, Receive
from tests.fakes.channel import FakeChannel
from tests.fakes.clock import FakeClock


async def receive(inbound: Inbound) -> Receipt:
    return Receipt()


@dataclass
class Failing(FakeChannel):
    work: Callable[[], Awaitable[None]] = field(default=lambda: asyncio.sleep(0))
    starts: list[float] = field(default_factory=list)

    async def run(self, receive: Receive) -> None:
        self.starts.append(self.clock.now())
        await self.work()


async def refuse() -> None:
    raise ChannelUnreachable("no connection", maybe_done=False)


async def test_a_failing_channel_is_tried_again_with_growing_waits(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    channel = Failing(clock, work=refuse)
    task = asyncio.ensure_future(Supervisor(channel, clock).run(receive))
    await clock.advance(200)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    waits = [b - a for a, b in itertools.pairwise(channel.starts)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    warned = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == 1 and "no connection" in warned[0].getMessage()


async def test_a_defect_in_a_channel_is_survived(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise KeyError("x")

    clock = FakeClock()
    channel = Failing(clock, work=broken)
    task = asyncio.ensure_future(Supervisor(channel, clock).run(receive))
    await clock.advance(4)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(channel.starts) == 3


async def test_b061_a_refused_token_ends_the_tries() -> None:
    async def unauthorised() -> None:
        raise Unauthorised("401")

    clock = FakeClock()
    channel = Failing(clock, work=unauthorised)
    await Supervisor(channel, clock).run(receive)
    assert len(channel.starts) == 1


async def test_a_channel_that_ran_steadily_starts_again_soon() -> None:
    clock = FakeClock()

    async def long_then_fail() -> None:
        await clock.sleep(500)
        await refuse()

    channel = Failing(clock, work=long_then_fail)
    task = asyncio.ensure_future(Supervisor(channel, clock).run(receive))
    await clock.advance(1600)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [b - a for a, b in itertools.pairwise(channel.starts)] == [501, 501, 501]


@dataclass
class Hanging(FakeChannel):
    """Gives a sign of life every ``pause`` seconds for ``lives[n]`` seconds in its n-th life, then waits for ever.
    ``stubborn``: it does not even end when it is cancelled."""

    lives: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    pause: float = 1.0
    at_once: int = 0
    stubborn: bool = False
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    sign: float = 0.0

    @property
    def progress(self) -> Progress:
        return Progress(self.sign, 30.0)

    async def run(self, receive: Receive) -> None:
        self.at_once += 1
        assert self.at_once == 1, "two lives at a time"
        until = self.clock.monotonic() + (self.lives[len(self.starts)] if len(self.starts) < len(self.lives) else 1e9)
        self.starts.append(self.clock.monotonic())
        try:
            while self.clock.monotonic() < until:
                self.sign = self.clock.monotonic()
                await self.clock.sleep(self.pause)
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if self.stubborn:
                await self.freed.wait()
            raise
        finally:
            self.at_once -= 1


@asynccontextmanager
async def supervised(channel: FakeChannel, close_seconds: float = 3.0) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(channel, channel.clock, close_seconds)
    task = asyncio.ensure_future(supervisor.run(receive))
    try:
        yield supervisor
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_b254_a_channel_that_hangs_is_ended_and_started_again_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    clock = FakeClock()
    channel = Hanging(clock, lives=[10])
    async with supervised(channel) as supervisor:
        await clock.advance(30)
        assert not supervisor.stale and channel.starts == [0]
        await clock.advance(90)
        assert channel.starts == [0, 40]
        assert (supervisor.stale, supervisor.hangs) == (False, 1)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "the channel fake gave no sign of life for 31 s and is started again",
        "the channel fake lives again",
    ]


async def test_b255_a_channel_that_hangs_in_every_life_stays_stale_until_it_gives_a_sign() -> None:
    clock = FakeClock()
    channel = Hanging(clock, lives=[10, 0, 0])
    async with supervised(channel) as supervisor:
        await clock.advance(41)
        for _ in range(60):
            assert supervisor.stale, "a new life is no sign of life"
            await clock.advance(1)
        await clock.advance(5)
        assert (supervisor.stale, supervisor.hangs, len(channel.starts)) == (False, 3, 4)


async def test_a_channel_that_is_down_or_refused_is_not_stale() -> None:
    clock = FakeClock()

    @dataclass
    class Silent(Failing):
        @property
        def progress(self) -> Progress:
            return Progress(0.0, 5.0)

    async def unauthorised() -> None:
        raise Unauthorised("401")

    for work in (refuse, unauthorised):
        async with supervised(Silent(clock, work=work)) as supervisor:
            for _ in range(20):
                await clock.advance(10)
                assert not supervisor.stale


async def test_a_channel_that_does_not_end_when_told_to_is_never_run_twice(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    channel = Hanging(clock, lives=[1], stubborn=True)
    async with supervised(channel, close_seconds=0.02) as supervisor:
        await clock.advance(40)
        await asyncio.sleep(0.1)
        await clock.advance(500)
        assert (supervisor.stale, channel.starts) == (True, [0])
        assert caplog.text.count("does not end when it is told to") == 1
        channel.freed.set()
        await clock.advance(10)
        assert (supervisor.stale, len(channel.starts)) == (False, 2)


async def test_a_process_that_stood_still_does_not_blame_its_channels() -> None:
    """A laptop's lid, a debugger: no time passes for the channel, but much on the clock."""
    clock = FakeClock()
    channel = Hanging(clock, pause=20.0)
    async with supervised(channel) as supervisor:
        await clock.advance(11)
        clock._now += 600
        await clock.advance(60)
        assert (supervisor.hangs, len(channel.starts)) == (0, 1)


async def test_a_channel_that_cancels_itself_is_started_again(caplog: pytest.LogCaptureFixture) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    clock = FakeClock()
    channel = Failing(clock, work=cancelled)
    async with supervised(channel):
        await clock.advance(4)
        assert len(channel.starts) == 3
    assert "ended by itself" in caplog.text
