"""Every platform as one conversation sees it: Ann, an owner, alone with the bot, and what she reads there."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from bot.app.daemon import run_daemon
from bot.config.load import load
from tests.app.conftest import free_port
from tests.channels.discord.seeing import seen
from tests.sim import discord as discord_sim
from tests.sim import telegram as telegram_sim
from tests.sim.discord import DiscordSim
from tests.sim.llm import LlmSim
from tests.sim.slack import BOT_USER, SlackSim
from tests.sim.telegram import TelegramSim

STOP, AGAIN = "Stop", "Try again"
_BOLD = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")


class Stage(Protocol):
    """``section`` is what stands under ``channels:``, as YAML on one line each."""

    section: str

    @property
    def texts(self) -> Sequence[str]:
        """The bot's messages as Ann reads them, without their formatting, oldest first."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """Of the buttons that she could press."""
        ...

    @property
    def violations(self) -> Sequence[str]: ...

    async def say(self, text: str) -> Any:
        """What ``edit`` takes."""
        ...

    async def edit(self, said: Any, text: str) -> None: ...

    async def press(self, label: str) -> None: ...

    async def ready(self) -> None:
        """Once what Ann says will be heard."""
        ...


class TelegramStage:
    def __init__(self, sim: TelegramSim) -> None:
        self._sim, self._ann = sim, sim.person(7, "Ann")
        self._chat = sim.private(self._ann)
        self.section = f'telegram: {{token: "{sim.token}", api_base: "{sim.url}", access: {{owners: [7]}}}}'

    @property
    def _shown(self) -> list[telegram_sim.Shown]:
        return [shown for shown in self._sim.visible(self._chat) if shown.from_bot]

    @property
    def texts(self) -> Sequence[str]:
        return [shown.text for shown in self._shown]

    @property
    def labels(self) -> Sequence[str]:
        return [label for shown in self._shown for row in shown.keyboard for label, _ in row]

    @property
    def violations(self) -> Sequence[str]:
        return self._sim.violations

    async def say(self, text: str) -> int:
        return int((await self._sim.say(self._chat, self._ann, text))["message_id"])

    async def edit(self, said: int, text: str) -> None:
        await self._sim.edit(self._chat, self._ann, said, text)

    async def press(self, label: str) -> None:
        shown = next(one for one in self._shown if label in one.buttons)
        await self._sim.press(self._chat, self._ann, shown.message_id, label)

    async def ready(self) -> None:
        await self._sim.until(lambda sim: sim.polls)


class DiscordStage:
    def __init__(self, sim: DiscordSim) -> None:
        self._sim, self._ann = sim, sim.person(7, "Ann")
        self._dm = sim.dm(self._ann)
        self.section = (
            f'discord: {{token: "{sim.token}", api_base: "{sim.api_base}", gateway_url: "{sim.gateway_url}",'
            " access: {owners: [7]}}"
        )

    @property
    def place(self) -> discord_sim.Channel:
        """Where the answers stand."""
        return self._dm

    @property
    def _shown(self) -> list[discord_sim.Shown]:
        return [shown for shown in self._sim.visible(self.place) if shown.from_bot]

    @property
    def texts(self) -> Sequence[str]:
        return [_read(shown.text) for shown in self._shown]

    @property
    def labels(self) -> Sequence[str]:
        return [label for shown in self._shown for label, _, _ in shown.buttons]

    @property
    def violations(self) -> Sequence[str]:
        return self._sim.violations

    async def say(self, text: str) -> int:
        return int((await self._sim.say(self._dm, self._ann, text))["id"])

    async def edit(self, said: int, text: str) -> None:
        await self._sim.edit(self._dm, said, text)

    async def press(self, label: str) -> None:
        shown = next(one for one in self._shown if label in [name for name, _, _ in one.buttons])
        await self._sim.press(self.place, self._ann, shown.id, label)

    async def ready(self) -> None:
        await self._sim.until(lambda sim: sim.connections.ready)


