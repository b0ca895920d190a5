"""Opening a kept file in a process of its own, and what came of it within its limits of time and output."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast, get_args

from bot.attachments.kinds import Kind
from bot.core.transcript import Trouble

log = logging.getLogger(__name__)

SECONDS: Final = 60.0
"""Twice the processor time that ``bot.attachments.child`` takes, for machines that others keep busy."""
AT_ONCE: Final = 2
MOST_BYTES: Final = 4 * 1024 * 1024
KILL_SECONDS: Final = 2.0
_ROOT: Final = Path(__file__).parents[2]
_INHERITED: Final = ("PATH", "LANG", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Opened:
    """``body`` is text in UTF-8, or a JPEG; empty where there was ``trouble`` that left nothing to see."""

    trouble: Trouble
    body: bytes = b""


class Opener:
    """A few files at once, whoever sent them."""

    def __init__(self, *, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._slots, self._seconds = asyncio.Semaphore(at_once), seconds

    async def open(self, place: Path, kind: Kind, chars: int) -> Opened:
        """Whatever the file holds, this comes to an end; ``chars`` bounds the text."""
        async with self._slots:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-B", "-m", "bot.attachments.child", kind.value, str(place), str(chars)),
                env=_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(self._seconds):
                    said = await _said(process)
                    status = await process.wait() if len(said) <= MOST_BYTES else None
            except TimeoutError:
                return Opened("slow")
            finally:
                await _gone(process)
        if status != 0:
            log.info("a file of the kind %s could not be opened: status %s", kind, status)
            return Opened("broken")
        return _read(said)


async def _said(process: asyncio.subprocess.Process) -> bytes:
    """All that the process says, and a little more than ``MOST_BYTES`` of one that says too much."""
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


def _read(said: bytes) -> Opened:
    head, _, body = said.partition(b"\n")
    try:
        trouble = json.loads(head)["trouble"]
    except (ValueError, KeyError, TypeError):
        return Opened("broken")
    return Opened(cast(Trouble, trouble) if trouble in get_args(Trouble) else "broken", body)


def _environment() -> dict[str, str]:
    """Nothing of the daemon's that could hold a key; one thread for libraries that would take all."""
    known = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**known, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1"}
