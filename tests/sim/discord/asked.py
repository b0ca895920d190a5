"""A call as its handler gets it: the ids in the path, the query, the body, the files, and the channel it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.sim.discord.bodies import Upload
from tests.sim.discord.drafts import Draft, read_draft
from tests.sim.discord.mentions import pings
from tests.sim.discord.nouns import Call, Channel, Message
from tests.sim.discord.permissions import need
from tests.sim.discord.rates import Rates
from tests.sim.discord.refusals import Json, Refused, invalid
from tests.sim.discord.world import World

Done = tuple[int, Any]
"""The status of an answer and its JSON; None for no body."""


@dataclass(frozen=True, slots=True)
class Asked:
    world: World
    rates: Rates
    call: Call
    words: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    uploads: Sequence[Upload]

    def id(self, name: str) -> int:
        """A snowflake of the path. Refused when it is none."""
        return snowflake(self.words[name], f"{name}_id")

    def channel(self, *permissions: str) -> Channel:
        """The channel of the path, which the bot can see, where it has these permissions."""
        channel = self.world.channel_of(self.id("channel"))
        need(channel, self.world.bot.id, *permissions)
        return channel

    def message(self, channel: Channel) -> Message:
        return self.world.message_of(channel, self.id("message"))

    def note(self, text: str) -> None:
        self.world.note(f"{text}: {self.call.method} {self.call.path}")

    def draft(self, body: Json, old: Message | None = None, *, interaction: bool = False) -> Draft:
        """What the message shall be; a breach of the rule on pings is noted, as are polls, which nothing here knows."""
        if body.get("poll") or body.get("sticker_ids"):
            self.note("polls and stickers are not simulated")
            raise invalid("poll" if body.get("poll") else "sticker_ids", "BASE_TYPE_INVALID", "Not simulated")
        draft = read_draft(body, list(self.uploads), old, interaction=interaction)
        if draft.retold and (would := pings(draft.pinged)):
            self.note(f"would ping {', '.join(would)}")
        return draft


def snowflake(text: str, name: str) -> int:
    if not text.isdecimal():
        raise not_snowflake(text, name)
    return int(text)


def not_snowflake(text: str, name: str) -> Refused:
    return invalid(name, "NUMBER_TYPE_COERCE", f'Value "{text}" is not snowflake.')
