"""The whole daemon on the Slack simulator, with a scripted model behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from bot.app.daemon import run_daemon
from bot.config.load import load
from tests.app.conftest import free_port
from tests.sim.llm import LlmSim
from tests.sim.slack import SlackSim

CONFIG = """
data_dir: data
timezone: UTC
channels:
  slack:
    bot_token: "xoxb-sim"
    app_token: "xapp-sim"
    api_base: "{slack}"
    streaming: "{streaming}"
    access: {{owners: [U0ANN], users: [U0BOB], groups: [C0TEAM]}}
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


@pytest.fixture
async def slack() -> AsyncIterator[SlackSim]:
    """Whatever a test does, no rule of the platform is broken and nobody is pinged."""
    async with SlackSim() as running:
        yield running
        assert running.violations == []
        assert running.pings == []


@pytest.fixture
def bot(tmp_path: Path, slack: SlackSim, llm: LlmSim) -> StartBot:
    """``async with bot() as task:`` runs the daemon until the end of the block; ``config`` replaces the file."""

    @asynccontextmanager
    async def started(streaming: str = "edit", config: str = CONFIG) -> AsyncIterator[asyncio.Task[None]]:
        file = tmp_path / "config.yaml"
        file.write_text(config.format(slack=slack.api_base, llm=llm.url, port=free_port(), streaming=streaming))
        ready = asyncio.Event()
        task = asyncio.ensure_future(run_daemon(load(file, {}), ready=ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        await slack.until(lambda sim: sim.sockets.open)
        try:
            yield task
        finally:
            task.cancel()
            async with asyncio.timeout(12):
                await asyncio.gather(task, return_exceptions=True)

    return started
