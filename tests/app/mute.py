"""``python -m tests.app.mute CONFIG``: the daemon with one more channel, which gives signs of life while the file
``alive`` lies beside the configuration, and hangs as soon as it does not. Each of its lives adds a line to ``lives``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bot.app.daemon import run_daemon
from bot.app.notify import ServiceManager
from bot.cli.signals import until_signal
from bot.config.load import load
from bot.config.loaded import Entry
from bot.core.ports import ChannelKit, Progress, Receive
from tests.fakes.channel import FakeChannel

STALE_SECONDS = 0.5


class Config(BaseModel):
    """Made here, never read from a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path


def build(config: Config, kit: ChannelKit) -> MuteChannel:
    return MuteChannel(kit.clock, name=kit.name, folder=config.folder)


@dataclass
class MuteChannel(FakeChannel):
    folder: Path = Path()
    sign: float = 0.0

    @property
    def progress(self) -> Progress:
        return Progress(self.sign, STALE_SECONDS)

    async def run(self, receive: Receive) -> None:
        with (self.folder / "lives").open("a") as lives:
            lives.write("one\n")
        while (self.folder / "alive").exists():
            self.sign = self.clock.monotonic()
            await self.clock.sleep(0.05)
        await asyncio.get_running_loop().create_future()


def main() -> None:
    file = Path(sys.argv[1])
    manager = ServiceManager.taken_from(os.environ)
    config = load(file, os.environ)
    entry = Entry("mute", "mute", Config(folder=file.parent), __name__ if __name__ != "__main__" else "tests.app.mute")
    config = replace(config, channels={**config.channels, "mute": entry})
    until_signal(run_daemon(config, manager=manager), (signal.SIGTERM,))


if __name__ == "__main__":
    main()