@cache
def _read(content: str) -> str:
    return "".join("\n" * max(1, line.gap) + line.text for line in seen(content)).strip()


class SlackStage:
    """``streaming`` is ``edit``, in a direct chat, or ``native``, in a thread of one, where Slack has streams."""

    def __init__(self, sim: SlackSim, streaming: str) -> None:
        self._sim, self._ann = sim, sim.person("U0ANN", "Ann")
        self._dm, self._thread = sim.dm(self._ann), None if streaming == "edit" else ""
        self.section = (
            f'slack: {{bot_token: "xoxb-sim", app_token: "xapp-sim", api_base: "{sim.api_base}",'
            f" streaming: {streaming}, access: {{owners: [U0ANN]}}}}"
        )

    @property
    def _shown(self) -> list[Any]:
        found = self._sim.visible(self._dm, self._thread)
        return [shown for shown in found if shown.from_bot and not shown.ephemeral_to]

    @property
    def texts(self) -> Sequence[str]:
        return [shown.text for shown in self._shown]

    @property
    def labels(self) -> Sequence[str]:
        """A stream has no button: there the words are pressed."""
        labels = [button.label for shown in self._shown for button in shown.buttons]
        return labels + [STOP for shown in self._shown if shown.streaming]

    @property
    def violations(self) -> Sequence[str]:
        return self._sim.violations

    async def say(self, text: str) -> str:
        if self._thread == "":
            root = await self._sim.say(self._dm, self._sim.person("U0BOB", "Bob"), "a thread begins here")
            self._thread = str(root["ts"])
        said = await self._sim.say(self._dm, self._ann, text, thread=self._thread)
        return str(said["ts"])

    async def edit(self, said: str, text: str) -> None:
        await self._sim.edit(self._dm, said, text)

    async def press(self, label: str) -> None:
        if label == STOP and any(shown.streaming for shown in self._shown):
            await self.say(f"<@{BOT_USER}> stop")
            return
        shown = next(one for one in self._shown if label in [button.label for button in one.buttons])
        await self._sim.press(self._dm, self._ann, shown.ts, label)

    async def ready(self) -> None:
        await self._sim.until(lambda sim: sim.sockets.open)


