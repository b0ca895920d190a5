"""What Discord tells, as inbounds of the house."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import discord

from bot.core.address import Address, Sender
from bot.core.inbound import (
    ButtonPress,
    Joined,
    MessageDeleted,
    MessageEdited,
    Reaction,
    UserMessage,
)
from channels.discord.said import files_of, readable, replied_to, shared, titled, whole

SAID: Final = frozenset({discord.MessageType.default, discord.MessageType.reply})
"""Kinds of messages that a person writes; the others are Discord's own notes."""
TITLE: Final = "Title of this thread"
_EDGE: Final = " \t\n,:"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel of Discord's belongs: a thread to the channel above it, a channel to its guild ("" in direct)."""

    chat: str
    thread: str = ""
    guild: str = ""


def place_of(number: int, channel: Any, above: str, told: Place) -> Place:
    """Where this one belongs: ``channel`` as the library knows it, ``above`` it the channel of a thread that the bot has
    opened, ``told`` as it is known otherwise."""
    if isinstance(channel, discord.Thread):
        return Place(str(channel.parent_id), str(number), str(channel.guild.id))
    if isinstance(channel, discord.abc.GuildChannel):
        return Place(str(number), guild=str(channel.guild.id))
    return Place(above, str(number), told.guild) if above else told


class Reader:
    """``place_of`` knows where the channel with this id, of the guild with this id, belongs; ``now`` is the time of what
    Discord gives no time for; ``owns`` whether the thread with this id is one for the bot alone."""

    def __init__(
        self,
        channel: str,
        account: str,
        place_of: Callable[[int, int | None], Place],
        now: Callable[[], float],
        owns: Callable[[int], bool],
    ) -> None:
        self._channel, self._account, self._place_of, self._now, self._owns = channel, account, place_of, now, owns

    def message(self, raw: discord.Message, me: discord.ClientUser) -> UserMessage | None:
        """None for what nobody said, or the bot itself."""
        if raw.author.id == me.id or raw.type not in SAID:
            return None
        place = self.place(raw)
        direct = not place.guild
        text, meant = (raw.content, True) if direct else self._meant(raw, me)
        text = readable(text, raw).strip()
        return UserMessage(
            id=str(raw.id),
            address=self.address(place),
            sender=self.sender(raw.author, is_webhook=raw.webhook_id is not None),
            text=text or titled(raw),
            sent_at=raw.created_at.timestamp(),
            direct=direct,
            addressed=meant,
            files=files_of(raw, self._channel),
            quote=shared(raw) or replied_to(raw, self._channel),
            places=tuple(one for one in (place.guild, place.thread) if one),
        )

    def earlier(self, raw: discord.Message, of: Address) -> UserMessage:
        """What was said before there was anything to answer, whoever wrote it."""
        return UserMessage(
            str(raw.id), of, self.sender(raw.author), whole(raw), raw.created_at.timestamp(), direct=False
        )

    def title(self, thread: discord.Thread, of: Address) -> UserMessage:
        """The name of a thread, as if somebody called so had said it."""
        named = Sender(self._channel, str(thread.owner_id), TITLE)
        return UserMessage(f"title.{thread.id}", of, named, thread.name, self._now(), direct=False)

    def edited(self, raw: discord.RawMessageUpdateEvent, me: discord.ClientUser) -> MessageEdited | None:
        """Discord also tells of an edit when it has looked up a link, with no time of an edit."""
        return self.changed(raw.message, me, self.address(self._place_of(raw.channel_id, raw.guild_id)))

    def changed(self, message: discord.Message, me: discord.ClientUser, address: Address) -> MessageEdited | None:
        """The last edit of a message; None where there was none, or it is none that anybody answers."""
        if message.author.id == me.id or message.edited_at is None or message.type not in SAID:
            return None
        text = self._meant(message, me)[0] if self.place(message).guild else message.content
        at, number = message.edited_at.timestamp(), str(message.id)
        sender = self.sender(message.author, is_webhook=message.webhook_id is not None)
        return MessageEdited(f"{number}.{at:.3f}", address, sender, number, readable(text, message).strip(), at)

    def gone(self, message: UserMessage) -> MessageDeleted:
        return MessageDeleted(f"{message.id}.deleted", message.address, message.id, self._now())

    def deleted(
        self, raw: discord.RawMessageDeleteEvent | discord.RawBulkMessageDeleteEvent, message_id: int
    ) -> MessageDeleted:
        """Discord does not say when; twice is once."""
        number, place = str(message_id), self._place_of(raw.channel_id, raw.guild_id)
        return MessageDeleted(f"{number}.deleted", self.address(place), number, self._now())

    def reaction(self, raw: discord.RawReactionActionEvent, *, added: bool) -> Reaction:
        at = self._now()
        return Reaction(
            id=f"{raw.message_id}.{raw.user_id}.{raw.emoji}.{added}.{at:.3f}",
            address=self.address(self._place_of(raw.channel_id, raw.guild_id)),
            sender=Sender(self._channel, str(raw.user_id), raw.member.display_name if raw.member else ""),
            message_id=str(raw.message_id),
            emoji=str(raw.emoji),
            added=added,
            sent_at=at,
        )

    def joined(self, guild: discord.Guild) -> Joined | None:
        """Discord does not say who added the bot, and may tell of it more than once; None where there is no channel to say
        hello in."""
        places = [guild.system_channel, *guild.text_channels]
        here = next((one for one in places if one is not None and one.permissions_for(guild.me).send_messages), None)
        if here is None:
            return None
        since = guild.me.joined_at
        name = f"joined.{guild.id}.{since.timestamp() if since else self._now():.3f}"
        nobody = Sender(self._channel, "")
        return Joined(name, self.address(Place(str(here.id))), nobody, str(guild.id), guild.name, self._now())

    def press(self, raw: discord.Interaction[Any]) -> ButtonPress:
        return ButtonPress(
            id=str(raw.id),
            address=self.address(self.place_of_interaction(raw)),
            sender=self.sender(raw.user, language=str(raw.locale)),
            payload=str(dict[str, Any](raw.data or {}).get("custom_id") or ""),
            sent_at=raw.created_at.timestamp(),
            token=handle(raw),
        )

    def command(self, raw: discord.Interaction[Any]) -> UserMessage:
        data: dict[str, Any] = dict(raw.data or {})
        values = [str(option.get("value", "")) for option in data.get("options") or () if isinstance(option, dict)]
        place = self.place_of_interaction(raw)
        return UserMessage(
            id=str(raw.id),
            address=self.address(place),
            sender=self.sender(raw.user, language=str(raw.locale)),
            text=" ".join((f"/{data.get('name', '')}", *values)).strip(),
            sent_at=raw.created_at.timestamp(),
            direct=not place.guild,
            places=tuple(one for one in (place.guild, place.thread) if one),
        )

    def place(self, raw: discord.Message) -> Place:
        """Also of a guild's channel that the library does not know: that is no direct message."""
        guild = raw.guild.id if raw.guild else getattr(raw.channel, "guild_id", None)
        return self._place_of(raw.channel.id, guild)

    def place_of_interaction(self, raw: discord.Interaction[Any]) -> Place:
        return self._place_of(raw.channel_id or 0, raw.guild_id)

    def address(self, place: Place) -> Address:
        return Address(self._channel, self._account, place.chat, place.thread)

    def sender(self, user: discord.abc.User, *, is_webhook: bool = False, language: str = "") -> Sender:
        """Discord tells the language of a person only with presses and commands."""
        return Sender(self._channel, str(user.id), user.display_name, user.bot or is_webhook, language)

    def _meant(self, raw: discord.Message, me: discord.ClientUser) -> tuple[str, bool]:
        """The text without the bot's name at its edges, and whether the bot is meant: by a mention (also of the role that
        Discord makes for it), by a reply to it, or in a thread of its own."""
        mine = {f"<@{me.id}>", f"<@!{me.id}>", *(f"<@&{role.id}>" for role in raw.role_mentions if _is_of(role, me))}
        text = raw.content
        meant = any(mention in text for mention in mine) or any(user.id == me.id for user in raw.mentions)
        for mention in mine:
            stripped = text.strip()
            if stripped.startswith(mention):
                text = stripped[len(mention) :].lstrip(_EDGE)
            elif stripped.endswith(mention):
                text = stripped[: -len(mention)].rstrip()
        original = raw.reference.resolved if raw.reference else None
        if isinstance(original, discord.Message) and original.author.id == me.id:
            meant = True
        if self._owns(raw.channel.id) or (isinstance(raw.channel, discord.Thread) and raw.channel.owner_id == me.id):
            meant = True
        return text, meant


def handle(raw: discord.Interaction[Any]) -> str:
    """What an answer to an interaction needs (``Interactions``)."""
    return f"{raw.application_id}/{raw.id}/{raw.token}"


def _is_of(role: discord.Role, me: discord.ClientUser) -> bool:
    return role.tags is not None and role.tags.bot_id == me.id
