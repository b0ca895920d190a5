"""The whole daemon on the Discord simulator, with a scripted model behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bot.app.daemon import run_daemon
from bot.config.load import load
from tests.app.conftest import free_port
from tests.channels.discord.stage import nothing_beats
from tests.sim.discord import Channel, DiscordSim, Guild, Person
from tests.sim.llm import LlmSim

CONFIG = """
data_dir: data
timezone: UTC
channels:
  discord:
    token: "{token}"
    api_base: "{api}"
    gateway_url: "{gateway}"
    access: {{owners: [7], users: [8], groups: [9001]}}
  web: {{port: {port}}}
providers:
  openai: {{api_key: sk-test-0123456789, base_url: "{llm}/v1"}}
  local: off
brain: {{llm: {{default: {{provider: openai, model: gpt-test, max_tokens: 8000, window_tokens: 128000}}, fallback: []}}}}
tools: {{files: {{root: workspace}}}}
"""

StartBot = Callable[..., AbstractAsyncContextManager[asyncio.Task[None]]]


@pytest.fixture
async def llm() -> AsyncIterator[LlmSim]:
    async with LlmSim() as running:
        yield running
        assert running.violations == []


class Watch:
    """Discord's own clock, on which a test lets time pass by that nobody waits for."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
async def discord(watch: Watch) -> AsyncIterator[DiscordSim]:
    """Whatever a test does, no rule of the platform is broken."""
    async with DiscordSim(monotonic=watch.monotonic) as running:
        yield running
        assert running.violations == []


@pytest.fixture
def ann(discord: DiscordSim) -> Person:
    """The owner."""
    return discord.person(7, "Ann")


@pytest.fixture
def dm(discord: DiscordSim, ann: Person) -> Channel:
    return discord.dm(ann)


@pytest.fixture
def team(discord: DiscordSim, ann: Person) -> Guild:
    """Where the bot may answer."""
    return discord.guild(9001, "Team", members=[ann])


@pytest.fixture
def general(discord: DiscordSim, team: Guild) -> Channel:
    return discord.channel(team, "general")


@pytest.fixture
def bot(tmp_path: Path, discord: DiscordSim, llm: LlmSim, watch: Watch) -> StartBot:
    """``async with bot() as task:`` runs the daemon, connected, until the end of the block; ``config`` replaces the file,
    ``connected`` False does not wait for the gateway. Between two starts five seconds pass, as Discord wants it."""

    @asynccontextmanager
    async def started(config: str = CONFIG, *, connected: bool = True) -> AsyncIterator[asyncio.Task[None]]:
        file = tmp_path / "config.yaml"
        where = {"token": discord.token, "api": discord.api_base, "gateway": discord.gateway_url}
        file.write_text(config.format(**where, llm=llm.url, port=free_port()))
        watch.skipped += 5.1
        ready = asyncio.Event()
        task = asyncio.ensure_future(run_daemon(load(file, {}), ready=ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        try:
            if connected:
                await discord.until(lambda sim: sim.connections.ready)
            yield task
        finally:
            task.cancel()
            async with asyncio.timeout(12):
                await asyncio.gather(task, return_exceptions=True)
            nothing_beats()

    return started
