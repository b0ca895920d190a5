"""Connections that break again and again while people talk: nothing is lost, nothing doubled, and nothing piles up."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection

from bot.core.inbound import UserMessage
from channels.slack.socket import Socket
from tests.channels.slack.conftest import CONFIG
from tests.channels.slack.hurried import House, hurried
from tests.channels.slack.stage import stage
from tests.sim.llm import answer, text
from tests.sim.slack import Channel, Person

SAID = "Hello there."
OPEN = CONFIG.replace("users: [U0BOB]", 'users: ["*"]')
SPEED = 8.0
TICKET_SECONDS = 8.6
"""A connection needs a ticket, of which there are seven a minute."""
PAUSE_SECONDS = 20.0


def crowd(house: House, size: int) -> list[tuple[Channel, Person]]:
    people = [house.sim.person(f"U{1000 + number}", f"P{number}") for number in range(size)]
    return [(house.sim.dm(one), one) for one in people]


def answers(house: House, channel: Channel) -> int:
    """How many stand there that nothing will change any more: a question that comes earlier joins the one before."""
    shown = [message for message in house.sim.visible(channel) if message.from_bot]
    return sum(not message.buttons for message in shown)


async def met(house: House, people: Sequence[tuple[Channel, Person]]) -> None:
    """Everybody has been answered once. In a conversation that the bot has never heard of, what Slack has given up is
    lost to it."""
    for channel, person in people:
        await house.sim.say(channel, person, "hello")
    await house.sim.until(lambda _: all(answers(house, channel) for channel, _ in people), timeout=60)


async def talk(house: House, channel: Channel, person: Person, over: asyncio.Event) -> int:
    """Say something, wait for the answer, and again a little later, until it is over. How often, with the first time."""
    said = 1
    while not over.is_set():
        await house.sim.say(channel, person, f"word {said}")
        said += 1
        await house.sim.until(lambda _: answers(house, channel) >= said, timeout=100)  # noqa: B023
        await house.clock.sleep(PAUSE_SECONDS)
    return said


async def storm(house: House, drops: int) -> None:
    """Break the connection as often as it is there, in every way in which it breaks."""
    for number in range(drops):
        opened = house.sim.sockets.opened
        if number % 4 == 3:
            await house.sim.disconnect("refresh_requested")
        else:
            await house.sim.drop()
        await house.sim.until(lambda sim: sim.sockets.opened > opened and sim.sockets.open, timeout=30)  # noqa: B023
        await house.clock.sleep(TICKET_SECONDS / 10 * (number % 5))


def piled() -> dict[str, int]:
    """What a connection leaves behind when it is not taken away."""
    gc.collect()
    kinds = [type(one) for one in gc.get_objects()]
    files = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()]
    names = [code.co_filename for code in files if code is not None]
    ours = [name for name in names if "/channels/slack/" in name and "/tests/" not in name]
    theirs = [name for name in names if "/websockets/" in name or "/slack_" in name]
    found = {"threads": threading.active_count(), "tasks": len(ours), "their tasks": len(theirs)}
    return found | {kind.__name__: kinds.count(kind) for kind in (ClientConnection, Socket)}


@pytest.mark.parametrize(
    ("drops", "chats"),
    [
        pytest.param(10, 12, marks=pytest.mark.timeout(120)),
        pytest.param(200, 50, marks=[pytest.mark.prove, pytest.mark.timeout(900)]),
    ],
)
async def test_a_storm_of_broken_connections_loses_and_doubles_nothing(tmp_path: Path, drops: int, chats: int) -> None:
    async with hurried(tmp_path, SPEED) as house:
        house.llm.script(answer(text(SAID), repeat=True))
        people, over = crowd(house, chats), asyncio.Event()
        async with house.daemon(OPEN):
            await met(house, people)
            async with asyncio.TaskGroup() as group:
                talks = [group.create_task(talk(house, *one, over)) for one in people]
                await storm(house, 4)
                before = piled()
                await storm(house, drops - 4)
                over.set()
            await house.clock.sleep(10)
            after = piled()
            assert after["ClientConnection"] <= 2 and after["Socket"] == 1 and after["threads"] <= before["threads"] + 1
            assert after["tasks"] + after["their tasks"] <= 12, (before, after)
        assert min(talked.result() for talked in talks) >= 3
        for (channel, _), talked in zip(people, talks, strict=True):
            assert house.sim.bot_texts(channel) == [SAID] * talked.result()
        assert house.sim.sockets.opened > drops and house.sim.sockets.open == 0


async def test_a_message_at_every_moment_around_a_break_is_answered_once(tmp_path: Path) -> None:
    """Right before it, right after it, while nothing is connected, and as soon as something is."""
    async with hurried(tmp_path, SPEED) as house:
        house.llm.script(answer(text(SAID), repeat=True))
        people = crowd(house, 30)
        async with house.daemon(OPEN):
            for number, (channel, person) in enumerate(people):
                await house.sim.say(channel, person, "hello")
                if number % 8 == 7:
                    await house.sim.drop()
                await asyncio.sleep(0.004 * (number % 3))
            await house.sim.until(lambda sim: all(sim.bot_texts(channel) for channel, _ in people), timeout=60)
            await house.clock.sleep(10)
        assert [house.sim.bot_texts(channel) for channel, _ in people] == [[SAID]] * 30


@pytest.mark.parametrize("drops", [36, pytest.param(300, marks=pytest.mark.prove)])
@pytest.mark.timeout(240)
async def test_memory_is_flat_over_a_storm(drops: int) -> None:
    """What the adapter and its libraries hold, without the simulator."""
    rooms = ("channels/slack", "site-packages/slack_bolt", "site-packages/slack_sdk", "site-packages/websockets")
    held = [tracemalloc.Filter(True, f"*/{room}/*") for room in rooms]
    sizes: list[int] = []
    async with stage(latency=0) as house:
        dm, ann = house.dm(), house.sim.world.people["U0001"]
        tracemalloc.start()
        try:
            for _ in range(3):
                for number in range(drops // 3):
                    await house.sim.say(dm, ann, f"word {number}")
                    await house.sim.drop()
                    await house.clock.advance(8)
                await house.clock.advance(70)  # what was on its way when it broke comes a minute later
                gc.collect()
                snapshot = tracemalloc.take_snapshot().filter_traces([*held, tracemalloc.Filter(False, "*/tests/*")])
                sizes.append(sum(one.size for one in snapshot.statistics("filename")))
        finally:
            tracemalloc.stop()
        assert len([one for one in house.received if isinstance(one, UserMessage)]) == drops // 3 * 3
        assert house.sim.violations == []
    assert sizes[2] - sizes[1] < 100_000, sizes
