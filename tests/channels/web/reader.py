"""What a client makes of the frames: the rules that INTERFACE.md gives a page, written once more and independently."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp


@dataclass
class Shown:
    text: str = ""
    html: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    tools: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    cards: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    error: str = ""
    done: str = ""


class Page:
    """A chat as a client shows it."""

    def __init__(self) -> None:
        self.turns: dict[str, Shown] = {}

    def take(self, frame: Mapping[str, Any]) -> None:
        if frame["type"] == "removed":
            self.turns.pop(frame["turn"], None)
            return
        if frame["type"] in ("about", "chats"):
            return
        shown = self.turns.setdefault(frame["turn"], Shown())
        match frame["type"]:
            case "message":
                shown.said[frame["id"]] = frame["text"]
            case "token":
                self._token(shown, frame)
            case "tool_call_start" | "tool_result":
                shown.tools[frame["call_id"]] = (frame["name"], frame["summary"], frame["seconds"], frame["error"])
            case "approval":
                shown.cards[frame["id"]] = frame["decision"]
            case "notice":
                shown.notices = frame["notices"]
            case "error":
                shown.error = frame["message"]
            case "done":
                shown.done = frame["stop"]

    def _token(self, shown: Shown, frame: Mapping[str, Any]) -> None:
        if frame.get("snapshot"):
            shown.said |= {said["id"]: said["text"] for said in frame["said"]}
            shown.tools.clear()
            shown.cards.clear()
            for line in frame["tools"]:
                shown.tools[line["call_id"]] = (line["name"], line["summary"], line["seconds"], line["error"])
            for card in frame["cards"]:
                shown.cards[card["id"]] = card["decision"]
            shown.notices = frame["notices"]
        assert frame["offset"] <= len(shown.text), "a token beyond the end of what is there"
        shown.text = shown.text[: frame["offset"]] + frame["text"]
        html = list(frame["html"])
        if "keep" in frame:
            old = shown.html[frame["block"]].encode("utf-16-le")
            html[0] = old[: 2 * frame["keep"]].decode("utf-16-le") + html[0]
        shown.html = shown.html[: frame["block"]] + html


@dataclass(frozen=True)
class Event:
    id: int | None
    type: str
    data: dict[str, Any]


async def events(stream: aiohttp.ClientResponse) -> AsyncIterator[Event]:
    """The events of an open stream, parsed as the HTML standard says; comments come as type ``:``."""
    last: int | None = None
    type_, data = "", ""
    async for raw in stream.content:
        line = raw.decode().rstrip("\n")
        name, _, value = line.partition(": ")
        if line.startswith(":"):
            yield Event(last, ":", {"comment": value})
        elif name == "id":
            last = int(value)
        elif name == "event":
            type_ = value
        elif name == "data":
            data += value
        elif not line:
            if data:
                yield Event(last, type_, json.loads(data))
            type_, data = "", ""
