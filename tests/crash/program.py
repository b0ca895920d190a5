"""``bowerbird run`` itself, as a service manager runs it: started, watched, told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from tests.cli.programs import ROOT, environment
from tests.crash.world import PATIENCE, TICK, eventually

STOP_SECONDS: Final = 10.0
"""What ``bowerbird run`` promises (INTERFACE.md)."""


@dataclass
class Program:
    """``said`` is everything it wrote to standard error."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str

    @property
    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    @property
    def clean(self) -> bool:
        """Nothing was written that a person would have to look into; leaving was not forced."""
        return "Traceback" not in self.said and " ERROR " not in self.said

    async def ready(self) -> None:
        """Return once ``/readyz`` says so."""
        async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE):
            while True:
                assert self.process.poll() is None, self.said
                try:
                    async with session.get(f"{self.url}/readyz") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(TICK)

    async def ends(self) -> int:
        """The exit status, once it has ended by itself; it leaves no process behind."""
        await eventually(lambda: self.process.poll() is not None, PATIENCE)
        assert _of_session(self.process.pid) == []
        return self.process.returncode

    async def stops(self, number: signal.Signals = signal.SIGTERM) -> int:
        """The exit status after the signal; fails when that takes longer than promised."""
        began = time.monotonic()
        self.process.send_signal(number)
        status = await self.ends()
        assert time.monotonic() - began < STOP_SECONDS, self.said
        return status


def _of_session(leader: int) -> list[int]:
    """Living processes of the session that ``leader`` began (``proc(5)``, the sixth field of stat)."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and int(session) == leader and state != "Z":
            found.append(int(folder.name))
    return found


def a_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@asynccontextmanager
async def running(config: Path, port: int, **env: str) -> AsyncIterator[Program]:
    """Started, not awaited. What is still there at the end of the block is killed."""
    log = config.parent / f"stderr-{time.monotonic_ns()}.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "run", "--config", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            env=environment(**env),
            cwd=ROOT,
            start_new_session=True,
        )
    program = Program(process, log, f"http://127.0.0.1:{port}")
    try:
        yield program
    except BaseException as error:
        error.add_note(program.said)
        raise
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
