"""What became of questions that wait for an answer while nobody listened: Discord tells edits and deletions only once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

import discord

from bot.core.errors import ChannelError, StoreError
from bot.core.inbound import MessageDeleted, MessageEdited, UserMessage
from bot.core.ports import ChannelKit
from bot.inbox.commands import command_of
from channels.discord.messages import Reader
from channels.discord.past import Past

log = logging.getLogger(__name__)

MOST: Final = 200
"""The newest ones; each costs a call."""


class Revisits:
    def __init__(self, kit: ChannelKit, past: Past, reader: Reader) -> None:
        self._kit, self._past, self._reader = kit, past, reader
        self._due = asyncio.Event()

    def due(self) -> None:
        """Something may have been missed."""
        self._due.set()

    async def run(
        self, client: discord.Client, take: Callable[[MessageEdited | MessageDeleted], Awaitable[Any]]
    ) -> None:
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                waiting = await self._kit.unanswered()
            except StoreError as error:
                log.warning("%s: what waits for an answer is not looked at again: %s", self._kit.name, error)
                continue
            for message in waiting[-MOST:]:
                if (change := await self._change(client, message)) is not None:
                    await take(change)

    async def _change(self, client: discord.Client, message: UserMessage) -> MessageEdited | MessageDeleted | None:
        """None where nothing has changed, or it is none of Discord's messages (commands are not, and what is asked again)."""
        me = client.user
        if me is None or not message.id.isdigit() or message.again or command_of(message.text):
            return None
        opens = message.address.thread == message.id and message.id not in message.places
        place = message.address.chat if opens else message.address.thread or message.address.chat
        budget = replace(message.address, chat=f"looks into {message.address.chat}", thread="")
        try:
            raw = await self._past.one(client, int(place), int(message.id), budget)
        except ChannelError as error:
            log.info("%s: what became of a question is not known: %s", self._kit.name, error)
            return None
        if raw is None:
            return self._reader.gone(message)
        edited = self._reader.changed(raw, me, message.address)
        return edited if edited is not None and edited.text != message.text else None
