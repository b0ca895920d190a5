"""Sessions that are resumed or lost, heartbeats, and the ways a connection falls silent."""

import asyncio

import aiohttp
import pytest

from tests.fakes.clock import FakeClock
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.discord.conftest import Connect, Library, connecting, fresh, running

TALK = 1 << 0 | 1 << 9 | 1 << 12


# resuming


@pytest.mark.parametrize("code", [1006, 4000, 4001, 4002, 4005, 4008])
async def test_after_these_closes_the_library_resumes_and_gets_what_it_missed_in_order(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person, code: int
) -> None:
    await sim.drop(code)
    for text in ("one", "two", "three"):
        await sim.say(dm, ann, text)
    await bot.until(sim, lambda: len(bot.texts) == 3)
    assert bot.texts == ["one", "two", "three"]
    assert (len(sim.connections.identifies), len(sim.connections.resumes)) == (1, 1)
    assert bot.told("resumed")


@pytest.mark.parametrize("code", [1000, 1001, 4003, 4007, 4009])
async def test_after_these_the_session_is_over_and_the_library_starts_anew(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person, code: int
) -> None:
    await sim.drop(code)
    await sim.say(dm, ann, "lost")
    await bot.until(sim, lambda: len(bot.told("ready")) == 2)
    await sim.say(dm, ann, "new")
    await bot.until(sim, lambda: bot.texts)
    assert bot.texts == ["new"]
    assert (len(sim.connections.identifies), len(sim.connections.resumes)) == (2, 0)
    assert sim.connections.refused == ["resume of an unknown session"]


async def test_replayed_events_keep_their_numbers_and_resumed_ends_them(
    sim: DiscordSim, connect: Connect, dm: Channel, ann: Person
) -> None:
    wire, ready = await fresh(sim, connect, intents=TALK)
    await sim.say(dm, ann, "seen")
    last = (await wire.event("MESSAGE_CREATE"))["s"]
    await sim.drop(4000)
    await sim.say(dm, ann, "one")
    await sim.say(dm, ann, "two")
    wire = await connect(str(ready["resume_gateway_url"]))
    await wire.resume(str(ready["session_id"]), last)
    frames = [await wire.get() for _ in range(3)]
    assert [(frame["t"], frame["s"]) for frame in frames] == [
        ("MESSAGE_CREATE", last + 1), ("MESSAGE_CREATE", last + 2), ("RESUMED", last + 3),
    ]  # fmt: skip
    await sim.say(dm, ann, "three")
    assert (await wire.get())["s"] == last + 4


async def test_a_resume_is_refused_for_a_wrong_token_number_or_session(sim: DiscordSim, connect: Connect) -> None:
    _, ready = await fresh(sim, connect)
    session = str(ready["session_id"])
    await sim.drop(4000)
    wire = await connect(sim.gateway_url)
    await wire.resume(session, 1, token="wrong")
    assert await wire.closed() == 4004
    _, ready = await fresh(sim, connect)
    session = str(ready["session_id"])
    await sim.drop(4000)
    wire = await connect(sim.gateway_url)
    await wire.resume(session, 99)
    assert await wire.closed() == 4007
    wire = await connect(sim.gateway_url)
    await wire.resume("nonsense", 1)
    frame = await wire.get()
    assert (frame["op"], frame["d"]) == (9, False)


