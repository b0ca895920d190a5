"""A program under measurement: when it was started, and what /proc says of the CPU and memory it and its children took."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Measured:
    """``began`` is ``time.perf_counter()`` just before the program was started."""

    pid: int
    began: float

    def cpu_seconds(self) -> float:
        """User and system time of the process, of its children that live, and of those it has waited for."""
        return sum(_cpu_seconds(pid) for pid in _family(self.pid))

    def resident_bytes(self) -> int:
        """``Rss`` of /proc/…/smaps_rollup, over the process and its children."""
        return sum(_resident_bytes(pid) for pid in _family(self.pid))


@asynccontextmanager
async def program(
    *command: str, folder: Path, env: Mapping[str, str] | None = None, log: Path
) -> AsyncIterator[tuple[Measured, asyncio.StreamReader]]:
    """A Python program of this tree (``command`` is what follows ``python``), ended by SIGTERM; its error output goes to ``log``."""
    with log.open("ab") as errors:
        began = time.perf_counter()
        started = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(Path.cwd()), **(env or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    assert started.stdout is not None
    try:
        yield Measured(started.pid, began), started.stdout
    finally:
        await ended(started)


async def ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _family(pid: int) -> Sequence[int]:
    """The process and all its descendants; one that has gone has none."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        try:
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _cpu_seconds(pid: int) -> float:
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, after_name[11:15])) / TICKS  # utime, stime, cutime, cstime (proc_pid_stat(5), fields 14-17)


def _resident_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))
