"""Slash commands: they are typed beside the threads, mean one of them, and can be answered where the bot is no member."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bot.core.address import Address
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.inbox.commands import command_of
from channels.slack.conversations import Conversations
from channels.slack.events import COMMAND

ABOUT_A_TURN: Final = frozenset({"stop", "retry", "why"})
URL_SECONDS: Final = 1800.0
"""Slack takes five answers within half an hour."""
KEPT: Final = 2000


class Slash:
    """``came`` is told each payload, ``taken`` each message that a turn answers, ``over`` where one has ended."""

    def __init__(self, conversations: Conversations, clock: Clock) -> None:
        self._conversations, self._clock = conversations, clock
        self._urls: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._asked: OrderedDict[tuple[Address, str], bool] = OrderedDict()
        """Who asked in which thread, the latest last; True while it is being answered."""

    def came(self, payload: Mapping[str, Any]) -> None:
        url = payload.get("response_url")
        if payload.get("command") and isinstance(url, str):
            self._urls[f"{COMMAND}{payload.get('trigger_id')}"] = url, self._clock.monotonic() + URL_SECONDS
            _bound(self._urls)

    def url(self, message: UserMessage | None) -> str:
        """Where the command can be answered for its sender alone; "" for what is none, or was typed too long ago."""
        url, until = self._urls.get(message.id if message else "", ("", 0.0))
        return url if self._clock.monotonic() < until else ""

    async def meant(self, message: UserMessage) -> UserMessage:
        """The command, in the thread that it is about: in a channel nothing is answered outside of one."""
        command = command_of(message.text) if message.id.startswith(COMMAND) and not message.direct else None
        if command is None or command.name not in ABOUT_A_TURN:
            return message
        thread = self._thread(message, running=command.name == "stop") or await self._conversations.opened_by(
            message.address.chat, message.sender.id
        )
        return replace(message, address=replace(message.address, thread=thread))

    def _thread(self, message: UserMessage, *, running: bool) -> str:
        theirs = [
            (to.thread, live)
            for (to, person), live in reversed(self._asked.items())
            if person == message.sender.id and replace(to, thread="") == message.address
        ]
        return next((thread for thread, live in theirs if live and running), theirs[0][0] if theirs else "")

    def taken(self, message: UserMessage) -> None:
        if not message.direct and message.address.thread and not message.id.startswith(COMMAND):
            self._asked[message.address, message.sender.id] = True
            self._asked.move_to_end((message.address, message.sender.id))
            _bound(self._asked)

    def over(self, to: Address) -> None:
        for key in [key for key in self._asked if key[0] == to]:
            self._asked[key] = False


def _bound(held: OrderedDict[Any, Any]) -> None:
    if len(held) > KEPT:
        held.popitem(last=False)
