"""What blocks, blocks a thread: the connection to Discord beats on, and others are served."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from pathlib import Path

from tests.channels.discord.conftest import StartBot
from tests.sim.discord import Channel, DiscordSim, Person
from tests.sim.llm import LlmSim, When, answer, call, text

BLOCKED_SECONDS = 3.0
LAG_SECONDS = 0.5
"""On an idle machine it is a few milliseconds; the tests run beside others."""


async def longest_lag(until: asyncio.Event) -> float:
    """How late the loop was at most with what it had to do every 20 ms."""
    longest = 0.0
    while not until.is_set():
        began = time.monotonic()
        await asyncio.sleep(0.02)
        longest = max(longest, time.monotonic() - began - 0.02)
    return longest


async def test_b261_a_tool_and_a_database_that_block_for_seconds_hold_up_no_heartbeat(
    bot: StartBot, discord: DiscordSim, llm: LlmSim, tmp_path: Path, dm: Channel, ann: Person
) -> None:
    llm.script(
        answer(text("I note it for you."), call("c1", "note_write", ('{"text": "milk"}',)), when=When(user="note")),
        answer(text("It is noted down now."), when=When(tool_result=True)),
    )
    discord.heartbeat_interval = 0.4
    (tmp_path / "workspace").mkdir()
    notes = tmp_path / "workspace" / "notes.md"
    os.mkfifo(notes)  # whoever opens it to write waits until somebody reads
    async with bot():
        await discord.say(dm, ann, "note milk")
        await discord.until(lambda sim: any(len(shown.buttons) > 2 for shown in sim.visible(dm)))
        [asking] = [shown for shown in discord.visible(dm) if shown.from_bot]
        done = asyncio.Event()
        lag = asyncio.ensure_future(longest_lag(done))
        await discord.press(dm, ann, asking.id, "Allow once")
        await asyncio.sleep(0.5)
        before, opened = discord.connections.heartbeats, discord.connections.opened
        with sqlite3.connect(tmp_path / "data" / "bowerbird.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(BLOCKED_SECONDS)
            other.execute("ROLLBACK")
        assert discord.connections.heartbeats - before >= BLOCKED_SECONDS / 0.4 - 2
        reader = await asyncio.to_thread(notes.read_text)
        await discord.until(lambda sim: "noted down" in sim.bot_texts(dm)[-1])
        done.set()
        assert await lag < LAG_SECONDS and "milk" in reader
        assert discord.connections.opened == opened
