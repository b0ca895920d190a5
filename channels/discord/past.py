"""What was said while nobody listened, or before: where to look, and what stands there. The governor lets every call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence, Set
from dataclasses import replace
from typing import Any, Final

import discord

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable
from bot.core.inbound import UserMessage
from bot.core.ports import CallKind, Clock, Governor
from channels.discord.gateway import LIBRARY_ERRORS, translated
from channels.discord.messages import Reader

log = logging.getLogger(__name__)

PAGE: Final = 100
"""As many messages as Discord tells in one call."""
PAGE_SECONDS: Final = 20.0
BEGINNING_SECONDS: Final = 1.5
"""A question waits for it."""
PAGES: Final = 20
TRIES: Final = 3
NO_MESSAGE: Final = 10008
"""Unknown message, as Discord's code says."""


def missed_in(client: discord.Client, groups: Set[str], since: int) -> Iterator[int]:
    """Channels, threads and posts where somebody wrote after ``since``, of those that are named in ``groups`` by their own
    id, that of the channel above or the guild's; "*" names all."""
    for guild in client.guilds:
        written: list[discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread] = [
            *guild.text_channels,
            *guild.voice_channels,
            *guild.stage_channels,
            *guild.threads,
        ]
        for channel in written:
            names = {str(guild.id), str(channel.id), str(getattr(channel, "parent_id", "")), "*"}
            if (channel.last_message_id or 0) > since and names & groups:
                yield channel.id


class Past:
    """Every method raises ``ChannelError`` and nothing else."""

    def __init__(self, governor: Governor, clock: Clock) -> None:
        self._governor, self._clock = governor, clock

    async def after(
        self, client: discord.Client, number: int, to: Address, since: int
    ) -> AsyncIterator[discord.Message]:
        """What was said in this channel after the message ``since``, oldest first."""
        for _ in range(PAGES):
            page = await self._page(client, number, to, limit=PAGE, after=discord.Object(since), oldest_first=True)
            for message in page:
                yield message
            if len(page) < PAGE:
                return
            since = page[-1].id
        log.warning(
            "%s: more than %d messages were missed in %s: the newest are left", to.channel, PAGE * PAGES, number
        )

    async def newest(self, client: discord.Client, number: int, to: Address, limit: int) -> list[discord.Message]:
        """The last messages of this channel, oldest first."""
        page = await self._page(client, number, to, limit=min(limit, PAGE))
        return page[::-1]

    async def before(
        self, client: discord.Client, reader: Reader, me: discord.ClientUser, of: Address, limit: int
    ) -> list[UserMessage]:
        """The last messages that others wrote there; of a thread its name and what it hangs on first."""
        number = int(of.thread or of.chat)
        found = await self.newest(client, number, of, limit)
        heard = ((raw, reader.message(raw, me)) for raw in found)
        said = [one if one.text else reader.earlier(raw, of) for raw, one in heard if one is not None]
        thread = client.get_channel(number)
        if not isinstance(thread, discord.Thread):
            return said
        begun = [reader.earlier(raw, of) for raw in await self._beginning(client, thread, found, of, limit)]
        return [reader.title(thread, of), *begun, *said]

    async def _beginning(
        self, client: discord.Client, thread: discord.Thread, found: Sequence[discord.Message], of: Address, limit: int
    ) -> list[discord.Message]:
        """The message that the thread was made from, or the post it is; nothing where that is among ``found``, or was
        never there."""
        if any(raw.id == thread.id for raw in found):
            return []
        for raw in found:
            if raw.type is discord.MessageType.thread_starter_message:
                original = raw.reference.resolved if raw.reference else None
                return [original] if isinstance(original, discord.Message) else []
        if len(found) < limit:  # nothing was left out
            return []
        is_post = isinstance(thread.parent, discord.ForumChannel)
        budget = replace(of, chat=f"beginnings in {of.chat}", thread="")  # somebody waits for what is written there
        try:
            async with asyncio.timeout(BEGINNING_SECONDS):
                begun = await self.one(client, thread.id if is_post else thread.parent_id, thread.id, budget)
        except (ChannelError, TimeoutError) as error:
            log.info("what the thread %s was made from is not known: %s", thread.id, type(error).__name__)
            return []
        return [begun] if begun is not None else []

    async def one(
        self, client: discord.Client, number: int, message_id: int, budget: Address
    ) -> discord.Message | None:
        """A message as it reads now; None where it is gone."""
        known = client.get_channel(number)
        place = known if isinstance(known, discord.abc.Messageable) else client.get_partial_messageable(number)
        try:
            async with self._governor.call(budget, CallKind.ANSWER), asyncio.timeout(PAGE_SECONDS):
                return await place.fetch_message(message_id)
        except discord.NotFound as error:
            if error.code != NO_MESSAGE:
                raise translated(error) from None
            return None
        except LIBRARY_ERRORS as error:
            raise translated(error) from None

    async def _page(self, client: discord.Client, number: int, to: Address, **wanted: Any) -> list[discord.Message]:
        """One call, made again where that can help. Of a channel that the library knows, it knows roles and threads."""
        known = client.get_channel(number)
        place = known if isinstance(known, discord.abc.Messageable) else client.get_partial_messageable(number)
        for attempt in range(TRIES):
            try:
                async with self._governor.call(to, CallKind.ANSWER), asyncio.timeout(PAGE_SECONDS):
                    return [message async for message in place.history(**wanted)]
            except LIBRARY_ERRORS as error:
                failure = translated(error)
                if not isinstance(failure, ChannelUnreachable):
                    raise failure from None
            await self._clock.sleep(2.0**attempt)
        raise failure
