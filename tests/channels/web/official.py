"""The official OpenAI client, talking to a house."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from openai import AsyncOpenAI

from bot.core.inbound import UserMessage
from tests.channels.web.house import House

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@asynccontextmanager
async def client(house: House, key: str = "anything") -> AsyncIterator[Any]:
    """Without the client's own retries, so that a test sees the first answer."""
    async with house.open(), AsyncOpenAI(base_url=f"{house.url}/v1", api_key=key, max_retries=0) as made:
        yield made


def asked(house: House) -> UserMessage:
    """The first message that reached the house."""
    message = house.inbound[0]
    assert isinstance(message, UserMessage)
    return message
