"""The child process that computes: one life of it, from start to end, and the address it serves on."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.core.errors import ProviderFailed, TransportError
from bot.core.http import Http, Timeouts

log = logging.getLogger(__name__)

START_SECONDS: Final = 180.0
"""Loading half a gigabyte took 1.4 s on an idle machine and 7 s on a busy one; a slow disk may need far longer."""
TERM_SECONDS: Final = 1.5
KILL_SECONDS: Final = 1.0
HEALTH_TIMEOUTS: Final = Timeouts(connect=2.0, silence=5.0, total=5.0)
SLOTS: Final = 2
"""Two, so that a second chat (or a job in the background) neither waits for the first nor drives its prompt out of the
cache; a slot of 4096 tokens is 48 MB with Qwen, and one thread serves two slots almost as fast as one."""
_INHERITED: Final = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR")


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """``context`` is in tokens per slot; ``log_file`` takes what the engine prints, a megabyte or two at most."""

    model: Path
    alias: str
    log_file: Path
    threads: int = 1
    context: int = 4096
    slots: int = SLOTS


class Engine:
    """One child process. ``start`` it once; ``aclose`` may be called at any time, also in place of a start."""

    def __init__(self, settings: EngineSettings, http: Http) -> None:
        self._settings, self._http = settings, http
        self._key = secrets.token_urlsafe(32)
        self._process: asyncio.subprocess.Process | None = None
        self._address = ""

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None and bool(self._address)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def address(self) -> str:
        """``http://127.0.0.1:port`` once started."""
        return self._address

    @property
    def headers(self) -> Mapping[str, str]:
        """The key of this life of the child: without it nobody on this machine can use the port. The server closes the
        connection after a stream though it announces to keep it, so no connection is used twice."""
        return {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json", "Connection": "close"}

    async def start(self) -> None:
        """Returns once the model is loaded and the port answers. Raises ``ProviderFailed``."""
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", str(Path(__file__).with_name("serve.py"))),
            env=_environment(self._settings.threads),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                self._address = await self._announced(process)
        except TimeoutError:
            raise ProviderFailed("The local model did not load in time.") from None
        finally:
            if not self._address:
                await self.aclose()
        if not await self.healthy():
            await self.aclose()
            raise ProviderFailed("The local model was loaded and does not answer.")
        log.info("the local model %s is loaded, process %d", self._settings.alias, process.pid)

    async def healthy(self) -> bool:
        """Whether the server says that it is well; it does so also while it computes."""
        if not self.alive:
            return False
        try:
            answer = await self._http.fetch("GET", f"{self._address}/health", timeouts=HEALTH_TIMEOUTS)
        except TransportError:
            return False
        return answer.status == 200

    async def ended(self) -> None:
        """Wait until the process is gone."""
        if self._process is not None:
            await self._process.wait()

    async def aclose(self) -> None:
        """Ask, then kill: gone within ``TERM_SECONDS`` + ``KILL_SECONDS``."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(TERM_SECONDS):
                await process.wait()
                return
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_SECONDS):
                await process.wait()

    async def _announced(self, process: asyncio.subprocess.Process) -> str:
        """Hand the settings over and wait for the one line in which the child says where it serves."""
        assert process.stdin is not None and process.stdout is not None
        settings = self._settings
        line = json.dumps(
            {
                "model": str(settings.model),
                "alias": settings.alias,
                "log": str(settings.log_file),
                "threads": settings.threads,
                "context": settings.context,
                "slots": settings.slots,
                "key": self._key,
            }
        )
        try:
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
            said = await process.stdout.readline()
        except (ConnectionError, ValueError):
            said = b""
        if not said:
            raise ProviderFailed(
                "The local model could not be loaded. The engine's log in the data folder says why.",
                detail=f"see {settings.log_file}",
            )
        return str(json.loads(said)["address"])


def _environment(threads: int) -> dict[str, str]:
    """Nothing but what the interpreter needs: the child sees no key and no setting of the person's.

    OpenMP's threads spin at their barriers; more of them than the engine's own make it many times slower.
    """
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**kept, "OMP_NUM_THREADS": str(threads)}
