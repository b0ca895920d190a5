"""A question to a module that runs in a process of its own, and its answer within limits of time and size."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

MOST_BYTES: Final = 4 * 1024 * 1024
KILL_SECONDS: Final = 2.0
_ROOT: Final = Path(__file__).parents[3]
_INHERITED: Final = ("PATH", "LANG", "LD_LIBRARY_PATH")


async def answered(module: str, question: bytes, seconds: float) -> bytes | None:
    """What ``python -m module`` says to ``question``; None where it fails or says too much. Raises ``TimeoutError``."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-B", "-m", module),
        env=_environment(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(seconds):
            async with asyncio.TaskGroup() as both:
                both.create_task(_ask(process, question))
                said = both.create_task(_said(process))
            answer = said.result()
            status = await process.wait() if len(answer) <= MOST_BYTES else None
    finally:
        await _gone(process)
    if status != 0:
        log.info("%s gave no answer: status %s", module, status)
        return None
    return answer


async def _ask(process: asyncio.subprocess.Process, question: bytes) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):
        process.stdin.write(question)
        await process.stdin.drain()
    process.stdin.close()


async def _said(process: asyncio.subprocess.Process) -> bytes:
    """All of it, and a little more than ``MOST_BYTES`` where it is too much."""
    assert process.stdout is not None
    said = bytearray()
    while len(said) <= MOST_BYTES and (piece := await process.stdout.read(65_536)):
        said += piece
    return bytes(said)


async def _gone(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await process.wait()


def _environment() -> dict[str, str]:
    """Nothing of the daemon's that could hold a key or name a proxy."""
    known = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**known, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
