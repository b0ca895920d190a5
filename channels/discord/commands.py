"""Discord's own menu of commands, and the answers to what is chosen from it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.core.errors import ChannelError
from bot.core.ports import Clock, Notes
from bot.core.texts import say
from bot.inbox.commands import MENU
from channels.discord.rest import Rest

NOTE: Final = "commands"
LANGUAGES: Final = {"zh-CN": "zh", "zh-TW": "zh"}
DESCRIPTION_CHARS: Final = 100
MESSAGE, LATER, UPDATE_LATER = 4, 5, 6
"""Kinds of answers to an interaction (discord.com/developers/docs/interactions/receiving-and-responding)."""
ONLY_FOR_YOU: Final = 64
TOKEN_SECONDS: Final = 14 * 60.0
"""The token of an interaction lives for 15 minutes; what comes later is an ordinary message."""
OPEN_KEPT: Final = 500


def menu() -> list[dict[str, Any]]:
    """Every command with one free text behind it, as it would be typed."""
    option = {"type": 3, "name": "text", "description": "…", "required": False}
    return [
        {
            "name": name,
            "type": 1,
            "description": say(f"menu_{name}", "en")[:DESCRIPTION_CHARS],
            "description_localizations": {
                locale: say(f"menu_{name}", language)[:DESCRIPTION_CHARS] for locale, language in LANGUAGES.items()
            },
            "options": [option],
            "contexts": [0, 1],
            "integration_types": [0],
        }
        for name in MENU
    ]


async def offer(notes: Notes, rest: Rest, application: int) -> None:
    """Tell the menu where it is another than the last that was told: such writes are few at Discord."""
    commands = menu()
    digest = f"{application} {hashlib.sha256(json.dumps(commands).encode()).hexdigest()}"
    if await notes.read(NOTE) != digest:
        await rest.call("PUT", f"/applications/{application}/commands", commands, bucket="commands")
        await notes.write(NOTE, digest)


@dataclass(slots=True)
class _Open:
    """A command that Discord waits for. ``told``: Discord has shown that an answer will come."""

    token: str
    until: float
    told: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False


class Interactions:
    """Answers to presses and commands, which Discord wants within 3 s. ``application`` is the bot's own."""

    def __init__(self, rest: Rest, clock: Clock) -> None:
        self._rest, self._clock = rest, clock
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self.application = 0

    async def press(self, token: str, notice: str) -> None:
        """``token`` is the interaction's id and its token, with a slash between. A notice is for the presser alone."""
        number, _, secret = token.partition("/")
        body: dict[str, Any] = {"type": UPDATE_LATER}
        if notice:
            body = {
                "type": MESSAGE,
                "data": {"content": notice, "flags": ONLY_FOR_YOU, "allowed_mentions": {"parse": []}},
            }
        await self._rest.call("POST", f"/interactions/{number}/{secret}/callback", body)

    def arrived(self, number: str, secret: str) -> None:
        self._open[number] = _Open(secret, self._clock.monotonic() + TOKEN_SECONDS)
        if len(self._open) > OPEN_KEPT:
            self._open.popitem(last=False)

    def waits(self, number: str) -> bool:
        """Whether this is the id of a command that was chosen from the menu."""
        return number in self._open

    async def promise(self, number: str) -> None:
        """Show that an answer will come."""
        waiting = self._open[number]
        try:
            await self._rest.call("POST", f"/interactions/{number}/{waiting.token}/callback", {"type": LATER})
        except ChannelError:
            waiting.answered = True  # nothing was promised: the answer is an ordinary message
            raise
        finally:
            waiting.told.set()

    async def fill(self, number: str, body: Mapping[str, Any]) -> Any:
        """Put the answer's first words in the place of the promise, once; None where they must be an ordinary message."""
        waiting = self._open.get(number)
        if waiting is None:
            return None
        await waiting.told.wait()
        if waiting.answered or self._clock.monotonic() > waiting.until:
            return None
        filled = {key: body[key] for key in ("content", "components", "allowed_mentions") if key in body}
        message = await self._rest.call(
            "PATCH", f"/webhooks/{self.application}/{waiting.token}/messages/@original", filled
        )
        waiting.answered = True
        return message
