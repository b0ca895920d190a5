"""Discord as the suite's platform: the simulator in this process. It keeps nothing for a bot that is away but what stands
in its channels, and a message that is sent twice is one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence, Set
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bot.store.store import Store
from channels.discord.markup import Renderer
from channels.discord.messages import Place
from channels.discord.places import Places, snowflake
from tests.channels.discord.reader import Node, read
from tests.crash.deeds import deed
from tests.crash.platform import Look, Seen
from tests.sim.discord import Call, Channel, DiscordSim, Fault, Shown

GUILD: Final = 9001
ROUTES: Final = {
    "send": "POST /channels/{id}/messages",
    "edit": "PATCH /channels/{id}/messages/{id}",
    "answer": "POST /interactions/{id}/{token}/callback",
    "history": "GET /channels/{id}/messages",
}
SHOWING: Final = (ROUTES["send"], ROUTES["edit"])
SAID: Final = 4
"""The answer to an interaction that says something; others only promise that it was heard."""
UNAVAILABLE: Final = 503
PATIENCE: Final = 3.0
"""Seconds that a person waits for the answer to a press before Discord calls it failed."""


def text_of(nodes: Iterable[Node]) -> str:
    """What a person reads; lists are not told in the story."""
    return "".join(node.text or text_of(node.children) for node in nodes)


def bold_in(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "strong":
            yield text_of([node])
        else:
            yield from bold_in(node.children)


def seen(shown: Shown) -> Seen:
    nodes = read(shown.content)
    buttons = {label: payload for label, payload, _ in shown.buttons}
    return Seen(str(shown.id), text_of(nodes), buttons, tuple(bold_in(nodes)))


class DiscordPlatform:
    """Implements ``tests.crash.platform.Simulated``: direct messages or, ``in_group``, a guild's channel in which the bot is
    mentioned."""

    name = "discord"
    idempotent = True

    def __init__(self, sim: DiscordSim, id: int = 7, name: str = "Ann", *, in_group: bool = False) -> None:
        self.sim = sim
        self.ann, self.ann_id = sim.person(id, name, language="en"), str(id)
        guild = sim.guild(GUILD, "Team", members=[self.ann]) if in_group else None
        self.chat = sim.channel(guild, "general") if guild else sim.dm(self.ann)
        self.says = ""
        self._waiting: dict[int, tuple[int, bool]] = {}
        """By message: how many calls there had been when it began to wait, and whether a connection can still tell it."""
        self._deaf = False

    @property
    def section(self) -> str:
        access = f'{{owners: [7], users: ["*"], groups: [{GUILD}]}}'
        return f'{{token: "{self.sim.token}", api_base: "{self.sim.api_base}", access: {access}}}'

    @property
    def place(self) -> Channel:
        """Where the answers stand."""
        return self.chat

    @property
    def standing(self) -> Sequence[Seen]:
        return [seen(shown) for shown in self.sim.visible(self.place) if shown.from_bot]

    @property
    def looks(self) -> Sequence[Look]:
        return [
            Look(_message_of(call), text_of(read(call.body["content"])), bool(call.body["components"]))
            for call in self.sim.calls
            if call.route in SHOWING and call.channel_id == self.place.id and call.status in (0, 200)
        ]

    @property
    def notices(self) -> Sequence[str]:
        return [str(answer.data.get("content", "")) for answer in self.sim.interaction_answers]

    @property
    def violations(self) -> Sequence[str]:
        """Without the presses that nobody answered because whoever heard them died."""
        deaths = [one.left_at for one in self.sim.connections.sessions if one.left_at is not None]
        presses = self.sim.world.interactions.by_id.values()
        unanswered = Counter(
            f"an interaction was not answered in 3 s: {one.name} in {one.channel.id}"
            for one in presses
            if any(one.at <= death <= one.at + PATIENCE for death in deaths)
        )
        return list((Counter(self.sim.violations) - unanswered).elements())

    @property
    def heard(self) -> Set[tuple[str, str]]:
        """Only a press is ever confirmed."""
        return {("press", answer.interaction) for answer in self.sim.interaction_answers if answer.type == SAID}

    @property
    def unheard(self) -> int:
        """Messages that no connection has told and that the bot has not read in the channel's history either."""
        rounds = [
            *self.sim.report.earlier.get(self.chat.id, ()),
            *filter(None, [self.sim.report.rounds.get(self.chat.id)]),
        ]
        told = {one.message_id for one in rounds if one.delivered_at is not None}
        return sum(
            not (said in told and live) and not self._asked(since) for said, (since, live) in self._waiting.items()
        )

    @staticmethod
    def rendered(markdown: str) -> str:
        return text_of(read(Renderer().render(markdown).text))

    def under_way(self, deed_: str) -> bool:
        return any(
            not call.status and not call.answer and deed(call.method, call.path, json.dumps(call.body)) == deed_
            for call in self.sim.calls
        )

    async def say(self, text: str) -> None:
        mention = "" if self.chat.guild is None else "<@BOT> "
        said = await self.sim.say(self.chat, self.ann, mention + text)
        self.says = str(said["id"])
        self._waiting[int(said["id"])] = len(self.sim.calls), True

    async def press(self, verb: str) -> bool:
        newest = [message for message in self.standing if message.label(verb)][-1]
        number = await self.sim.press(self.place, self.ann, int(newest.id), newest.label(verb))

        def answered() -> bool:
            return any(answer.interaction == number for answer in self.sim.interaction_answers)

        await self.until(lambda: answered() or not self.sim.connections.ready)
        if self._deaf:
            self.sim.zombie()
        await self.until(lambda: answered() or self.sim.connections.ready)
        return answered()

    async def again(self) -> None:
        self._waiting = {said: (len(self.sim.calls), False) for said in self._waiting}

    async def until(self, holds: Callable[[], Any], timeout: float = 15.0) -> None:
        await self.sim.until(lambda _: holds(), timeout)

    async def befriend(self, data: Path) -> None:
        """Without it a bot knows of no message that it has missed: it has to know since when, and in which direct chats."""
        async with Store.open(data) as store:
            places = Places(store.notes(f"channel:{self.name}"))
            if self.chat.guild is None:
                await places.spoken(self.chat.id, Place(str(self.chat.id)))
            places.saw(snowflake(time.time()))
            await places.keep()

    def beside(self, id: int, name: str) -> DiscordPlatform:
        return DiscordPlatform(self.sim, id, name)

    def delay(self, deed: str, seconds: float) -> None:
        self.sim.latencies[ROUTES[deed]] = seconds

    def fail(self, deed: str, **fault: Any) -> Fault:
        return self.sim.fail(ROUTES.get(deed, deed), **fault)

    def deafen(self) -> None:
        self._deaf = True

    async def cut(self) -> None:
        self.sim.fail("*", every=True, action="reset")
        self.sim.gateway.refusing = UNAVAILABLE
        await self.sim.drop()

    def heal(self) -> None:
        self.sim.heal()
        self.sim.latencies.clear()
        self.sim.gateway.refusing = None
        self._deaf = False

    def _asked(self, since: int) -> bool:
        return any(
            call.route == ROUTES["history"] and call.channel_id == self.chat.id and call.status == 200
            for call in self.sim.calls[since:]
        )


def _message_of(call: Call) -> str:
    return call.path.rpartition("/")[2] if call.method == "PATCH" else ""


@asynccontextmanager
async def open_discord(*, strict_rates: bool, in_group: bool = False) -> AsyncIterator[DiscordPlatform]:
    async with DiscordSim(strict_rates=strict_rates) as sim:
        yield DiscordPlatform(sim, in_group=in_group)
