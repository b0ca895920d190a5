"""Bolt in Socket Mode: what it does with retries, goodbyes, lost connections and refused ones."""

from collections.abc import Awaitable, Callable

import pytest

from tests.sim.slack import Channel, Person, SlackSim
from tests.sim.slack.conftest import Bolt, Post, Timed
from tests.sim.slack.driven import Driven


async def test_bolt_hears_of_a_retry_after_it_refused(timed: Timed) -> None:
    driven, bolt = Driven(*timed), Bolt(timed[2])
    await bolt.connect()
    await driven.sim.until(lambda sim: sim.sockets.open == 1)
    bolt.refusing = True
    await driven.said()
    await driven.sim.until(lambda _: bolt.heard)
    bolt.refusing = False
    assert len(driven.sim.unacked) == 1
    await driven.pass_by(3)
    await driven.sim.until(lambda sim: not sim.unacked)
    assert bolt.retries == [("0", ""), ("1", "timeout")]
    assert len({body["event_id"] for body in bolt.heard}) == 1
    assert driven.sim.violations == []
    await bolt.close()


Trouble = Callable[[SlackSim], Awaitable[None]]


@pytest.mark.parametrize(
    "trouble",
    [
        lambda sim: sim.disconnect("refresh_requested"),
        lambda sim: sim.drop(),
        lambda sim: sim.disconnect("link_disabled"),
    ],
)
async def test_bolt_comes_back_and_loses_nothing(
    sim: SlackSim, bolt: Bolt, dm: Channel, ann: Person, trouble: Trouble
) -> None:
    await trouble(sim)
    await sim.until(lambda sim: sim.sockets.opened >= 2 and sim.sockets.open == 1)
    await sim.say(dm, ann, "hello")
    await sim.until(lambda _: [event["text"] for event in bolt.events] == ["hello"])
    await sim.until(lambda sim: not sim.unacked)


async def test_bolt_leaves_a_connection_without_pongs(sim: SlackSim, bolt: Bolt) -> None:
    sim.silent(True)
    await sim.until(lambda sim: sim.sockets.opened >= 2, timeout=10)
    sim.silent(False)
    await sim.until(lambda sim: sim.sockets.open == 1, timeout=10)


async def test_bolt_reconnects_after_refused_connections(sim: SlackSim, bolt: Bolt, post: Post) -> None:
    sim.refuse_sockets("internal_error")
    await sim.drop()
    await sim.until(lambda sim: len(sim.called("apps.connections.open")) >= 3)
    assert sim.sockets.open == 0
    sim.refuse_sockets("")
    await sim.until(lambda sim: sim.sockets.open == 1)
