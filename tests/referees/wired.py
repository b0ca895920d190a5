"""A vendor's provider against an emulator, wired as the daemon wires it: retries around a watchdog around the vendor."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

from bot.core.model import Message, ModelRef, ModelRequest
from bot.core.ports import Clock
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from tests.providers.bench import KEY, TOOLS, VENDORS, Heard, ask, user

LONG: Final = "Sticks, straw, shells, berries and blue bottle caps."


class Soonest(Random):
    """The jitter of the retries at its shortest, so that a test that really waits waits for half a second."""

    def uniform(self, a: float, b: float) -> float:
        return a


class Wired:
    """``section`` is what its config says beside the address; the patience is long unless the test is about it."""

    def __init__(self, kind: str, base_url: str, clock: Clock, **section: Any) -> None:
        self.kind, self.model = kind, VENDORS[kind].model
        checked = entry(
            kind, {"base_url": base_url, "api_key": KEY, "first_seconds": 15.0, "silence_seconds": 10.0} | section
        )
        self._http = Transport()
        self.models = Models([checked], clock, Soonest(), Path("unused"), self._http)

    def request(self, *messages: Message, model: str = "", max_tokens: int = 1024, **more: Any) -> ModelRequest:
        """``more`` are fields of the request."""
        fields: dict[str, Any] = {"system": "Be brief.", "tools": TOOLS} | more
        ref = ModelRef(self.kind, model or self.model, max_tokens)
        return ModelRequest(ref, messages=messages or (user("hi"),), **fields)

    async def ask(self, *messages: Message, **more: Any) -> Heard:
        return await ask(self.models, self.request(*messages, **more))

    async def aclose(self) -> None:
        await self.models.aclose()
        await self._http.aclose()


async def at_once(questions: Iterable[Coroutine[Any, Any, Heard]]) -> list[Heard]:
    """Put questions side by side, so that their waits are waited for together."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(question) for question in questions]
    return [task.result() for task in tasks]
