"""Hearing Discord: the library keeps the connection, resumes and beats the heart; what it hears stays in order."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.http import Route

from bot.core.errors import ChannelError, ChannelUnreachable, Unauthorised
from bot.core.ports import Clock

log = logging.getLogger(__name__)

# the library writes tracebacks of every lost connection; the house logs once when it goes down and once when it is back
logging.getLogger("discord").setLevel(logging.CRITICAL)

OFFLINE_SECONDS: Final = 180.0
"""Without a connection for so long the channel is built anew: the library's own pauses grow up to a quarter of an hour."""
LOOK_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 2.0
ZOMBIE_SECONDS: Final = 60.0
"""Discord acknowledges a heartbeat every 41 s; a connection that is silent for longer is given up and resumed."""

LIBRARY_ERRORS: Final = (
    discord.DiscordException,
    aiohttp.ClientError,
    OSError,
    TimeoutError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What the library lets through: its own errors, raw ones of its transport (it retries dropped connections only where
they have the numbers of BSD and Windows), a missing attribute where the first connection fails, and whatever something
that is not as documented breaks in its parsers."""

HEARD: Final = frozenset(
    {
        "message",
        "raw_message_edit",
        "raw_message_delete",
        "raw_bulk_message_delete",
        "raw_reaction_add",
        "raw_reaction_remove",
        "interaction",
        "guild_join",
    }
)


@dataclass(frozen=True, slots=True)
class Heard:
    """One event, as the library names it; ``fresh`` stands for a session that begins, so that events may be missing."""

    event: str
    value: Any


FRESH: Final = "fresh"


def point(api_base: str, gateway_url: str) -> None:
    """Where the library reaches Discord: it keeps both for all its clients. The one place where they are set."""
    Route.BASE = api_base
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)


class Client(discord.Client):
    """Puts what it hears into ``line``, in the order of the gateway: its own handlers would run as tasks, side by side.
    ``said`` is told when it begins and ceases to hear, ``hurry`` of every interaction, at once: those cannot wait."""

    def __init__(
        self,
        clock: Clock,
        name: str,
        *,
        reads_text: bool,
        said: Callable[[bool], None],
        hurry: Callable[[discord.Interaction[Any]], None],
        zombie_seconds: float = ZOMBIE_SECONDS,
    ) -> None:
        intents = discord.Intents(
            guilds=True, guild_messages=True, dm_messages=True, guild_reactions=True, dm_reactions=True
        )
        intents.message_content = reads_text
        super().__init__(
            intents=intents,
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            allowed_mentions=discord.AllowedMentions.none(),
            enable_debug_events=True,
            guild_ready_timeout=1.0,
            heartbeat_timeout=zombie_seconds,
        )
        parsers = self._connection.parsers
        self._connection.parsers = {event: self._guarded(event, parse) for event, parse in parsers.items()}
        self._clock, self._name, self._said, self._hurry = clock, name, said, hurry
        self.line: asyncio.Queue[Heard] = asyncio.Queue()
        self.heard_at = clock.monotonic()
        self.lost_at: float | None = clock.monotonic()

    @property
    def is_connected(self) -> bool:
        return self.lost_at is None

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """The library calls it for everything that happens, in order, and does not wait for it."""
        self.heard_at = self._clock.monotonic()
        if event in HEARD:
            self.line.put_nowait(Heard(event, args[0]))
            if event == "interaction":
                self._hurry(args[0])
        elif event == "connect":
            self.line.put_nowait(Heard(FRESH, None))
            self._up(True)
        elif event == "resumed":
            self._up(True)
        elif event == "disconnect":
            self._up(False)

    def _guarded(self, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        """The library ends the connection at an event that it cannot read, and with it what else was on its way. Without
        READY there is no session."""

        def parsed(told: Any) -> None:
            try:
                parse(told)
            except LIBRARY_ERRORS as error:
                if event == "READY":
                    raise
                log.warning("%s: a %s could not be read and is left: %s", self._name, event, type(error).__name__)

        return parsed

    def _up(self, up: bool) -> None:
        if up != self.is_connected:
            self.lost_at = None if up else self._clock.monotonic()
            self._said(up)

    async def hear(self, token: str) -> None:
        """Until cancelled. Raises ``ChannelError``."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watched())
                await self._connected(token)
        except* ChannelError as failures:
            raise failures.exceptions[0] from None
        finally:
            await self._ended()

    async def _connected(self, token: str) -> None:
        try:
            await self.login(token)
            await self.connect(reconnect=True)
        except LIBRARY_ERRORS as error:
            raise translated(error) from None
        raise ChannelUnreachable("Discord closed the connection.", maybe_done=False)

    async def _watched(self) -> None:
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            if self.lost_at is not None and self._clock.monotonic() - self.lost_at > OFFLINE_SECONDS:
                raise ChannelUnreachable("Discord does not answer.", maybe_done=False)

    async def _ended(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.close()
        except (TimeoutError, *LIBRARY_ERRORS) as error:
            log.info("%s: the connection was not closed in order: %s", self._name, type(error).__name__)
        for thread in threading.enumerate():  # that of a connection that was just being made, the library forgets
            if isinstance(thread, KeepAliveHandler) and getattr(thread.ws, "_connection", None) is self._connection:
                thread.stop()


class TextWithheld(ChannelError):
    """Discord refuses a privileged intent: it is not switched on in the developer portal."""


def translated(error: BaseException) -> ChannelError:
    """What the library raised, as an error of the house. No text of Discord's gets into it."""
    match error:
        case discord.PrivilegedIntentsRequired():
            return TextWithheld("Discord withholds the text of messages: the intent is not switched on.")
        case discord.LoginFailure():
            return Unauthorised("Discord does not accept the bot's token.")
        case discord.ConnectionClosed(code=4004):
            return Unauthorised("Discord does not accept the bot's token.")
        case discord.ConnectionClosed(code=code) if code in (4010, 4011, 4012, 4013):
            return Unauthorised("Discord refuses this way to connect.")
        case discord.Forbidden() | discord.NotFound():
            return ChannelError("Discord refused the call.")
        case discord.HTTPException(status=401):
            return Unauthorised("Discord does not accept the bot's token.")
    return ChannelUnreachable("Discord could not be reached.", maybe_done=False)