class WebStage:
    """The page's own API. There the text is Markdown, which the server turns into HTML."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self._url, self._session = f"http://127.0.0.1:{port}", session
        self._turns: dict[str, dict[str, Any]] = {}
        self._said = 0
        self.section = ""
        self.violations: Sequence[str] = ()

    async def follow(self) -> None:
        await self.ready()
        async with self._session.get(f"{self._url}/v1/events?chat=main") as answer:
            kind = ""
            async for raw in answer.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                kind = value if name == "event" else kind
                if name == "data":
                    self._take(kind, json.loads(value))

    def _take(self, kind: str, data: dict[str, Any]) -> None:
        turn = self._turns.setdefault(
            data["turn"], {"text": "", "notices": [], "cards": {}, "stop": "", "retry": False}
        )
        match kind:
            case "token":
                turn["text"] = turn["text"][: data["offset"]] + data["text"]
            case "approval":
                turn["cards"][data["id"]] = data["decision"]
            case "notice":
                turn["notices"] = data["notices"]
            case "done":
                turn["stop"], turn["retry"] = data["stop"], data["retry"]

    @property
    def texts(self) -> Sequence[str]:
        return [
            _BOLD.sub(r"\1", "\n\n".join((turn["text"].strip(), *turn["notices"])))
            for turn in self._turns.values()
            if turn["text"].strip() or turn["notices"]
        ]

    @property
    def labels(self) -> Sequence[str]:
        cards = [card for turn in self._turns.values() for card in turn["cards"].values() if not card]
        running = [turn for turn in self._turns.values() if turn["text"] and not turn["stop"]]
        last = [turn for turn in self._turns.values() if turn["text"] or turn["notices"]][-1:]
        again = [AGAIN for turn in last if turn["retry"]]
        return [*(["Allow once"] * len(cards)), *([STOP] * len(running)), *again]

    async def say(self, text: str) -> str:
        self._said += 1
        body = {"chat": "main", "text": text, "id": f"m{self._said}"}
        async with self._session.post(f"{self._url}/v1/messages", json=body) as answer:
            assert answer.status == 202, await answer.text()
        return body["id"]

    async def edit(self, said: str, text: str) -> None:
        raise NotImplementedError("what was sent on the page cannot be changed there")

    async def press(self, label: str) -> None:
        if label == STOP:
            async with self._session.post(f"{self._url}/v1/stop", json={"chat": "main"}) as answer:
                assert answer.status == 202, await answer.text()
            return
        if label == AGAIN:
            turn = next(id for id, turn in self._turns.items() if turn["retry"])
            async with self._session.post(f"{self._url}/v1/retry", json={"chat": "main", "turn": turn}) as answer:
                assert answer.status == 200, await answer.text()
            return
        [card] = [id for turn in self._turns.values() for id, decision in turn["cards"].items() if not decision]
        body = {"decision": "once", "chat": "main"}
        async with self._session.post(f"{self._url}/v1/approvals/{card}", json=body) as answer:
            assert answer.status == 200, await answer.text()

    async def ready(self) -> None:
        async with asyncio.timeout(10):
            while True:
                try:
                    async with self._session.get(f"{self._url}/healthz") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    await asyncio.sleep(0.02)


@asynccontextmanager
async def telegram(_: int) -> AsyncIterator[Stage]:
    async with TelegramSim() as sim:
        yield TelegramStage(sim)


@asynccontextmanager
async def discord(_: int) -> AsyncIterator[Stage]:
    async with DiscordSim() as sim:
        yield DiscordStage(sim)


@asynccontextmanager
async def slack_edits(_: int) -> AsyncIterator[Stage]:
    async with SlackSim() as sim:
        yield SlackStage(sim, "edit")
        assert sim.pings == []


@asynccontextmanager
async def slack_streams(_: int) -> AsyncIterator[Stage]:
    async with SlackSim() as sim:
        yield SlackStage(sim, "native")
        assert sim.pings == []


@asynccontextmanager
async def web(port: int) -> AsyncIterator[Stage]:
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        stage = WebStage(port, session)
        following = group.create_task(stage.follow())
        yield stage
        following.cancel()


STAGES = {
    "telegram": telegram,
    "discord": discord,
    "slack-edits": slack_edits,
    "slack-streams": slack_streams,
    "web": web,
}


CONFIG: Final = """
data_dir: data
timezone: UTC
channels:
  {section}
  web: {{port: {port}}}
providers:
  openai: {{api_key: sk-test-0123456789, base_url: "{llm}/v1"}}
  local: off
brain: {{llm: {{default: {{provider: openai, model: gpt-test, max_tokens: 8000, window_tokens: 128000}}, fallback: []}}}}
tools: {{files: {{root: workspace}}}}
"""


@asynccontextmanager
async def living(stage: Stage, llm: LlmSim, folder: Path, port: int) -> AsyncIterator[None]:
    """The daemon behind the stage, heard there, until the end of the block."""
    file = folder / "config.yaml"
    file.write_text(CONFIG.format(section=stage.section, port=port, llm=llm.url))
    ready = asyncio.Event()
    task = asyncio.ensure_future(run_daemon(load(file, {}), ready=ready.set))
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        task.result()
    try:
        await stage.ready()
        yield
    finally:
        task.cancel()
        async with asyncio.timeout(12):
            await asyncio.gather(task, return_exceptions=True)


async def eventually(holds: Callable[[], Any], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


__all__ = ["AGAIN", "STAGES", "STOP", "Stage", "eventually", "free_port", "living"]
