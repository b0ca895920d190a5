"""Modules that run in processes of their own: what they say, within limits of time and size, and their end."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

MOST_BYTES: Final = 4 * 1024 * 1024
KILL_SECONDS: Final = 2.0
_ROOT: Final = Path(__file__).parents[2]
_INHERITED: Final = ("PATH", "LANG", "LD_LIBRARY_PATH")


async def answered(module: str, *arguments: str, seconds: float, question: bytes = b"") -> bytes | None:
    """What ``python -m module`` says to ``question``; None where it fails, or says more than ``MOST_BYTES``. Raises
    ``TimeoutError``. However this comes to an end, the process does too."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-B", "-m", module, *arguments),
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
        log.info("%s gave no answer: status %s", " ".join((module, *arguments[:1])), status)
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


def _environment() -> Mapping[str, str]:
    """Nothing of the daemon's that could hold a key or name a proxy; one thread for libraries that would take all."""
    known = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**known, "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1"}
