"""What stands in one of Discord's messages: words, files, what is shared in it, and what it replies to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import discord

from bot.core.inbound import FileRef, Quote

STICKERS: Final = {discord.StickerFormatType.gif: "image/gif", discord.StickerFormatType.lottie: "video/lottie+json"}
"""What is not named here is a picture, animated or not, in PNG."""
_MENTION: Final = re.compile(r"<@!?(\d+)>")
_ROLE: Final = re.compile(r"<@&(\d+)>")
_CHANNEL: Final = re.compile(r"<#(\d+)>")
_EMOJI: Final = re.compile(r"<a?(:\w+:)\d+>")

Content = discord.Message | discord.MessageSnapshot


def readable(text: str, raw: discord.Message) -> str:
    """``text`` with the names that a person sees in place of Discord's numbers."""
    people = {user.id: user.display_name for user in raw.mentions}
    roles = {role.id: role.name for role in raw.role_mentions}
    channels = {channel.id: channel.name for channel in raw.channel_mentions}
    text = _MENTION.sub(lambda found: f"@{people.get(int(found[1]), found[1])}", text)
    text = _ROLE.sub(lambda found: f"@{roles.get(int(found[1]), found[1])}", text)
    text = _CHANNEL.sub(lambda found: f"#{channels.get(int(found[1]), found[1])}", text)
    return _EMOJI.sub(r"\1", text)


def titled(raw: discord.Message) -> str:
    """The title of a post that has no other words than the bot's name: it is the question. "" for any other message."""
    channel = raw.channel
    if not isinstance(channel, discord.Thread) or raw.id != channel.id or raw.attachments or raw.stickers:
        return ""
    return channel.name


def shared(raw: discord.Message) -> Quote | None:
    """What somebody passes on: other messages, a poll, a card that a program has made. Previews of links in somebody's
    own words are none of it."""
    if raw.message_snapshots:
        text = "\n".join(part for snapshot in raw.message_snapshots for part in _words(snapshot))
        return Quote(text, forwarded=True) if text else None
    made = not raw.content or raw.author.bot or raw.webhook_id is not None
    text = "\n".join((*_embedded(raw if made else None), *_poll(raw)))
    return Quote(text, forwarded=True) if text else None


def replied_to(raw: discord.Message, channel: str) -> Quote | None:
    """The message that this one replies to; None where there is nothing in it to read or to fetch."""
    original = raw.reference.resolved if raw.reference else None
    if not isinstance(original, discord.Message):
        return None
    text, files = whole(original), files_of(original, channel)
    quote = Quote(text, original.author.display_name, str(original.id), files=files)
    return quote if text or files else None


def whole(raw: discord.Message) -> str:
    """Everything that there is to read in a message."""
    parts = (*_words(raw), *(part for one in raw.message_snapshots for part in _words(one)), *_poll(raw))
    return readable("\n".join(parts), raw).strip()


def files_of(raw: discord.Message, channel: str) -> tuple[FileRef, ...]:
    passed_on = (file for snapshot in raw.message_snapshots for file in snapshot.attachments)
    return (
        *(_file(file, channel, spoken=raw.flags.voice) for file in raw.attachments),
        *(_file(file, channel) for file in passed_on),
        *(FileRef(channel, one.url, one.name, STICKERS.get(one.format, "image/png")) for one in raw.stickers),
    )


def _file(file: discord.Attachment, channel: str, *, spoken: bool = False) -> FileRef:
    kind = file.content_type or "application/octet-stream"
    return FileRef(channel, file.url, file.filename, kind, file.size, spoken)


def _words(content: Content) -> Iterator[str]:
    if content.content:
        yield content.content
    yield from _embedded(content)


def _embedded(content: Content | None) -> Iterator[str]:
    for embed in content.embeds if content is not None else ():
        fields = (f"{field.name}: {field.value}" for field in embed.fields)
        lines = (embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
        if text := "\n".join(line for line in lines if line):
            yield text


def _poll(raw: discord.Message) -> Iterator[str]:
    if raw.poll is not None:
        options = "".join(f"\n- {option.text}" for option in raw.poll.answers)
        yield f"Shared poll: {raw.poll.question}{options}"
