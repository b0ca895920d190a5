"""The two ends of the wire in the Telegram bench, each a process of its own: Telegram and the model, simulated.

Times are those of the monotonic clock, which is one for all processes of a machine.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.bench.process import program
from tests.bench.script import answer_text, begins, question, script, settings

LATENCY_SECONDS = 0.003
LOOK_SECONDS = 0.25
_NUMBER = re.compile(r"<(\d+)>")


@dataclass(frozen=True, slots=True)
class Told:
    """One question as its person saw it answered. ``first_seconds`` and ``final_seconds`` are from the message being
    written to the first words of the answer and to the whole of it; ``model_seconds`` is how long the model took of that.

    ``right``: exactly one message, with exactly the model's text. ``calls`` are those for the chat.
    """

    first_seconds: float
    final_seconds: float
    model_seconds: float
    calls: int
    right: bool


@dataclass(slots=True)
class Wires:
    """The addresses of both simulators."""

    telegram: str
    models: str
    _http: aiohttp.ClientSession

    async def prepare(self, numbers: Sequence[int], *, paced: bool) -> None:
        await self._post(self.models, "reset", {})
        await self._post(self.models, "script", {**settings(), "answers": script(numbers, paced=paced)})

    async def ask(self, numbers: Sequence[int]) -> None:
        """Person ``number`` asks for story ``number`` in a chat of their own; all at once."""
        said = [{"person": number, "text": question(number)} for number in numbers]
        await self._post(self.telegram, "say_many", {"messages": said})

    async def say(self, person: int, text: str) -> None:
        await self._post(self.telegram, "say_many", {"messages": [{"person": person, "text": text}]})

    async def shown(self, numbers: Sequence[int], seconds: float) -> None:
        """Once every chat shows its whole answer, or after ``seconds``."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            report = await self._get(self.telegram, "report")
            if all(report.get(str(number), {}).get("text") == answer_text(number) for number in numbers):
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def told(self, numbers: Sequence[int]) -> dict[int, Told | None]:
        """What came of the questions; None for a person who read no word of the answer."""
        report, calls = await self._get(self.telegram, "report"), await self._calls_by_chat()
        models = await self._model_seconds()
        return {
            number: _told(number, report.get(str(number)), calls[number], models.get(number, 0.0)) for number in numbers
        }

    async def first_poll(self, seconds: float = 60.0) -> float:
        """When the first poll arrived."""
        await self._post(self.telegram, "until", {"polls": 1, "timeout": seconds})
        calls = await self._get(self.telegram, "calls?method=getUpdates")
        return float(calls[0]["at"])

    async def violations(self) -> list[str]:
        """What the bot did that Telegram or the model's vendor does not allow."""
        broken: list[str] = await self._get(self.telegram, "violations")
        return broken + [violation["message"] for violation in await self._get(self.models, "violations")]

    async def prompt_tokens(self) -> int:
        """Of the latest question to the model."""
        return int(
            [seen for seen in await self._get(self.models, "requests") if seen["endpoint"] == "chat"][-1][
                "prompt_tokens"
            ]
        )

    async def _calls_by_chat(self) -> Mapping[int, list[dict[str, Any]]]:
        by_chat: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for call in await self._get(self.telegram, "calls"):
            by_chat[call["chat_id"]].append(call)
        return by_chat

    async def _model_seconds(self) -> Mapping[int, float]:
        found = {}
        for seen in await self._get(self.models, "requests"):
            if seen["endpoint"] == "chat" and seen["ended_at"]:
                number = _NUMBER.findall(json.dumps(seen["body"]["messages"]))[-1]
                found[int(number)] = seen["ended_at"] - seen["at"]
        return found

    async def _get(self, url: str, view: str) -> Any:
        async with self._http.get(f"{url}/_sim/{view}") as answer:
            answer.raise_for_status()
            return await answer.json()

    async def _post(self, url: str, deed: str, body: Any) -> Any:
        async with self._http.post(f"{url}/_sim/{deed}", json=body) as answer:
            if answer.status != 200:
                raise RuntimeError(f"{deed}: {await answer.text()}")
            return await answer.json()


def _told(
    number: int, report: Mapping[str, Any] | None, calls: Sequence[Mapping[str, Any]], model_seconds: float
) -> Told | None:
    """A line that only says that something will come (``thinking…``) is no word of the answer."""
    seen = [
        call["at"] + LATENCY_SECONDS
        for call in calls
        if call["status"] == 200 and begins(str(call["params"].get("text", "")), number)
    ]
    if report is None or not seen:
        return None
    return Told(
        first_seconds=min(seen) - report["said_at"],
        final_seconds=report["last_change_at"] - report["said_at"],
        model_seconds=model_seconds,
        calls=len(calls),
        right=report["sends"] == 1 and report["text"] == answer_text(number),
    )


@asynccontextmanager
async def wires(folder: Path, *, strict: bool) -> AsyncIterator[Wires]:
    """Both simulators, fresh. ``strict``: Telegram's rates hold."""
    folder.mkdir(parents=True)
    rates = [] if strict else ["--lenient-rates"]
    telegram_command = ["-m", "tests.sim.telegram", "--latency", str(LATENCY_SECONDS), *rates]
    async with (
        program(*telegram_command, folder=folder, log=folder / "telegram.log") as (_, telegram),
        program("-m", "tests.sim.llm", folder=folder, log=folder / "models.log") as (_, models),
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(120)) as http,
    ):
        urls = [(await said.readline()).decode().strip() for said in (telegram, models)]
        yield Wires(*urls, http)
