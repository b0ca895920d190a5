"""The daemon as ``bot.app.daemon.run_daemon`` wires it, over a store, a wire and channels that can take it with them.

``python -m tests.crash.victim ORDERS.json`` runs it as a process of its own; ``run(orders)`` is the same in a process
that was forked for it.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel

from bot.app.daemon import Daemon
from bot.app.lock import FolderLock
from bot.cli.signals import until_signal
from bot.config.discover import builder
from bot.config.load import load
from bot.config.loaded import Config
from bot.core.ports import ChannelKit
from bot.providers.models import Models
from bot.store.store import FILE_NAME, Store
from bot.time.clock import SystemClock
from tests.crash.death import Death, Reaper
from tests.crash.mortal import MortalChannel, MortalDatabase, MortalTransport

READY = "ready"


@dataclass(frozen=True, slots=True)
class Orders:
    """``death`` as ``Death`` writes itself ("" to live). ``only`` is the channel to run ("": all of the config file, and
    the HTTP port); ``size`` and ``pace`` are for ``MortalChannel``. ``folder`` takes ``actions.log`` and what is written
    to standard error."""

    config: str
    folder: str
    death: str = ""
    only: str = ""
    size: int = 0
    pace: float = 0.0

    def written(self, path: Path) -> Path:
        path.write_text(json.dumps(asdict(self)), "utf-8")
        return path


_doomed: dict[str, Callable[[ChannelKit], MortalChannel]] = {}
"""How this process, which has one life, builds each of its channels."""


def build(config: BaseModel, kit: ChannelKit) -> MortalChannel:
    return _doomed[kit.name](kit)


def _configured(orders: Orders, reaper: Reaper) -> Config:
    config = load(Path(orders.config), os.environ)
    for name, entry in config.channels.items():
        _doomed[name] = lambda kit, entry=entry: MortalChannel(  # type: ignore[misc]
            builder(entry.module)(entry.config, kit), reaper, orders.size, orders.pace
        )
    mortal = {name: replace(entry, module=__name__) for name, entry in config.channels.items() if entry.module}
    return replace(config, channels={**config.channels, **mortal})


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
        transport = MortalTransport(reaper)
        stack.push_async_callback(transport.aclose)
        entries = [entry for entry in config.providers.values() if entry.module]
        models = Models(entries, clock, Random(), config.data_dir, transport)
        stack.push_async_callback(models.aclose)
        only = (orders.only,) if orders.only else ()
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
    until_signal(_live(orders), (signal.SIGTERM, signal.SIGINT))


if __name__ == "__main__":
    run(Orders(**json.loads(Path(sys.argv[1]).read_text("utf-8"))))
