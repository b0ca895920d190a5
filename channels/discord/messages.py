"""What Discord tells, as inbounds of the house."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import discord

from bot.core.address import Address, Sender
from bot.core.inbound import (
    ButtonPress,
    FileRef,
    Inbound,
    MessageDeleted,
    MessageEdited,
    Quote,
    Reaction,
    UserMessage,
)

SAID: Final = frozenset({discord.MessageType.default, discord.MessageType.reply})
"""Kinds of messages that a person writes; the others are Discord's own notes."""
STICKER: Final = "image/png"
_MENTION: Final = re.compile(r"<@!?(\d+)>")
_ROLE: Final = re.compile(r"<@&(\d+)>")
_CHANNEL: Final = re.compile(r"<#(\d+)>")
_EMOJI: Final = re.compile(r"<a?(:\w+:)\d+>")
_EDGE: Final = " \t\n,:"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel of Discord's belongs: a thread to the channel above it, a channel to its guild ("" in direct)."""

    chat: str
    thread: str = ""
    guild: str = ""


class Reader:
    """``place_of`` knows where the channel with this id belongs. ``name`` is what the assistant is called, ``now`` the time
    of what Discord gives no time for."""

    def __init__(
        self, channel: str, account: str, name: str, place_of: Callable[[int], Place], now: Callable[[], float]
    ) -> None:
        self._channel, self._account, self._place_of, self._now = channel, account, place_of, now
        self._named = re.compile(rf"\s*@?{re.escape(name)}(?:\b[,:]?|[,:])\s*", re.IGNORECASE) if name else None

    def message(self, raw: discord.Message, me: discord.ClientUser) -> UserMessage | None:
        """None for what nobody said, or the bot itself."""
        if raw.author.id == me.id or raw.type not in SAID:
            return None
        place = self._place_of(raw.channel.id)
        direct = not place.guild
        text, meant = (raw.content, True) if direct else self._meant(raw, me)
        text = readable(text, raw).strip()
        forwarded = self._forwarded(raw)
        return UserMessage(
            id=str(raw.id),
            address=self.address(place),
            sender=self.sender(raw.author, is_webhook=raw.webhook_id is not None),
            text=text,
            sent_at=raw.created_at.timestamp(),
            direct=direct,
            addressed=meant,
            files=self._files(raw),
            quote=forwarded or self._quote(raw),
            places=tuple(one for one in (place.guild, place.thread) if one),
        )

    def edited(self, raw: discord.RawMessageUpdateEvent, me: discord.ClientUser) -> Inbound | None:
        """Discord also tells of an edit when it has looked up a link, with no time of an edit."""
        message = raw.message
        if message.author.id == me.id or message.edited_at is None or message.type not in SAID:
            return None
        place = self._place_of(raw.channel_id)
        text = message.content if not place.guild else self._meant(message, me)[0]
        at = message.edited_at.timestamp()
        sender = self.sender(message.author, is_webhook=message.webhook_id is not None)
        number = str(raw.message_id)
        return MessageEdited(
            f"{number}.{at:.3f}", self.address(place), sender, number, readable(text, message).strip(), at
        )

    def deleted(self, channel_id: int, message_id: int) -> MessageDeleted:
        """Discord does not say when; twice is once."""
        number = str(message_id)
        return MessageDeleted(f"{number}.deleted", self.address(self._place_of(channel_id)), number, self._now())

    def reaction(self, raw: discord.RawReactionActionEvent, *, added: bool) -> Reaction:
        at = self._now()
        return Reaction(
            id=f"{raw.message_id}.{raw.user_id}.{raw.emoji}.{added}.{at:.3f}",
            address=self.address(self._place_of(raw.channel_id)),
            sender=Sender(self._channel, str(raw.user_id), raw.member.display_name if raw.member else ""),
            message_id=str(raw.message_id),
            emoji=str(raw.emoji),
            added=added,
            sent_at=at,
        )

    def press(self, raw: discord.Interaction[Any]) -> ButtonPress:
        return ButtonPress(
            id=str(raw.id),
            address=self.address(self._place_of(raw.channel_id or 0)),
            sender=self.sender(raw.user, language=str(raw.locale)),
            payload=str(dict[str, Any](raw.data or {}).get("custom_id") or ""),
            sent_at=raw.created_at.timestamp(),
            token=f"{raw.id}/{raw.token}",
        )

    def command(self, raw: discord.Interaction[Any]) -> UserMessage:
        data: dict[str, Any] = dict(raw.data or {})
        values = [str(option.get("value", "")) for option in data.get("options") or () if isinstance(option, dict)]
        place = self._place_of(raw.channel_id or 0)
        return UserMessage(
            id=str(raw.id),
            address=self.address(place),
            sender=self.sender(raw.user, language=str(raw.locale)),
            text=" ".join((f"/{data.get('name', '')}", *values)).strip(),
            sent_at=raw.created_at.timestamp(),
            direct=not place.guild,
            places=tuple(one for one in (place.guild, place.thread) if one),
        )

    def address(self, place: Place) -> Address:
        return Address(self._channel, self._account, place.chat, place.thread)

    def sender(self, user: discord.abc.User, *, is_webhook: bool = False, language: str = "") -> Sender:
        """Discord tells the language of a person only with presses and commands."""
        return Sender(self._channel, str(user.id), user.display_name, user.bot or is_webhook, language)

    def _meant(self, raw: discord.Message, me: discord.ClientUser) -> tuple[str, bool]:
        """The text without the bot's name at its edges, and whether the bot is meant: by a mention (also of the role that
        Discord makes for it), by a reply to it, by its name at the beginning, or in a thread of its own."""
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
        if isinstance(raw.channel, discord.Thread) and raw.channel.owner_id == me.id:
            meant = True
        if not meant and self._named and (found := self._named.match(text)):
            return text[found.end() :], True
        return text, meant

    def _quote(self, raw: discord.Message) -> Quote | None:
        original = raw.reference.resolved if raw.reference else None
        if not isinstance(original, discord.Message) or not original.content:
            return None
        return Quote(readable(original.content, original), original.author.display_name, str(original.id))

    def _forwarded(self, raw: discord.Message) -> Quote | None:
        texts = [snapshot.content for snapshot in raw.message_snapshots if snapshot.content]
        return Quote("\n".join(texts), forwarded=True) if texts else None

    def _files(self, raw: discord.Message) -> tuple[FileRef, ...]:
        found = [*raw.attachments, *(file for snapshot in raw.message_snapshots for file in snapshot.attachments)]
        files = [
            FileRef(self._channel, file.url, file.filename, file.content_type or "application/octet-stream", file.size)
            for file in found
        ]
        return (*files, *(FileRef(self._channel, one.url, one.name, STICKER) for one in raw.stickers))


def readable(text: str, raw: discord.Message) -> str:
    """``text`` with the names that a person sees in place of Discord's numbers."""
    people = {user.id: user.display_name for user in raw.mentions}
    roles = {role.id: role.name for role in raw.role_mentions}
    channels = {channel.id: channel.name for channel in raw.channel_mentions}
    text = _MENTION.sub(lambda found: f"@{people.get(int(found[1]), found[1])}", text)
    text = _ROLE.sub(lambda found: f"@{roles.get(int(found[1]), found[1])}", text)
    text = _CHANNEL.sub(lambda found: f"#{channels.get(int(found[1]), found[1])}", text)
    return _EMOJI.sub(r"\1", text)


def _is_of(role: discord.Role, me: discord.ClientUser) -> bool:
    return role.tags is not None and role.tags.bot_id == me.id
