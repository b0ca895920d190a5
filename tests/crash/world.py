"""What outlives the process under test: the platform, the model vendor, the data folder; and the person in front of it."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

import aiohttp

from bot.store.store import FILE_NAME
from tests.crash import victim
from tests.crash.death import Death
from tests.crash.story import MODEL, posted
from tests.crash.victim import READY, Orders
from tests.sim.llm.script import Answer
from tests.sim.platform import PlatformSim

PATIENCE: Final = 15.0
TICK: Final = 0.01

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload([victim.__name__, "openai", "httpx2", "bot.tools.arithmetic", "bot.tools.notes"])
"""A victim is forked from a process that has imported everything and started nothing: a real process, without the
second that importing costs."""

CONFIG: Final = """\
data_dir: data
timezone: UTC
channels: {{web: {{port: {port}}}}}
providers:
  vendor: {{kind: openai, base_url: "{vendor}/v1", api_key: sk-crash-0123456789}}
  anthropic: off
  openai: off
  ollama: off
  local: off
brain: {{when_busy: {when_busy}, llm: {{default: {{provider: vendor, model: {model}}}}}}}
memory: {{embedder: none, reranker: none, distill: off}}
"""


class Vendor:
    """The LLM simulator in its own process, by its control API."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def set(self, answers: Sequence[Answer]) -> None:
        """Forget everything and answer by these from now on."""
        await self._asked("POST", "reset")
        await self._asked("POST", "script", posted(answers))

    async def add(self, answers: Sequence[Answer]) -> None:
        await self._asked("POST", "script", posted(answers))

    async def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._asked("GET", "requests")
        return [request for request in found if request["endpoint"] == "chat"]

    async def violations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._asked("GET", "violations")
        return found

    async def at(self, gate: str) -> None:
        """Return once an answer waits at the gate."""
        await self._asked("GET", f"gate/{gate}?timeout={PATIENCE}")

    async def release(self, gate: str) -> None:
        await self._asked("POST", f"release/{gate}")

    async def _asked(self, method: str, path: str, body: Any = None) -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, f"{self.url}/_sim/{path}", json=body) as answer,
        ):
            assert answer.status == 200, await answer.text()
            return await answer.json()


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


@dataclass
class World:
    """One data folder, one platform, one vendor; any number of lives, one after the other.

    With a ``web_port`` the daemon serves the web channel there and leaves the platform alone.
    """

    folder: Path
    vendor: Vendor
    platform: PlatformSim
    web_port: int = 0
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
        return Orders(
            config=str(self.config()),
            folder=str(own),
            death=str(death or ""),
            platform="" if self.on_web else self.platform.url,
            size=self.platform.size,
        )

    def config(self) -> Path:
        """The file, as it is now."""
        path = self.folder / "config.yaml"
        path.write_text(
            CONFIG.format(vendor=self.vendor.url, model=MODEL, port=self.web_port, when_busy=self.when_busy)
        )
        return path

    @property
    def on_web(self) -> bool:
        return self.web_port != 0

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
        shown = [f"{call.action} {call.message} {call.text[-60:]!r}" for call in self.platform.calls]
        lives = [f"-- life {n}\n{life.said}{' '.join(life.actions)}" for n, life in enumerate(self.lives, start=1)]
        return "\n".join((*lives, *shown))


@asynccontextmanager
async def open_world(
    folder: Path, vendor: Vendor, answers: Sequence[Answer], *, size: int = 4096, nonces: bool = False, **more: Any
) -> AsyncIterator[World]:
    await vendor.set(answers)
    async with PlatformSim(size=size, knows_nonces=nonces) as platform:
        world = World(folder, vendor, platform, **more)
        try:
            yield world
        except BaseException as error:
            error.add_note(world.tell())
            raise
        finally:
            for life in world.lives:
                life.kill()


async def eventually(holds: Any, timeout: float = PATIENCE) -> None:
    async with asyncio.timeout(timeout):
        while not holds():
            await asyncio.sleep(TICK)
