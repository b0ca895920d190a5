"""What a start brings with it: nothing that nobody asked for, and all that the first turn needs."""

from __future__ import annotations

import asyncio
import importlib
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from tests.app.conftest import free_port
from tests.cli.programs import environment
from tests.sim.llm import LlmSim, answer, text
from tests.sim.telegram import TelegramSim

TOKEN = "123456:SIM"
CONFIG = """
data_dir: data
channels:
  telegram: {{token: "{token}", api_base: "{telegram}", access: {{users: ["*"], pairing: false}}}}
  web: {{host: 127.0.0.1, port: {port}}}
providers:
  openai: {{api_key: sk-test-0123456789, base_url: "{models}/v1"}}
  local: off
brain: {{llm: {{default: {{provider: openai, model: gpt-test}}}}}}
memory: {{embedder: none}}
"""
PROGRAM = """
import signal, sys
from bot.cli.main import main
signal.signal(signal.SIGUSR1, lambda *_: print(*sys.modules, flush=True))
raise SystemExit(main(["run", "--config", "config.yaml"]))
"""
NOT_ASKED_FOR = re.compile(
    r"""bot\.cli\.(?:chat\w*|init|doctor|status|pair|service|trace)   # the other commands
    |bot\.config\.(?:doctor|reach|starter)
    |bot\.providers\.(?:anthropic|ollama|local)\.(?!provider|request|stream|served)\w+
    |bot\.outbox\.formula\.(?!commands)\w+|channels\.web\.formula|pylatexenc
    |bot\.attachments\.(?:child|documents|pages|pictures)|PIL|mammoth|pypdfium2|python_calamine
    |channels\.(?:discord|slack|terminal)\.\w+|discord|slack_bolt|slack_sdk
    |anthropic|ollama|xllamacpp|chromadb|prompt_toolkit|rich|pygments|cel|aiohttp\.web|telegram\.ext""",
    re.VERBOSE,
)
SETTLED_SECONDS = 0.3
WIDEST_CHARS = 50_000
ALL_CHARS = 380_000
"""Python compiles a set of characters one by one, at about 30 ns a character, and three times that where case is ignored."""


class Started:
    """The daemon as a process of its own, and the modules that it holds whenever it is asked."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def modules(self) -> set[str]:
        self._process.send_signal(signal.SIGUSR1)
        assert self._process.stdout is not None
        return set((await self._process.stdout.readline()).decode().split())

    async def settled(self) -> set[str]:
        """Once no more come and the vendor's library is there, for which a busy machine does not wait with its polls."""
        before, now = set[str](), await self.modules()
        while before != now or "openai" not in now:
            await asyncio.sleep(SETTLED_SECONDS)
            before, now = now, await self.modules()
        return now


@asynccontextmanager
async def started(folder: Path, telegram: TelegramSim, models: LlmSim) -> AsyncIterator[Started]:
    """From its first poll on."""
    config = CONFIG.format(token=TOKEN, telegram=telegram.url, models=models.url, port=free_port())
    (folder / "config.yaml").write_text(config)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, cwd=folder, env=environment(), stdout=asyncio.subprocess.PIPE, limit=2**20
    )
    try:
        await telegram.until(lambda sim: sim.polls >= 1, timeout=20)
        yield Started(process)
    finally:
        process.terminate()
        await process.wait()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The modules at the first poll, and those after the first answer."""
    return asyncio.run(_held(tmp_path_factory.mktemp("start")))


async def _held(folder: Path) -> tuple[set[str], set[str]]:
    async with TelegramSim(TOKEN) as telegram, LlmSim() as models:
        models.script(answer(text("Hello "), text("there.")))
        async with started(folder, telegram, models) as daemon:
            before = await daemon.settled()
            ann = telegram.person(7, "Ann")
            chat = telegram.private(ann)
            await telegram.say(chat, ann, "Please tell me story 7, as you did yesterday.")
            await telegram.until(lambda sim: sim.bot_texts(chat) == ["Hello there."])
            return before, await daemon.modules()


def test_a_start_imports_nothing_that_nobody_asked_for(held: tuple[set[str], set[str]]) -> None:
    before, _ = held
    assert {"openai", "telegram", "channels.web.channel", "channels.telegram.channel"} <= before
    assert sorted(name for name in before if NOT_ASKED_FOR.fullmatch(name)) == []


def test_the_first_turn_imports_nothing_more(held: tuple[set[str], set[str]]) -> None:
    before, after = held
    assert sorted(after - before) == []


def test_no_pattern_of_a_start_takes_long_to_compile(held: tuple[set[str], set[str]]) -> None:
    before, _ = held
    own = [importlib.import_module(name) for name in before if name.split(".")[0] in ("bot", "channels")]
    patterns = {pattern for module in own for value in vars(module).values() for pattern in _patterns(value)}
    widths = {pattern.pattern: _width(pattern) for pattern in patterns}
    assert len(widths) > 50
    assert [pattern for pattern, width in widths.items() if width > WIDEST_CHARS] == []
    assert sum(widths.values()) < ALL_CHARS


def _patterns(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _patterns(item)


def _width(pattern: re.Pattern[Any]) -> int:
    """How many characters of the first plane its ranges have."""
    chars = sum(last - first + 1 for first, last in _ranges(parser.parse(pattern.pattern, pattern.flags)))
    return chars * (3 if pattern.flags & re.IGNORECASE else 1)


def _ranges(part: Any) -> Iterator[tuple[int, int]]:
    if isinstance(part, tuple) and len(part) == 2 and str(part[0]) == "RANGE":
        if part[1][1] < 0x10000:
            yield part[1]
    elif isinstance(part, tuple | list | parser.SubPattern):
        for inner in part:
            yield from _ranges(inner)
