"""The whole daemon in front of the simulator, both by a clock that runs faster: Slack counts its tickets by the minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bot.app.daemon import Daemon
from bot.app.lock import FolderLock
from bot.config.load import load
from bot.net.http import Transport
from bot.providers.models import Models
from bot.store.store import Store
from tests.app.conftest import free_port
from tests.channels.slack.conftest import CONFIG
from tests.sim.llm import LlmSim
from tests.sim.slack import SlackSim

BY_LOAD = "acknowledged after"
"""A note that says more of the machine than of the bot, where three seconds pass in a moment."""


class HurriedClock:
    """Implements ``bot.core.ports.Clock``: ``speed`` seconds in one."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._began, self._now = time.monotonic(), time.time()

    def now(self) -> float:
        return self._now + self.monotonic()

    def monotonic(self) -> float:
        return (time.monotonic() - self._began) * self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds) / self.speed)


@dataclass(frozen=True, slots=True)
class House:
    """``sim`` is there before the daemon, and after it."""

    sim: SlackSim
    llm: LlmSim
    clock: HurriedClock
    folder: Path

    @asynccontextmanager
    async def daemon(self, config: str = CONFIG, streaming: str = "edit") -> AsyncIterator[None]:
        """It runs, and hears, until the end of the block."""
        file = self.folder / "config.yaml"
        file.write_text(config.format(slack=self.sim.api_base, llm=self.llm.url, port=free_port(), streaming=streaming))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._live(file))
            await self.sim.until(lambda sim: sim.sockets.open or task.done())
            yield
            task.cancel()

    async def _live(self, file: Path) -> None:
        config = load(file, {})
        async with AsyncExitStack() as stack:
            lock = stack.enter_context(FolderLock(config.data_dir))
            store = await stack.enter_async_context(Store.open(config.data_dir))
            transport = Transport()
            stack.push_async_callback(transport.aclose)
            entries = [entry for entry in config.providers.values() if entry.module]
            models = Models(entries, self.clock, Random(), config.data_dir, transport)
            stack.push_async_callback(models.aclose)
            await Daemon(config, self.clock, store, transport, models, ()).run(lock, lambda: None)


@asynccontextmanager
async def hurried(folder: Path, speed: float) -> AsyncIterator[House]:
    """At the end no rule of the platform is broken and nobody was pinged."""
    clock = HurriedClock(speed)
    async with LlmSim() as llm, SlackSim(monotonic=clock.monotonic, sleep=clock.sleep, now=clock.now) as sim:
        yield House(sim, llm, clock, folder)
        assert llm.violations == [] and sim.pings == []
        assert [one for one in sim.violations if not one.startswith(BY_LOAD)] == []
