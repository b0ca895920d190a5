"""Every platform's groups as one conversation sees them: Ann, an owner, calls the bot by a mention, and Bob talks as well."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Protocol

import pytest

from tests.channels.stages import DiscordStage, SlackStage, Stage, TelegramStage
from tests.sim import discord as discord_sim
from tests.sim import telegram as telegram_sim
from tests.sim.discord import DiscordSim
from tests.sim.slack import SlackSim
from tests.sim.telegram import TelegramSim

GUILD, GROUP, ROOM = 9001, -1001, "C0TEAM"


class Room(Stage, Protocol):
    async def chat(self, text: str) -> None:
        """Bob says something that is not meant for the bot."""
        ...

    async def press_nth(self, label: str, nth: int, *, by_bob: bool = False) -> None:
        """On the ``nth`` message (from 0) that has such a button."""
        ...

    def told_bob(self) -> Sequence[str]:
        """What he alone was told about his presses."""
        ...

    async def rest(self) -> None:
        """Between two lives of the bot, as long as the platform wants it."""
        ...


class TelegramRoom(TelegramStage):
    """A supergroup, or a ``topic`` of one, whose every word the bot hears."""

    def __init__(self, sim: TelegramSim, *, topic: bool) -> None:
        super().__init__(sim)
        self._bob = sim.person(8, "Bob")
        self._chat = sim.group(GROUP, "Team", members=[self._ann, self._bob], forum=topic, admin=True)
        self._topic = sim.topic(self._chat, "Work") if topic else None
        self.section = self.section.replace("owners: [7]", f"owners: [7], groups: [{GROUP}]")

    @property
    def _shown(self) -> list[telegram_sim.Shown]:
        return [shown for shown in super()._shown if shown.text and shown.thread == self._topic]

    async def say(self, text: str) -> int:
        mention = f"@{self._sim.world.bot.username} {text}"
        return int((await self._sim.say(self._chat, self._ann, mention, thread=self._topic))["message_id"])

    async def edit(self, said: int, text: str) -> None:
        await super().edit(said, f"@{self._sim.world.bot.username} {text}")

    async def chat(self, text: str) -> None:
        await self._sim.say(self._chat, self._bob, text, thread=self._topic)

    async def press_nth(self, label: str, nth: int, *, by_bob: bool = False) -> None:
        shown = [one for one in self._shown if label in one.buttons][nth]
        await self._sim.press(self._chat, self._bob if by_bob else self._ann, shown.message_id, label)

    def told_bob(self) -> Sequence[str]:
        return [str(call.params.get("text", "")) for call in self._sim.called("answerCallbackQuery")]

    async def rest(self) -> None:
        return


class DiscordRoom(DiscordStage):
    """A guild's channel, a ``thread`` that Ann has opened there, or, ``auto``, those that the bot opens."""

    def __init__(self, sim: DiscordSim, watch: Watch, *, kind: str) -> None:
        super().__init__(sim)
        self._watch, self._auto = watch, kind == "auto"
        self._bob = sim.person(8, "Bob")
        self._general = sim.channel(sim.guild(GUILD, "Team", members=[self._ann, self._bob]), "general")
        self._where = sim.thread(self._general, "Plans", owner=self._ann) if kind == "thread" else self._general
        self._first = 0
        threads = "auto" if self._auto else "off"
        access = f"threads: {threads}, access: {{owners: [7], groups: [{GUILD}]}}"
        self.section = self.section.replace("access: {owners: [7]}", access)

    @property
    def place(self) -> discord_sim.Channel:
        return self._sim.world.channels.get(self._first, self._where) if self._auto else self._where

    async def say(self, text: str) -> int:
        if self._auto and self._first and "groups" in self.section:
            await self._sim.until(lambda sim: self._first in sim.world.channels)
        said = await self._sim.say(self.place, self._ann, f"<@BOT> {text}")
        self._first = self._first or int(said["id"])
        return int(said["id"])

    async def edit(self, said: int, text: str) -> None:
        where = self._where if said == self._first else self.place
        await self._sim.edit(where, said, f"<@BOT> {text}")

    async def chat(self, text: str) -> None:
        await self._sim.say(self._where, self._bob, text)

    async def press_nth(self, label: str, nth: int, *, by_bob: bool = False) -> None:
        shown = [one for one in self._shown if label in [name for name, _, _ in one.buttons]][nth]
        await self._sim.press(self.place, self._bob if by_bob else self._ann, shown.id, label)

    def told_bob(self) -> Sequence[str]:
        return [shown.text for shown in self._sim.visible(self.place, self._bob) if shown.ephemeral]

    async def rest(self) -> None:
        self._watch.skipped += 5.1


class Watch:
    """Discord's own clock, on which a test lets time pass by that nobody waits for."""

    def __init__(self) -> None:
        self.skipped = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.skipped


class SlackRoom(SlackStage):
    """A channel; the answers, and what Ann says after her first words, stand in the thread of those."""

    def __init__(self, sim: SlackSim, *, streaming: str) -> None:
        super().__init__(sim, streaming)
        self._bob = sim.person("U0BOB", "Bob")
        self._dm, self._thread = sim.channel(ROOM, "team", members=[self._ann, self._bob]), None
        self.section = self.section.replace("owners: [U0ANN]", f"owners: [U0ANN], groups: [{ROOM}]")

    async def say(self, text: str) -> str:
        said = await self._sim.say(self._dm, self._ann, f"<@BOT> {text}", thread=self._thread)
        self._thread = self._thread or str(said["ts"])
        return str(said["ts"])

    async def edit(self, said: str, text: str) -> None:
        await super().edit(said, f"<@BOT> {text}")

    async def chat(self, text: str) -> None:
        await self._sim.say(self._dm, self._bob, text)

    async def press_nth(self, label: str, nth: int, *, by_bob: bool = False) -> None:
        shown = [one for one in self._shown if label in [button.label for button in one.buttons]][nth]
        await self._sim.press(self._dm, self._bob if by_bob else self._ann, shown.ts, label)

    def told_bob(self) -> Sequence[str]:
        every = [*self._sim.visible(self._dm), *self._sim.visible(self._dm, self._thread)]
        return [shown.text for shown in every if shown.ephemeral_to == self._bob.id]

    async def rest(self) -> None:
        return


@asynccontextmanager
async def telegram(*, topic: bool) -> AsyncIterator[Room]:
    async with TelegramSim() as sim:
        yield TelegramRoom(sim, topic=topic)


@asynccontextmanager
async def discord(kind: str) -> AsyncIterator[Room]:
    watch = Watch()
    async with DiscordSim(monotonic=watch.monotonic) as sim:
        yield DiscordRoom(sim, watch, kind=kind)


@asynccontextmanager
async def slack(streaming: str) -> AsyncIterator[Room]:
    async with SlackSim() as sim:
        yield SlackRoom(sim, streaming=streaming)
        assert sim.pings == []


ROOMS: dict[str, Callable[[], AbstractAsyncContextManager[Room]]] = {
    "telegram-group": partial(telegram, topic=False),
    "telegram-topic": partial(telegram, topic=True),
    "discord-channel": partial(discord, "channel"),
    "discord-thread": partial(discord, "thread"),
    "discord-opened": partial(discord, "auto"),
    "slack-channel-edits": partial(slack, "edit"),
    "slack-channel-streams": partial(slack, "native"),
}
ORDINARY = ("telegram-group", "discord-opened", "slack-channel-edits")
ROOM_PARAMS = [pytest.param(name, marks=() if name in ORDINARY else pytest.mark.prove) for name in ROOMS]
"""One of each platform in the ordinary test run, and all by ``make prove``."""
