"""What outlives the process under test: the platform, the model vendor, the data folder; and its lives, one by one."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from bot.store.store import FILE_NAME
from tests.crash import victim
from tests.crash.death import Death
from tests.crash.discord import open_discord
from tests.crash.platform import Platform, Simulated
from tests.crash.slack import open_slack
from tests.crash.story import MODEL
from tests.crash.telegram import open_telegram
from tests.crash.vendor import Vendor
from tests.crash.victim import READY, Orders
from tests.sim.llm.script import Answer

PATIENCE: Final = 15.0
TICK: Final = 0.01
PACE: Final = 0.04
"""Seconds between two calls in a chat where a test need not wait as long as Telegram would have it."""

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    [
        victim.__name__,
        *("bot.tools.arithmetic", "bot.tools.notes"),
        *("bot.providers.openai", "channels.web.channel"),
        *(f"channels.{name}.channel" for name in ("telegram", "discord", "slack")),
    ]
)
"""A victim is forked from a process that has imported everything and started nothing: a real process, without the
second that importing costs."""

PLATFORMS: Final[dict[str, Callable[..., AbstractAsyncContextManager[Simulated]]]] = {
    "telegram": open_telegram,
    "discord": open_discord,
    "slack": open_slack,
    "slack-native": partial(open_slack, streaming="native"),
}

CONFIG: Final = """\
data_dir: data
timezone: UTC
channels:
  web: {web}
  {name}: {section}
providers:
  vendor: {{kind: openai, base_url: "{vendor}/v1", api_key: sk-crash-0123456789}}
  anthropic: off
  openai: off
  ollama: off
  local: off
brain: {{when_busy: {when_busy}, llm: {{default: {{provider: vendor, model: {model}, window_tokens: 128000}}}}}}
memory: {{embedder: none, reranker: none, distill: off}}
"""


@dataclass
class Process:
    """One life of the daemon."""

    process: BaseProcess
    folder: Path

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    async def ready(self) -> None:
        await eventually(lambda: (self.folder / READY).exists() or not self.alive)
        assert self.alive, self.said

    async def dies(self) -> None:
        """Return once it was killed; fails when it ends in any other way or not at all."""
        await eventually(lambda: not self.alive)
        assert self.process.exitcode == -signal.SIGKILL, (self.process.exitcode, self.said)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    async def stops(self) -> int:
        """The exit status after SIGTERM."""
        self.process.terminate()
        await eventually(lambda: not self.alive)
        assert self.process.exitcode is not None
        return self.process.exitcode

    @property
    def actions(self) -> list[str]:
        """Everything it did or died doing, in order, as ``kind:action:nth``."""
        log = self.folder / "actions.log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def said(self) -> str:
        log = self.folder / "stderr.log"
        return log.read_text() if log.exists() else ""


P = TypeVar("P", bound=Platform, covariant=True)


@dataclass
class World(Generic[P]):
    """One data folder, one platform, one vendor; any number of lives, one after the other.

    With a ``web_port`` the daemon serves the web channel there, and is on the platform only where ``on_both``.
    ``size`` and ``pace`` are as in ``Orders``.
    """

    folder: Path
    vendor: Vendor
    platform: P
    size: int = 0
    pace: float = PACE
    web_port: int = 0
    on_both: bool = False
    when_busy: str = "steer"
    lives: list[Process] = field(default_factory=list)

    def start(self, death: Death | None = None) -> Process:
        orders = self.orders(death, f"life-{len(self.lives) + 1}")
        process = _forks.Process(target=victim.run, args=(orders,), daemon=True)
        process.start()
        life = Process(process, Path(orders.folder))
        self.lives.append(life)
        return life

    def orders(self, death: Death | None, name: str) -> Orders:
        """What a victim called ``name`` is told."""
        own = self.folder / name
        own.mkdir()
        only = "" if self.web_port else self.platform.name
        return Orders(str(self.config()), str(own), str(death or ""), only, self.size, self.pace)

    def config(self) -> Path:
        """The file, as it is now."""
        path = self.folder / "config.yaml"
        path.write_text(
            CONFIG.format(
                web=f"{{port: {self.web_port}}}" if self.web_port else "off",
                name=self.platform.name,
                section="off" if self.on_web else self.platform.section,
                vendor=self.vendor.url,
                model=MODEL,
                when_busy=self.when_busy,
            )
        )
        return path

    @property
    def on_web(self) -> bool:
        """Whether the page is all there is."""
        return self.web_port != 0 and not self.on_both

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def notes(self) -> list[str]:
        """The lines of the notes file: what the tool has really done to the world."""
        file = self.folder / "workspace" / "notes.md"
        return file.read_text().splitlines() if file.exists() else []

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database holds now, whether or not somebody writes to it."""
        path = self.data / FILE_NAME
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            return db.execute(sql).fetchall()

    async def finished(self, timeout: float = PATIENCE) -> None:
        """Return once every inbox row that a turn answers is finished."""

        def over() -> bool:
            rows = self.rows("SELECT finished_at IS NOT NULL FROM inbox WHERE kind = 'message'")
            return bool(rows) and all(row[0] for row in rows)

        await eventually(over, timeout)

    def tell(self) -> str:
        """What happened, for a failing test."""
        shown = [f"{look.message or 'sent'} {look.text[-60:]!r}" for look in self.platform.looks]
        lives = [f"-- life {n}\n{life.said}{' '.join(life.actions)}" for n, life in enumerate(self.lives, start=1)]
        return "\n".join((*lives, *shown))


@asynccontextmanager
async def open_world(
    folder: Path,
    vendor: Vendor,
    answers: Sequence[Answer],
    *,
    on: str = "telegram",
    pace: float = PACE,
    in_group: bool = False,
    strangers: bool = False,
    **more: Any,
) -> AsyncIterator[World[Simulated]]:
    """In front of a platform. ``pace`` 0: as it would have it, with its rates in force. ``strangers``: the person and the
    bot have never spoken."""
    await vendor.set(answers)
    async with (
        PLATFORMS[on](strict_rates=pace == 0, in_group=in_group) as platform,
        told(World(folder, vendor, platform, pace=pace, **more)) as world,
    ):
        if not strangers:
            await platform.befriend(world.data)
        yield world


@asynccontextmanager
async def told(world: World[P]) -> AsyncIterator[World[P]]:
    """What happened is told where it went wrong; nobody lives on."""
    try:
        yield world
    except BaseException as error:
        error.add_note(world.tell())
        raise
    finally:
        for life in world.lives:
            life.kill()


async def eventually(holds: Callable[[], Any], timeout: float = PATIENCE) -> None:
    async with asyncio.timeout(timeout):
        while not holds():
            await asyncio.sleep(TICK)