async def test_a_session_waits_a_few_minutes_and_an_app_that_closes_with_1000_ends_it() -> None:
    clock = FakeClock()
    async with (
        DiscordSim(latency=0, monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim,
        connecting() as connect,
    ):
        for code, seconds, op in ((4000, 170, 0), (4000, 190, 9), (1000, 0, 9), (1001, 0, 9)):
            wire, ready = await fresh(sim, connect)
            await wire.ws.close(code=code)
            await sim.until(lambda sim: sim.connections.open == 0)
            await clock.advance(seconds)
            wire = await connect(sim.gateway_url)
            await wire.resume(str(ready["session_id"]), 1)
            assert (await wire.get())["op"] == op, (code, seconds)
            await wire.ws.close(code=1000)
            await sim.until(lambda sim: sim.connections.open == 0)
            await clock.advance(10)
        assert sim.connections.closes[0] == (4000, "client")


async def test_asked_to_reconnect_the_library_resumes(sim: DiscordSim, bot: Library, dm: Channel, ann: Person) -> None:
    sim.reconnect()
    await sim.until(lambda sim: sim.connections.resumes)
    await sim.say(dm, ann, "hi")
    await bot.until(sim, lambda: bot.texts)
    assert len(sim.connections.identifies) == 1


@pytest.mark.parametrize(("resumable", "identifies", "resumes"), [(True, 1, 1), (False, 2, 0)])
async def test_an_invalid_session_is_resumed_or_begun_anew(
    sim: DiscordSim, bot: Library, resumable: bool, identifies: int, resumes: int
) -> None:
    sim.invalidate(resumable)
    await sim.until(lambda sim: sim.connections.opened == 2 and sim.connections.ready == 1)
    assert (len(sim.connections.identifies), len(sim.connections.resumes)) == (identifies, resumes)


# heartbeats and silence


async def test_an_app_that_stops_beating_is_closed_with_4009_and_that_is_a_violation(
    sim: DiscordSim, connect: Connect
) -> None:
    sim.heartbeat_interval = 0.1
    wire, ready = await fresh(sim, connect)
    for _ in range(4):
        await asyncio.sleep(0.08)
        await wire.send(1, 1)
        while (await wire.get())["op"] != 11:
            pass
    assert await wire.closed() == 4009
    assert sim.violations == ["a heartbeat was missed"]
    wire = await connect(sim.gateway_url)
    await wire.resume(str(ready["session_id"]), 1)
    assert (await wire.get())["op"] == 9


async def test_the_library_beats_in_time(sim: DiscordSim) -> None:
    sim.heartbeat_interval = 0.15
    async with running(sim, Library()):
        await asyncio.sleep(0.8)
    assert sim.connections.heartbeats >= 4
    assert (sim.connections.opened, sim.violations) == (1, [])


async def test_a_heartbeat_can_be_asked_for(sim: DiscordSim, bot: Library) -> None:
    before = sim.connections.heartbeats
    sim.gateway.ask_for_heartbeat()
    await sim.until(lambda sim: sim.connections.heartbeats == before + 1)


async def test_a_zombie_answers_nothing_until_the_library_gives_it_up_and_resumes(
    sim: DiscordSim, ann: Person, dm: Channel
) -> None:
    sim.heartbeat_interval = 0.2
    async with running(sim, Library(heartbeat_timeout=0.5)) as bot:
        sim.zombie()
        await sim.say(dm, ann, "lost?")
        await asyncio.sleep(0.1)
        assert bot.texts == []
        await bot.until(sim, lambda: bot.texts == ["lost?"])
        assert sim.connections.closes[0] == (4000, "client")
        assert (len(sim.connections.identifies), len(sim.connections.resumes)) == (1, 1)


async def test_a_zombie_that_wakes_tells_everything(sim: DiscordSim, bot: Library, dm: Channel, ann: Person) -> None:
    sim.zombie(True)
    await sim.say(dm, ann, "late")
    sim.zombie(False)
    await bot.until(sim, lambda: bot.texts == ["late"])
    assert sim.connections.opened == 1


async def test_a_deaf_connection_beats_and_tells_no_events_until_it_ends_or_is_resumed(
    sim: DiscordSim, bot: Library, dm: Channel, ann: Person
) -> None:
    sim.deaf(True)
    await sim.say(dm, ann, "withheld")
    before = sim.connections.heartbeats
    sim.gateway.ask_for_heartbeat()
    await sim.until(lambda sim: sim.connections.heartbeats > before)
    assert bot.texts == []
    sim.deaf(False)
    await bot.until(sim, lambda: bot.texts == ["withheld"])
    sim.deaf(True)
    await sim.say(dm, ann, "again")
    await sim.drop(4000)
    await bot.until(sim, lambda: bot.texts == ["withheld", "again"])
    sim.deaf(True, to_come=True)
    await sim.drop(4000)
    await sim.until(lambda sim: sim.connections.ready == 1)
    await sim.say(dm, ann, "third")
    await asyncio.sleep(0.1)
    assert len(bot.texts) == 2


async def test_broken_events_can_be_fed(sim: DiscordSim, bot: Library, connect: Connect) -> None:
    wire, _ = await fresh(sim, connect)
    assert await sim.feed("MESSAGE_CREATE", {"nonsense": True}) == 2
    assert (await wire.event("MESSAGE_CREATE"))["d"] == {"nonsense": True}
    assert await sim.feed("NEW_EVENT", [1, None]) == 2
    assert (await wire.event("NEW_EVENT"))["d"] == [1, None]


async def test_a_gateway_that_is_down_refuses_connections(sim: DiscordSim, bot: Library, connect: Connect) -> None:
    sim.refuse_connections()
    with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
        await connect(sim.gateway_url)
    sim.refuse_connections(None)
    await fresh(sim, connect)
