"""The daemon as ``bot.app.daemon.run_daemon`` wires it, over a store and a channel that can take it with them.

``python -m tests.crash.victim ORDERS.json`` runs it as a process of its own; ``run(orders)`` is the same in a process
that was forked for it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ConfigDict

import channels.web.channel
from bot.app.daemon import Daemon
from bot.app.lock import FolderLock
from bot.cli.signals import until_signal
from bot.config.load import load
from bot.config.loaded import Config, Entry
from bot.core.ports import ChannelKit
from bot.net.http import Transport
from bot.providers.models import Models
from bot.store.store import FILE_NAME, Store
from bot.time.clock import SystemClock
from tests.crash import platform_channel
from tests.crash.death import Death, Reaper
from tests.crash.mortal import MortalChannel, MortalDatabase

READY = "ready"


@dataclass(frozen=True, slots=True)
class Orders:
    """``death`` as ``Death`` writes itself ("" to live). ``platform`` is the address of the strict platform, or "" for the
    web channel of the config file. ``folder`` takes ``actions.log`` and what is written to standard error."""

    config: str
    folder: str
    death: str = ""
    platform: str = ""
    size: int = 4096

    def written(self, path: Path) -> Path:
        path.write_text(json.dumps(asdict(self)), "utf-8")
        return path


class WebConfig(channels.web.channel.Config):
    """The web channel's own, and who watches it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    reaper: Reaper


def build(config: WebConfig, kit: ChannelKit) -> MortalChannel:
    return MortalChannel(channels.web.channel.build(config, kit), config.reaper)


def _configured(orders: Orders, reaper: Reaper) -> Config:
    config = load(Path(orders.config), os.environ)
    if orders.platform:
        section = platform_channel.Config(reaper=reaper, api_base=orders.platform, size=orders.size)
        entry = Entry("platform", "platform", section, platform_channel.__name__)
        return replace(config, channels={"platform": entry})
    web = config.channels["web"].config
    assert isinstance(web, channels.web.channel.Config)
    own = {name: getattr(web, name) for name in type(web).model_fields}
    return replace(config, channels={"web": Entry("web", "web", WebConfig(reaper=reaper, **own), __name__)})


async def _live(orders: Orders) -> None:
    folder = Path(orders.folder)
    reaper = Reaper(Death.parse(orders.death) if orders.death else None, folder / "actions.log")
    config = _configured(orders, reaper)
    _watch_files(config.tools.files.root, reaper)
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(FolderLock(config.data_dir))
        database = await stack.enter_async_context(MortalDatabase.open(config.data_dir / FILE_NAME))
        assert isinstance(database, MortalDatabase)
        database.watched_by(reaper)
        transport = Transport()
        stack.push_async_callback(transport.aclose)
        models = Models(
            [entry for entry in config.providers.values() if entry.module], clock, Random(), config.data_dir
        )
        stack.push_async_callback(models.aclose)
        only = ("platform",) if orders.platform else ()
        daemon = Daemon(config, clock, Store.over(database), transport, models, only)
        await daemon.run(lock, lambda: (folder / READY).touch())


def _watch_files(workspace: Path, reaper: Reaper) -> None:
    """Python tells its audit hooks before it opens a file."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]).startswith(f"{workspace}/"):
            nth = reaper.count("tool", "opens")
            reaper.strike("tool", "opens", nth, "before")

    sys.addaudithook(hook)


def run(orders: Orders) -> None:
    """Standard output and error go to ``stderr.log`` of the folder."""
    output = os.open(Path(orders.folder) / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    asyncio.run(until_signal(_live(orders), (signal.SIGTERM, signal.SIGINT)))


if __name__ == "__main__":
    run(Orders(**json.loads(Path(sys.argv[1]).read_text("utf-8"))))
