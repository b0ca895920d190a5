"""The bots that are measured, and how each is started: the floor and ours."""

from __future__ import annotations

import compileall
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.process import Measured, program
from tests.bench.script import MODEL

TOKEN = "123456:SIM"
NAMES = ("floor", "ours")
CONFIG = """\
data_dir: data
channels:
  telegram:
    token: "{token}"
    api_base: "{telegram}"
    calls_per_second: {calls}
    access: {{users: ["*"], pairing: false}}
  web: {{host: 127.0.0.1, port: {port}}}
providers:
  openai: {{api_key: sk-bench, base_url: "{models}/v1"}}
  local: off
brain:
  llm:
    default: {{provider: openai, model: {model}, window_tokens: 128000}}
memory: {{embedder: none}}
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is lifted for the bench at 500 chats; the floor has no limits of its own to lift."""

    calls_per_second: int = 30
    live_turns: int | None = None


UNLIMITED = Limits(calls_per_second=100_000, live_turns=100_000)


def compiled() -> None:
    """Both as an installation leaves them, also where the environment keeps Python from writing bytecode: else the cold
    start of a source tree would be that of its compiler."""
    for folder in ("bot", "channels", "tests/bench"):
        compileall.compile_dir(folder, quiet=1)


@asynccontextmanager
async def running(
    name: str, folder: Path, telegram: str, models: str, limits: Limits = Limits()
) -> AsyncIterator[Measured]:
    """A bot of a fresh data folder, from its start to its end."""
    folder.mkdir(parents=True)
    shutil.copy("SOUL.md", folder)
    if name == "floor":
        command = ["-m", "tests.bench.floor.bot", TOKEN, telegram, f"{models}/v1", MODEL]
    else:
        (folder / "config.yaml").write_text(
            CONFIG.format(
                token=TOKEN,
                telegram=telegram,
                models=models,
                model=MODEL,
                port=free_port(),
                calls=limits.calls_per_second,
            )
        )
        command = ["-m", "bot", "run", "--config", "config.yaml"]
        if limits.live_turns is not None:
            command = ["-m", "tests.bench.ours", str(limits.live_turns), "config.yaml"]
    async with program(*command, folder=folder, env={"BOWERBIRD_LOG": "warning"}, log=folder / "log") as (bot, _):
        yield bot


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
