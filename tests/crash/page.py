"""A visitor of the web page's API: says, presses, follows the events, and comes back whenever the daemon does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp

from tests.crash.story import PROMPT, WHOLE
from tests.crash.world import TICK, eventually

CHAT: Final = "main"


@dataclass
class Shown:
    """One turn as a page that obeys the frames shows it."""

    text: str = ""
    stop: str = ""
    notices: list[str] = field(default_factory=list)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class Page:
    """``wrong`` collects what no page may ever be told: text that is not the answer's beginning, numbers that do not
    grow, an offset beyond what it has, something new after the end."""

    url: str
    session: aiohttp.ClientSession
    turns: dict[str, Shown] = field(default_factory=dict)
    cursor: int = 0
    visits: int = 0
    wrong: list[str] = field(default_factory=list)

    async def say(self, id_: str = "u1", text: str = PROMPT, chat: str = CHAT) -> str:
        """The turn that answers, once somebody has accepted the message. Only ``CHAT`` is followed."""
        said = await self._posted("v1/messages", {"chat": chat, "text": text, "id": id_})
        return str(said["turn"])

    async def press(self, verb: str = "once") -> str:
        """Press the open card when there is one; what the presser is told."""
        await eventually(lambda: self.open_cards)
        said = await self._posted(f"v1/approvals/{self.open_cards[0]}", {"decision": verb, "chat": CHAT})
        return str(said["notice"])

    @property
    def open_cards(self) -> list[str]:
        return [id_ for turn in self.turns.values() for id_, card in turn.cards.items() if not card["decision"]]

    async def over(self, turn: str) -> Shown:
        """The turn, once it has ended."""
        await eventually(lambda: turn in self.turns and self.turns[turn].stop)
        return self.turns[turn]

    async def history(self, chat: str = CHAT) -> list[dict[str, Any]]:
        """The frames with which a page that is opened now begins."""
        async with self.session.get(f"{self.url}/v1/history?chat={chat}") as answer:
            frames: list[dict[str, Any]] = (await answer.json())["frames"]
            return frames

    async def follow(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self._visit()
            except aiohttp.ClientError:
                await asyncio.sleep(TICK)

    async def _visit(self) -> None:
        headers = {"Last-Event-ID": str(self.cursor)} if self.cursor else {}
        async with self.session.get(f"{self.url}/v1/events?chat={CHAT}", headers=headers) as answer:
            if answer.status != 200:
                await asyncio.sleep(TICK)
                return
            self.visits += 1
            event: dict[str, str] = {}
            async for raw in answer.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value
                    continue
                self._take(event)
                event = {}

    def _take(self, event: dict[str, str]) -> None:
        if "id" in event:
            number = int(event["id"])
            if number < self.cursor:
                self.wrong.append(f"event {number} after {self.cursor}")
            self.cursor = number
        if "data" in event:
            self._show(event["event"], json.loads(event["data"]))

    def _show(self, kind: str, data: dict[str, Any]) -> None:
        turn = self.turns.setdefault(data["turn"], Shown())
        before = (turn.text, turn.stop)
        match kind:
            case "token":
                if data["offset"] > len(turn.text):
                    self.wrong.append(f"offset {data['offset']} of {len(turn.text)}")
                turn.text = turn.text[: data["offset"]] + data["text"]
                if data.get("snapshot"):
                    turn.notices = data["notices"]
                    turn.tools = {line["call_id"]: line for line in data["tools"]}
                    turn.cards = {card["id"]: card for card in data["cards"]}
                if not WHOLE.startswith(turn.text):
                    self.wrong.append(f"it says {turn.text!r}")
            case "tool_call_start" | "tool_result":
                turn.tools[data["call_id"]] = data
            case "approval":
                turn.cards[data["id"]] = data
            case "notice":
                turn.notices = data["notices"]
            case "done":
                turn.stop = data["stop"]
            case "error":
                self.wrong.append(f"error: {data['message']}")
        if before[1] and (turn.text, turn.stop) != before:
            self.wrong.append(f"{kind} changes a turn that is done")

    async def _posted(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """As a page does it: the same again until somebody answers."""
        while True:
            try:
                async with self.session.post(f"{self.url}/{path}", json=body) as answer:
                    if answer.status in (200, 202):
                        accepted: dict[str, Any] = await answer.json()
                        return accepted
                    assert answer.status == 503, await answer.text()
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(TICK)


@asynccontextmanager
async def open_page(port: int) -> AsyncIterator[Page]:
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        page = Page(f"http://127.0.0.1:{port}", session)
        following = group.create_task(page.follow())
        yield page
        following.cancel()
