"""What a model's streamed answer costs this process in CPU, against the vendor's library with its default HTTP client.

The vendor is simulated in a process of its own. The floor reads the typed stream that the library's documentation shows;
ours is what a turn asks: ``Models``, with watchdog and retries, over the one transport.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import aiohttp
import anthropic
import openai

from bot.core.model import Message, ModelRef, ModelRequest, ModelText, TextBlock
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from bot.time.clock import SystemClock
from tests.bench.process import program
from tests.bench.table import Row, printed

CHUNKS: Final = 60
TOKENS: Final = 2
"""Of each piece, as the simulator counts."""
MOST: Final = 0.35
LIGHTER_MOST: Final = 0.5
"""Anthropic's library reads a stream at two thirds of the price of OpenAI's."""
SYSTEM: Final = "You are a bowerbird. " * 40
QUESTION: Final = "Tell me about your bower."
MODELS: Final = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-5-5"}
WANTED: Final = "".join(f"word{number} " for number in range(CHUNKS))

Ask = Callable[[], Awaitable[str]]


@asynccontextmanager
async def vendor(folder: Path) -> AsyncIterator[str]:
    async with program("-m", "tests.sim.llm", folder=Path.cwd(), log=folder / "sim.log") as (_, said):
        yield (await said.readline()).decode().strip()


async def scripted(url: str, chunks_per_second: float | None) -> None:
    steps = [{"do": "text", "text": f"word{number} "} for number in range(CHUNKS)]
    script = [{"steps": steps, "repeat": True, "tokens_per_second": chunks_per_second and chunks_per_second * TOKENS}]
    async with aiohttp.ClientSession() as http:
        for deed, body in (("reset", {}), ("script", script)):
            async with http.post(f"{url}/_sim/{deed}", json=body) as done:
                assert done.status == 200, await done.text()


def ours(models: Models, kind: str) -> Ask:
    request = ModelRequest(ModelRef(kind, MODELS[kind]), SYSTEM, (Message("user", (TextBlock(QUESTION),)),))

    async def ask() -> str:
        async with models.stream(request) as events:
            return "".join([event.text async for event in events if isinstance(event, ModelText)])

    return ask


def openai_floor(client: openai.AsyncOpenAI) -> Ask:
    async def ask() -> str:
        stream = await client.chat.completions.create(
            model=MODELS["openai"],
            messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    return ask


def anthropic_floor(client: anthropic.AsyncAnthropic) -> Ask:
    async def ask() -> str:
        async with client.messages.stream(
            model=MODELS["anthropic"],
            max_tokens=8192,
            system=SYSTEM,
            messages=[{"role": "user", "content": QUESTION}],
        ) as stream:
            return "".join([text async for text in stream.text_stream])

    return ask


async def cpu_seconds(ask: Ask, at_once: int) -> float:
    """User and system time of this process for one call of ``at_once`` that run side by side."""
    began = time.process_time()
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(_checked(ask)) for _ in range(at_once)]
    assert all(call.done() for call in calls)
    return (time.process_time() - began) / at_once


async def _checked(ask: Ask) -> None:
    assert await ask() == WANTED


async def compared(what: str, floor: Ask, mine: Ask, *, at_once: int, rounds: int, most: float = MOST) -> Row:
    """Round by round, one after the other, so that a busy machine is busy for both."""
    for ask in (floor, mine):
        await cpu_seconds(ask, at_once)
    pairs = [(await cpu_seconds(floor, at_once), await cpu_seconds(mine, at_once)) for _ in range(rounds)]
    floor_ms, ours_ms = (1000 * statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(what, floor_ms, ours_ms, most, digits=2)


async def run() -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = await stack.enter_async_context(vendor(folder))
        http = Transport()
        stack.push_async_callback(http.aclose)
        sections: Mapping[str, dict[str, Any]] = {
            "openai": {"api_key": "k", "base_url": f"{url}/v1"},
            "anthropic": {"api_key": "k", "base_url": url},
        }
        entries = [entry(kind, section) for kind, section in sections.items()]
        models = Models(entries, SystemClock(), Random(1), folder, http)
        stack.push_async_callback(models.aclose)
        chat = await stack.enter_async_context(openai.AsyncOpenAI(**sections["openai"]))
        claude = await stack.enter_async_context(anthropic.AsyncAnthropic(**sections["anthropic"]))
        gpt = openai_floor(chat), ours(models, "openai")
        messages = anthropic_floor(claude), ours(models, "anthropic")

        await scripted(url, None)
        rows = [
            await compared("OpenAI, at once", *gpt, at_once=1, rounds=60),
            await compared("Anthropic, at once", *messages, at_once=1, rounds=60, most=LIGHTER_MOST),
        ]
        await scripted(url, 50)
        rows += [
            await compared("OpenAI, 50 a second, 50 calls side by side", *gpt, at_once=50, rounds=4),
            await compared(
                "Anthropic, 50 a second, 50 calls side by side", *messages, at_once=50, rounds=4, most=LIGHTER_MOST
            ),
        ]
        print(f"An answer in {CHUNKS} pieces; CPU of the asking process in ms per call.\n")
        printed(rows)
