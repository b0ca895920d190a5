"""The model vendor of the suite: the LLM simulator in a process of its own, by its control API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aiohttp

from tests.crash.story import posted
from tests.sim.llm.script import Answer

GATE_SECONDS = 15.0


class Vendor:
    def __init__(self, url: str) -> None:
        self.url = url

    async def set(self, answers: Sequence[Answer]) -> None:
        """Forget everything and answer by these from now on."""
        await self._asked("POST", "reset")
        await self._asked("POST", "script", posted(answers))

    async def add(self, answers: Sequence[Answer]) -> None:
        await self._asked("POST", "script", posted(answers))

    async def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._asked("GET", "requests")
        return [request for request in found if request["endpoint"] == "chat"]

    async def violations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._asked("GET", "violations")
        return found

    async def at(self, gate: str) -> None:
        """Return once an answer waits at the gate."""
        await self._asked("GET", f"gate/{gate}?timeout={GATE_SECONDS}")

    async def release(self, gate: str) -> None:
        await self._asked("POST", f"release/{gate}")

    async def _asked(self, method: str, path: str, body: Any = None) -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, f"{self.url}/_sim/{path}", json=body) as answer,
        ):
            assert answer.status == 200, await answer.text()
            return await answer.json()
