"""What people see of a message."""

from __future__ import annotations

from tests.sim.discord.nouns import EPHEMERAL, LOADING, Message, Person, Shown, walk
from tests.sim.discord.payloads import texts_of


def show(message: Message, bot: Person) -> Shown:
    pressable = [one for one in walk(message.components) if one["type"] == 2 and one.get("custom_id")]
    return Shown(
        id=message.id,
        content=message.content,
        text=texts_of(message),
        embeds=tuple(message.embeds),
        components=tuple(message.components),
        buttons=tuple(
            (one.get("label") or "", one["custom_id"], one["style"]) for one in pressable if not one.get("disabled")
        ),
        attachments=tuple(message.attachments),
        edits=message.edits,
        from_bot=message.author.id == bot.id,
        flags=message.flags,
        mentions=tuple(message.pings),
        author=message.author.name,
        date=message.created,
        type=message.type,
        reply_to=message.reply_to.id if message.reply_to is not None else None,
        reactions=tuple((name, len(who)) for name, who in message.reactions.items()),
        thinking=bool(message.flags & LOADING),
        ephemeral=bool(message.flags & EPHEMERAL),
    )
