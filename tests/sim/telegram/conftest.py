"""The simulator, python-telegram-bot's ``Bot`` talking to it, raw calls, and one person."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from telegram import Bot

from tests.sim.telegram import Chat, Person, TelegramSim

TOKEN = "123456:SIM"
Post = Callable[..., Awaitable[tuple[int, Any]]]


@pytest_asyncio.fixture
async def sim() -> AsyncIterator[TelegramSim]:
    async with TelegramSim(TOKEN, strict_rates=False) as running:
        yield running


@pytest_asyncio.fixture
async def bot(sim: TelegramSim) -> AsyncIterator[Bot]:
    async with Bot(TOKEN, base_url=f"{sim.url}/bot", base_file_url=f"{sim.url}/file/bot") as running:
        yield running


@pytest_asyncio.fixture
async def post(sim: TelegramSim) -> AsyncIterator[Post]:
    async with aiohttp.ClientSession() as session:

        async def call(method: str, token: str = TOKEN, **fields: Any) -> tuple[int, Any]:
            form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
            async with session.post(f"{sim.url}/bot{token}/{method}", data=form) as answer:
                return answer.status, await answer.json()

        yield call


@pytest.fixture
def ann(sim: TelegramSim) -> Person:
    return sim.person(7, "Ann", language="en")


@pytest.fixture
def chat(sim: TelegramSim, ann: Person) -> Chat:
    return sim.private(ann)
