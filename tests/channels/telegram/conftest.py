"""The whole daemon on the Telegram simulator, with a scripted model behind it."""

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
from tests.sim.telegram import TelegramSim

CONFIG = """
data_dir: data
timezone: UTC
channels:
  telegram:
    token: "123456:SIM"
    api_base: "{telegram}"
    access: {{owners: [7], users: [8], groups: [-1001]}}
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
async def telegram() -> AsyncIterator[TelegramSim]:
    """Whatever a test does, no rule of the platform is broken."""
    async with TelegramSim() as running:
        yield running
        assert running.violations == []


@pytest.fixture
def bot(tmp_path: Path, telegram: TelegramSim, llm: LlmSim) -> StartBot:
    """``async with bot() as task:`` runs the daemon until the end of the block; ``config`` replaces the file."""

    @asynccontextmanager
    async def started(config: str = CONFIG) -> AsyncIterator[asyncio.Task[None]]:
        file = tmp_path / "config.yaml"
        file.write_text(config.format(telegram=telegram.url, llm=llm.url, port=free_port()))
        ready = asyncio.Event()
        task = asyncio.ensure_future(run_daemon(load(file, {}), ready=ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        try:
            yield task
        finally:
            task.cancel()
            async with asyncio.timeout(12):
                await asyncio.gather(task, return_exceptions=True)

    return started
