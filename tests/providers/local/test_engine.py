"""The child process, for real: who may use it, what it can see, and that it never outlives us."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.core.errors import ProviderFailed
from bot.net.http import Transport
from bot.providers.local.engine import Engine, EngineSettings
from bot.providers.local.serve import LOG_BYTES, NICENESS

pytestmark = [pytest.mark.model, pytest.mark.timeout(180)]


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport()
    yield transport
    await transport.aclose()


@pytest.fixture
async def engine(smollm2: Path, tmp_path: Path, transport: Transport) -> AsyncIterator[Engine]:
    engine = Engine(EngineSettings(smollm2, "small", tmp_path / "engine.log", context=512), transport)
    yield engine
    await engine.aclose()


def gone(pid: int) -> bool:
    """Whether the process is no more, or only waits for its exit status to be read."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


async def test_only_who_has_the_key_may_use_it(engine: Engine, transport: Transport) -> None:
    await engine.start()
    assert await engine.healthy()
    for headers in ({}, {"Authorization": "Bearer guess"}):
        for path in ("/slots", "/props", "/v1/chat/completions"):
            answer = await transport.fetch("POST", engine.address + path, headers=headers, body=b"{}")
            assert answer.status == 401, path
    assert (await transport.fetch("GET", f"{engine.address}/slots", headers=engine.headers)).status == 200


async def test_it_is_nice_and_sees_no_secret(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-secret")
    await engine.start()
    assert engine.pid is not None
    assert os.getpriority(os.PRIO_PROCESS, engine.pid) >= NICENESS
    environment = Path(f"/proc/{engine.pid}/environ").read_bytes()
    assert b"OMP_NUM_THREADS=1" in environment
    assert b"sk-secret-secret" not in environment
    command = Path(f"/proc/{engine.pid}/cmdline").read_bytes().decode()
    assert engine.headers["Authorization"].removeprefix("Bearer ") not in command


async def test_it_closes_within_three_seconds_even_when_it_hangs(engine: Engine) -> None:
    await engine.start()
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGSTOP)
    async with asyncio.timeout(3):
        await engine.aclose()
    assert gone(engine.pid)
    assert not engine.alive
    assert not await engine.healthy()


async def test_its_end_is_noticed(engine: Engine) -> None:
    await engine.start()
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)
    async with asyncio.timeout(5):
        await engine.ended()
    assert not engine.alive


async def test_a_file_that_is_no_model_fails_with_a_sentence(tmp_path: Path, transport: Transport) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 1000)
    engine = Engine(EngineSettings(broken, "broken", tmp_path / "engine.log"), transport)
    with pytest.raises(ProviderFailed, match="could not be loaded"):
        await engine.start()
    assert not engine.alive
    assert "broken.gguf" in (tmp_path / "engine.log").read_text()


async def test_a_cancelled_start_leaves_no_process(engine: Engine) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await engine.start()
    assert engine.pid is not None
    assert gone(engine.pid)


async def test_the_log_is_bounded(smollm2: Path, tmp_path: Path, transport: Transport) -> None:
    log_file = tmp_path / "engine.log"
    log_file.write_bytes(b"x" * (LOG_BYTES + 1))
    engine = Engine(EngineSettings(smollm2, "small", log_file, context=512), transport)
    await engine.start()
    try:
        assert await asyncio.to_thread(within, 10, lambda: log_file.stat().st_size < LOG_BYTES)
        assert (tmp_path / "engine.log.1").stat().st_size > LOG_BYTES
    finally:
        await engine.aclose()


PARENT = """
    import asyncio, sys
    from pathlib import Path
    from bot.net.http import Transport
    from bot.providers.local.engine import Engine, EngineSettings

    async def main():
        engine = Engine(EngineSettings(Path(sys.argv[1]), "small", Path(sys.argv[2]), context=512), Transport())
        async with asyncio.TaskGroup() as group:
            started = group.create_task(engine.start())
            while engine.pid is None:
                await asyncio.sleep(0.01)
            if sys.argv[3] == "ready":
                await started
            print(engine.pid, flush=True)
            await asyncio.sleep(60)

    asyncio.run(main())
"""


@pytest.mark.parametrize("when", ["loading", "ready"])
def test_it_dies_with_a_parent_that_is_killed(smollm2: Path, tmp_path: Path, when: str) -> None:
    arguments = [str(smollm2), str(tmp_path / "engine.log"), when]
    command = [sys.executable, "-c", textwrap.dedent(PARENT), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert not gone(child)
        parent.send_signal(signal.SIGKILL)
    assert within(5, lambda: gone(child))
