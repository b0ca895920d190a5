"""A channel that fails is started again, ever more slowly; one whose token is refused stays off."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from bot.app.supervision import keep_running
from bot.core.errors import ChannelUnreachable, Unauthorised
from bot.core.inbound import Inbound, Receipt
from bot.core.ports import Receive
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
    task = asyncio.ensure_future(keep_running(channel, receive, clock))
    await clock.advance(200)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    waits = [b - a for a, b in itertools.pairwise(channel.starts)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert "no connection" in caplog.text


async def test_a_defect_in_a_channel_is_survived(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise KeyError("x")

    clock = FakeClock()
    channel = Failing(clock, work=broken)
    task = asyncio.ensure_future(keep_running(channel, receive, clock))
    await clock.advance(4)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(channel.starts) == 3


async def test_b061_a_refused_token_ends_the_tries() -> None:
    async def unauthorised() -> None:
        raise Unauthorised("401")

    clock = FakeClock()
    channel = Failing(clock, work=unauthorised)
    await keep_running(channel, receive, clock)
    assert len(channel.starts) == 1


async def test_a_channel_that_ran_steadily_starts_again_soon() -> None:
    clock = FakeClock()

    async def long_then_fail() -> None:
        await clock.sleep(500)
        await refuse()

    channel = Failing(clock, work=long_then_fail)
    task = asyncio.ensure_future(keep_running(channel, receive, clock))
    await clock.advance(1600)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [b - a for a, b in itertools.pairwise(channel.starts)] == [501, 501, 501]
