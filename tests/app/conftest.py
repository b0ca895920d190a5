from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.app.control_client import ControlClient
from bot.app.daemon import run_daemon
from bot.config.load import load
from bot.config.loaded import Config
from tests.sim.llm import LlmSim

CONFIG = """
data_dir: data
channels:
  web: {{host: 127.0.0.1, port: {port}}}
  terminal: {{}}
providers:
  openai: {{api_key: sk-test-0123456789, base_url: "{sim}/v1"}}
  local: off
brain:
  llm:
    default: {{provider: openai, model: gpt-test, max_tokens: 500}}
    fallback: []
tools:
  files: {{root: workspace}}
"""


def free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Live:
    """A daemon in this process and the clients that talk to it."""

    url: str
    config: Config
    http: aiohttp.ClientSession
    task: asyncio.Task[None]
    frames: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    async def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        async with self.http.post(self.url + path, json=body, headers=headers) as answer:
            return answer.status, json.loads(await answer.text())

    async def say(self, text: str, chat: str = "c", message_id: str = "m1") -> str:
        status, body = await self.post("/v1/messages", {"chat": chat, "text": text, "id": message_id})
        assert status == 202, body
        return str(body["turn"])

    async def events(self, chat: str = "c", last: str = "") -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
        """``(id, event, data)`` as they come."""
        headers = {"Last-Event-ID": last} if last else {}
        async with self.http.get(f"{self.url}/v1/events", params={"chat": chat}, headers=headers) as answer:
            frame: dict[str, str] = {}
            async for raw in answer.content:
                line = raw.decode().rstrip("\n")
                if line:
                    name, _, value = line.partition(":")
                    frame[name] = value.removeprefix(" ")
                    continue
                if "data" in frame:
                    yield frame.get("id", ""), frame.get("event", ""), json.loads(frame["data"])
                frame = {}

    async def until_done(self, chat: str = "c", turn: str = "") -> tuple[str, dict[str, Any]]:
        """The text of the turn as a page would show it, and its ``done`` frame."""
        text = ""
        async with asyncio.timeout(20):
            async for _, event, data in self.events(chat, "0"):
                if turn and data.get("turn") != turn:
                    continue
                if event == "token":
                    text = text[: data["offset"]] + data["text"]
                if event == "done":
                    return text, data
        raise AssertionError("the stream ended")


StartDaemon = Callable[..., AbstractAsyncContextManager[Live]]


@pytest.fixture
async def sim() -> AsyncIterator[LlmSim]:
    async with LlmSim() as running:
        yield running
        assert running.violations == []


@pytest.fixture
def daemon(tmp_path: Path) -> StartDaemon:
    @asynccontextmanager
    async def started(sim_url: str, config: str = CONFIG, **facts: Any) -> AsyncIterator[Live]:
        port = free_port()
        file = tmp_path / "config.yaml"
        file.write_text(config.format(port=port, sim=sim_url, **facts), encoding="utf-8")
        loaded = load(file, {})
        ready = asyncio.Event()
        task = asyncio.ensure_future(run_daemon(loaded, ready=ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            waiting.cancel()
            task.result()
        async with aiohttp.ClientSession() as http:
            try:
                yield Live(f"http://127.0.0.1:{port}", loaded, http, task)
            finally:
                task.cancel()
                async with asyncio.timeout(10):
                    await asyncio.gather(task, return_exceptions=True)

    return started


@pytest.fixture
def control(tmp_path: Path) -> Callable[[], ControlClient]:
    return lambda: ControlClient(tmp_path / "data")
