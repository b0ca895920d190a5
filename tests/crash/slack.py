"""Slack as the suite's platform: the simulator in this process. It sends an event again that was not acknowledged, and
knows no idempotent send: what stands there is found by the bot itself."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence, Set
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from bot.app.edges import ACCOUNT
from bot.core.address import Address
from bot.store.store import Store
from bot.time.clock import SystemClock
from channels.slack.conversations import Conversations
from channels.slack.markup import Renderer
from tests.crash.deeds import deed
from tests.crash.platform import Look, Seen
from tests.sim.slack import Call, Delivery, Fault, Shown, SlackSim
from tests.sim.slack.nouns import Json
from tests.sim.slack.reading import read_blocks

TEAM: Final = "C0TEAM"
METHODS: Final = {"send": "chat.postMessage", "edit": "chat.update", "answer": "response_url"}
SHOWING: Final = ("chat.postMessage", "chat.update")
EVENTS: Final = "events_api"
LONG_SECONDS: Final = 30.0


async def hastened(seconds: float) -> None:
    """Slack tries again after one minute and after five: nobody waits so long here."""
    await asyncio.sleep(seconds if seconds < LONG_SECONDS else seconds / 60)


def text_of(blocks: Iterable[Json]) -> str:
    return read_blocks(blocks, str)


def bold_in(blocks: Iterable[Json]) -> Iterator[str]:
    for block in (one for one in blocks if one["type"] == "rich_text"):
        texts = [(bool(one.get("style", {}).get("bold")), one.get("text", "")) for one in _elements(block)]
        yield from ("".join(text for _, text in run) for bold, run in groupby(texts, lambda one: one[0]) if bold)


def _elements(block: Json) -> Iterator[Json]:
    for element in block.get("elements", ()):
        if "elements" in element:
            yield from _elements(element)
        else:
            yield element


def seen(shown: Shown) -> Seen:
    buttons = {button.label: button.value for button in shown.buttons}
    return Seen(shown.ts, shown.text, buttons, tuple(bold_in(shown.blocks)))


def named(delivery: Delivery) -> tuple[str, str]:
    """The kind and the id of a message or a press in the inbox."""
    payload = delivery.payload
    if delivery.kind == EVENTS:
        return "message", payload["event"]["ts"]
    action, container = payload["actions"][0], payload["container"]
    return "press", f"{container['message_ts']}.{action['action_ts']}.{payload['user']['id']}"


class SlackPlatform:
    """Implements ``tests.crash.platform.Simulated``: direct messages or, ``in_group``, a channel in which the bot is
    mentioned, and answers in a thread. ``streaming`` as in the configuration; ``looks`` knows edits only."""

    name = "slack"
    idempotent = True

    def __init__(
        self, sim: SlackSim, id: int = 7, name: str = "Ann", *, in_group: bool = False, streaming: str = "edit"
    ) -> None:
        self.sim, self._streaming = sim, streaming
        self.ann_id = f"U0{id}"
        self.ann = sim.person(self.ann_id, name, language="en-US")
        self.chat = sim.channel(TEAM, "team", members=[self.ann]) if in_group else sim.dm(self.ann)
        self.says = ""
        self._again: Counter[str] = Counter()
        self._deaf = False

    @property
    def section(self) -> str:
        tokens = f'bot_token: "{self.sim.bot_token}", app_token: "{self.sim.app_token}"'
        access = f'{{owners: [U07], users: ["*"], groups: [{TEAM}]}}'
        return f'{{{tokens}, api_base: "{self.sim.api_base}", streaming: {self._streaming}, access: {access}}}'

    @property
    def standing(self) -> Sequence[Seen]:
        return [seen(shown) for shown in self.sim.visible(self.chat) if shown.from_bot and not shown.ephemeral_to]

    @property
    def looks(self) -> Sequence[Look]:
        return [
            Look(str(call.params.get("ts", "")), text_of(_blocks(call)), _has_buttons(call))
            for call in self.sim.calls
            if call.method in SHOWING and call.channel == self.chat.id and (call.ok or not call.status)
        ]

    @property
    def notices(self) -> Sequence[str]:
        return [shown.text for shown in self.sim.visible(self.chat) if shown.ephemeral_to]

    @property
    def violations(self) -> Sequence[str]:
        return self.sim.violations

    @property
    def heard(self) -> Set[tuple[str, str]]:
        return {named(delivery) for delivery in self._told if delivery.state == "acked"}

    @property
    def unheard(self) -> int:
        acks = Counter(ack.name for ack in self.sim.acks)
        return sum(
            delivery.state == "waiting" or acks[delivery.name] < self._again[delivery.name] for delivery in self._told
        )

    @staticmethod
    def rendered(markdown: str) -> str:
        return text_of(Renderer().rich(markdown))

    def under_way(self, deed_: str) -> bool:
        return any(
            not call.status and not call.error and deed("POST", call.method, json.dumps(call.params)) == deed_
            for call in self.sim.calls
        )

    async def say(self, text: str) -> None:
        mention = "" if self.chat.is_dm else "<@BOT> "
        self.says = str((await self.sim.say(self.chat, self.ann, mention + text))["ts"])

    async def press(self, verb: str) -> bool:
        newest = [message for message in self.standing if message.label(verb)][-1]
        press = await self.sim.press(self.chat, self.ann, newest.id, newest.label(verb))
        await self.until(lambda: press.state != "waiting")
        self.sim.deaf(self._deaf)
        await self.until(lambda: press.state == "acked" or self.sim.sockets.open)
        return press.state == "acked"

    async def again(self) -> None:
        acks = Counter(ack.name for ack in self.sim.acks)
        told = [one.name for one in self._told if one.kind == EVENTS and one.state == "acked"]
        self._again |= {name: acks[name] + 1 for name in told}
        self.sim.tasks.start(self._redelivered(told, self.sim.sockets.opened))

    async def _redelivered(self, names: Sequence[str], opened: int) -> None:
        """Over the next connection: that of a process that has just died may still look open."""
        await self.until(lambda: self.sim.sockets.opened > opened)
        for name in names:
            self.sim.redeliver_now(name)

    async def until(self, holds: Callable[[], Any], timeout: float = 15.0) -> None:
        await self.sim.until(lambda _: holds(), timeout)

    async def befriend(self, data: Path) -> None:
        """Slack itself knows what was not acknowledged, and gives it up after its fourth attempt; a bot that knows the
        conversation reads it there."""
        async with Store.open(data) as store:
            conversations = Conversations(store.notes(f"channel:{self.name}"), SystemClock())
            to = Address(self.name, ACCOUNT, self.chat.id)
            await conversations.heard(to, f"{time.time():.6f}", joined=True)

    def beside(self, id: int, name: str) -> SlackPlatform:
        return SlackPlatform(self.sim, id, name, streaming=self._streaming)

    def delay(self, deed: str, seconds: float) -> None:
        self.sim.latencies[METHODS[deed]] = seconds

    def fail(self, deed: str, **fault: Any) -> Fault:
        return self.sim.fail(METHODS.get(deed, deed), **fault)

    def deafen(self) -> None:
        self._deaf = True

    async def cut(self) -> None:
        self.sim.fail("*", every=True, action="reset")
        await self.sim.drop()

    def heal(self) -> None:
        self.sim.heal()
        self.sim.latencies.clear()
        self._deaf = False

    @property
    def _told(self) -> list[Delivery]:
        """Ann's messages in this chat, and presses."""
        return [delivery for delivery in self.sim.deliveries.all.values() if self._is_hers(delivery)]

    def _is_hers(self, delivery: Delivery) -> bool:
        event = delivery.payload.get("event", {})
        return delivery.kind != EVENTS or (event.get("type"), event.get("user"), event.get("channel")) == (
            "message",
            self.ann_id,
            self.chat.id,
        )


def _blocks(call: Call) -> list[Json]:
    blocks = call.params.get("blocks") or []
    return json.loads(blocks) if isinstance(blocks, str) else blocks


def _has_buttons(call: Call) -> bool:
    return any(block["type"] == "actions" for block in _blocks(call))


@asynccontextmanager
async def open_slack(
    *, strict_rates: bool, in_group: bool = False, streaming: str = "edit"
) -> AsyncIterator[SlackPlatform]:
    async with SlackSim(strict_rates=strict_rates, sleep=hastened) as sim:
        yield SlackPlatform(sim, in_group=in_group, streaming=streaming)
