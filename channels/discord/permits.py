"""Where the bot was to write and may not: something that an owner of the guild has to mend."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import discord

from bot.core.address import Address
from bot.core.text import clipped
from bot.core.texts import say

KEPT: Final = 50
NAMED: Final = 3
NAME_CHARS: Final = 40


class Permits:
    """``find`` is the channel of this id, as far as the library knows it. What was mended is no longer told."""

    def __init__(self, find: Callable[[int], Any]) -> None:
        self._find = find
        self._shut: OrderedDict[int, None] = OrderedDict()

    def refused(self, to: Address) -> None:
        """Discord let nothing be written there. That may also be because it is archived, or gone."""
        self._shut[int(to.thread or to.chat)] = None
        while len(self._shut) > KEPT:
            self._shut.popitem(last=False)

    def title(self, number: int) -> str:
        """The guild's name and the channel's; "" for one that the library does not know."""
        channel = self._find(number)
        return f"{channel.guild.name} #{channel.name}" if isinstance(channel, discord.abc.GuildChannel) else ""

    def trouble(self, language: str) -> str:
        """What is wrong and how to mend it; "" where nothing is, or nothing that could be mended."""
        shut = [channel for number in self._shut if _may_not_write(channel := self._find(number))]
        if not shut:
            return ""
        names = dict.fromkeys(f"#{clipped(_name(channel), NAME_CHARS)}" for channel in shut)
        more = f" +{len(names) - NAMED}" if len(names) > NAMED else ""
        return say("mute_discord", language, places=", ".join([*names][:NAMED]) + more)


def _may_not_write(channel: Any) -> bool:
    if not isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        return False
    if isinstance(channel, discord.Thread) and channel.parent is None:
        return False
    may = channel.permissions_for(channel.guild.me)
    writes = may.send_messages_in_threads if isinstance(channel, discord.Thread) else may.send_messages
    return not (may.view_channel and writes)


def _name(channel: discord.abc.GuildChannel | discord.Thread) -> str:
    """Permissions are a channel's, not a thread's."""
    parent = channel.parent if isinstance(channel, discord.Thread) else None
    return (parent or channel).name
