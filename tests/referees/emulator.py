"""An emulator: a process of its own on a loopback port that the system chose, told what to do over HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

START_SECONDS: Final = 60.0
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:[1-9]\d*")
_SETTINGS: Final = ("AIMOCK_", "LLMOCK_", "NODE_", "PYTHON")


@contextmanager
def running(command: Sequence[str], log: Path, **settings: str) -> Iterator[str]:
    """Start ``command`` with ``settings`` in its environment and give the address that it prints.

    It is killed at the end, since it holds nothing. Its output goes to a file: a pipe that nobody reads would stop it.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)} | settings
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=log.parent
        ) as process,
    ):
        try:
            yield _printed_address(process, log)
        finally:
            process.kill()


def _printed_address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := _ADDRESS.search(log.read_text(errors="replace")):
            return found.group()
        time.sleep(0.02)
    raise AssertionError(f"the emulator did not start:\n{log.read_text(errors='replace')}")


async def told(method: str, url: str, body: Any = None) -> Any:
    """What an emulator's control interface answers, as JSON."""
    async with aiohttp.ClientSession() as session, session.request(method, url, json=body) as response:
        assert response.ok, await response.text()
        return await response.json()
