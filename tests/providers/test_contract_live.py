"""The contract of `Provider` over every kind there is, the model that runs here included: what needs no script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.model import ModelRequest, ModelStopReason, ModelText, ThinkingBlock
from bot.core.ports import Provider
from bot.net.http import Transport
from bot.providers.discovery import built, entry, kinds
from bot.time.clock import SystemClock
from tests.providers.bench import VENDORS, Bench, ask, assistant, called, result, user
from tests.sim.llm import LlmSim

PROMPT_SECONDS = 3.0
"""How soon a connection must be given back; adapters close within this time everywhere in the house."""


class Live:
    """One provider, and a request that it can answer."""

    def __init__(self, provider: Provider, request: ModelRequest) -> None:
        self.provider, self.request = provider, request


def params() -> list[object]:
    return [pytest.param(kind, marks=pytest.mark.model) if kind not in VENDORS else kind for kind in kinds()]


@pytest.fixture(params=params())
async def live(request: pytest.FixtureRequest, sim: LlmSim, tmp_path: Path) -> AsyncIterator[Live]:
    sim.settings.default = "echo"
    if request.param in VENDORS:
        bench = Bench(VENDORS[request.param], sim)
        yield Live(bench.bare(), bench.request(user("Tell me of birds."), tools=()))
        await bench.aclose()
        return
    model = request.getfixturevalue("smollm2")
    section = entry("local", {"path": str(model), "sources": ["path"]})
    http = Transport()
    provider = built(section, SystemClock(), tmp_path / "data", http)
    asked = Bench(VENDORS["openai"], sim).request(user("Tell me of birds."), tools=(), max_tokens=24)
    yield Live(provider, replace(asked, model=replace(asked.model, provider="local", model="smollm2-135m")))
    await provider.aclose()
    await http.aclose()


async def test_an_answer_is_text_and_then_one_stop(live: Live) -> None:
    heard = await ask(live.provider, live.request)
    assert heard.text.strip()
    assert heard.stop.reason in (ModelStopReason.END, ModelStopReason.MAX_TOKENS)
    assert heard.usage.input_tokens > 0
    assert heard.usage.output_tokens > 0


async def test_leaving_early_is_quick_and_the_next_answer_comes(live: Live) -> None:
    async with live.provider.stream(live.request) as events:
        async for event in events:
            if isinstance(event, ModelText):
                left = time.monotonic()
                break
    assert time.monotonic() - left < PROMPT_SECONDS
    assert (await ask(live.provider, live.request)).text.strip()


async def test_cancelling_is_quick_and_not_swallowed(live: Live) -> None:
    await ask(live.provider, live.request)
    begun = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(_listened(live, begun))
        await begun.wait()
        listening.cancel()
        left = time.monotonic()
    assert time.monotonic() - left < PROMPT_SECONDS
    assert listening.cancelled()


async def test_a_history_of_many_vendors_is_taken(live: Live) -> None:
    foreign = ThinkingBlock("elsewhere", "plan", '{"reasoning_content":"plan"}')
    history = (
        user("half \ud83d a bird", ""),
        user("and more"),
        assistant(foreign, "", called("functions.get_time:0", "get.time")),
        user(result("functions.get_time:0", "", error=True), result("call_gone", "orphaned")),
        assistant("It failed."),
        assistant(" "),
        user("Go on."),
    )
    heard = await ask(live.provider, replace(live.request, messages=history))
    assert heard.stop.reason in (ModelStopReason.END, ModelStopReason.MAX_TOKENS)


async def test_closing_twice_is_closing_once(live: Live) -> None:
    await ask(live.provider, live.request)
    await live.provider.aclose()
    await live.provider.aclose()


async def _listened(live: Live, begun: asyncio.Event) -> None:
    async with live.provider.stream(live.request) as events:
        begun.set()
        async for _ in events:
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()
