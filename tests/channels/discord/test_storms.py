"""Connections that break again and again while people talk: nothing is lost, nothing doubled, and nothing piles up."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc

import pytest
from discord.gateway import DiscordWebSocket, KeepAliveHandler

from channels.discord.gateway import Client
from tests.channels.discord.conftest import CONFIG, StartBot
from tests.channels.discord.test_hearing import listening, parts
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.llm import LlmSim, answer, text

SAID = "Hello there, nice to meet you."
WAYS = (1006, 4000, 1006, 4001, 0)
"""Close codes after which the session is resumed; 0 stands for op 7."""


async def talk(sim: DiscordSim, channel: Channel, person: Person, over: asyncio.Event) -> int:
    """Say something, wait for the answer, and again, until it is over. How often."""
    said = 0
    while not over.is_set():
        await sim.say(channel, person, f"word {said}")
        said += 1
        await sim.until(lambda _: len(sim.bot_texts(channel)) >= said, timeout=20)  # noqa: B023
    return said


async def storm(sim: DiscordSim, drops: int) -> None:
    """Break the connection as often as it is there."""
    for number in range(drops):
        await sim.until(lambda _: sim.connections.ready, timeout=10)
        if code := WAYS[number % len(WAYS)]:
            await sim.drop(code)
        else:
            sim.reconnect()
        await asyncio.sleep(0.02)


def piled() -> dict[str, int]:
    """What a connection leaves behind when it is not taken away."""
    gc.collect()
    kinds = [type(one) for one in gc.get_objects()]
    files = [getattr(task.get_coro(), "cr_code", None) for task in asyncio.all_tasks()]
    ours = [
        code
        for code in files
        if code is not None and "/discord/" in code.co_filename and "/sim/" not in code.co_filename
    ]
    found = {
        "threads": threading.active_count(),
        "tasks": len([code for code in ours if "test_storms" not in code.co_filename]),
    }
    return found | {kind.__name__: kinds.count(kind) for kind in (DiscordWebSocket, Client, KeepAliveHandler)}


@pytest.mark.parametrize(("drops", "chats"), [(40, 12), pytest.param(200, 50, marks=pytest.mark.prove)])
@pytest.mark.timeout(120)
async def test_a_storm_of_broken_connections_loses_and_doubles_nothing(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, drops: int, chats: int
) -> None:
    llm.script(answer(text(SAID), repeat=True))
    people = [discord.person(100 + number, f"P{number}") for number in range(chats)]
    over = asyncio.Event()
    async with bot(CONFIG.replace("users: [8]", 'users: ["*"]')):
        async with asyncio.TaskGroup() as group:
            talks = [group.create_task(talk(discord, discord.dm(one), one, over)) for one in people]
            await storm(discord, 10)
            before = piled()
            await storm(discord, drops - 10)
            over.set()
        await asyncio.sleep(0.5)
        assert all(count <= before[what] + 1 for what, count in piled().items()), (before, piled())
    for one, talked in zip(people, talks, strict=True):
        assert discord.bot_texts(discord.dm(one)) == [SAID] * talked.result()
    assert len(discord.connections.resumes) >= drops * 0.8 and len(discord.connections.identifies) == 1


async def test_a_message_at_every_moment_around_a_break_is_heard_once(
    bot: StartBot, discord: DiscordSim, llm: LlmSim
) -> None:
    """Right before it, right after it, while nothing is connected, and as soon as something is."""
    llm.script(answer(text(SAID), repeat=True))
    people = [discord.person(100 + number, f"P{number}") for number in range(40)]
    async with bot(CONFIG.replace("users: [8]", 'users: ["*"]')):
        for number, one in enumerate(people):
            await discord.say(discord.dm(one), one, "hello")
            if number % 5 == 4:
                await discord.drop(WAYS[number // 5 % 2])
            await asyncio.sleep(0.004 * (number % 3))
        await discord.until(lambda sim: all(sim.bot_texts(sim.dm(one)) for one in people))
        await asyncio.sleep(0.5)
    assert [discord.bot_texts(discord.dm(one)) for one in people] == [[SAID]] * 40


@pytest.mark.parametrize("drops", [60, pytest.param(300, marks=pytest.mark.prove)])
@pytest.mark.timeout(120)
async def test_memory_is_flat_over_a_storm(drops: int) -> None:
    """What the adapter and the library hold, without the simulator."""
    held = (tracemalloc.Filter(True, "*/channels/discord/*"), tracemalloc.Filter(True, "*/site-packages/discord/*"))
    ours = [*held, tracemalloc.Filter(False, "*/tests/*")]
    sizes: list[int] = []
    async with listening() as ears:
        ann, _, general = parts(ears.sim)
        tracemalloc.start()
        try:
            for _ in range(3):
                for number in range(drops // 3):
                    await ears.said(general, ann, f"word {number}")
                    await storm(ears.sim, 1)
                gc.collect()
                snapshot = tracemalloc.take_snapshot().filter_traces(ours)
                sizes.append(sum(one.size for one in snapshot.statistics("filename")))
        finally:
            tracemalloc.stop()
    assert sizes[2] - sizes[1] < 100_000, sizes
