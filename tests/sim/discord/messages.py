"""The calls that send, change, remove, list and react to messages."""

from __future__ import annotations

from tests.sim.discord.asked import Asked, Done, not_snowflake
from tests.sim.discord.drafts import Draft
from tests.sim.discord.mentions import pings
from tests.sim.discord.nouns import CHATTY, DM, FORUM, LOADING, REPLY, Channel, Message
from tests.sim.discord.payloads import message_json, texts_of, without_content
from tests.sim.discord.permissions import BITS, need, permissions_of
from tests.sim.discord.refusals import Json, invalid, refused
from tests.sim.discord.world import place

NONCE_SECONDS = 180.0
"""How long a nonce is remembered: "the past few minutes" (discord-api-docs, create message)."""
OLD_SECONDS = 3600.0
TYPING_SECONDS = 10.0
MAX_REACTIONS = 20
BULK_SECONDS = 14 * 86_400.0


def writable(asked: Asked, channel: Channel) -> None:
    """Refused where the bot may not write, or nobody may."""
    if channel.type == DM:
        if channel.closed:
            raise refused(50007)
        return
    if channel.type == FORUM:
        raise refused(50008)
    need(channel, asked.world.bot.id, "send_messages_in_threads" if channel.is_thread else "send_messages")
    if channel.locked and not permissions_of(channel, asked.world.bot.id) & BITS["manage_threads"]:
        raise refused(160005)


def post_message(asked: Asked) -> Done:
    channel = asked.channel()
    writable(asked, channel)
    draft = asked.draft(asked.body)
    wanted = [name for name, used in (("embed_links", draft.embeds), ("attach_files", draft.uploads)) if used]
    need(channel, asked.world.bot.id, *wanted)
    quoted, reference = _quoted(asked, channel)
    if (same := _same_nonce(asked, channel)) is not None:
        return 200, {**seen(asked, same), "nonce": same.nonce}
    message = make(asked, channel, draft, quoted, reference)
    if (nonce := asked.body.get("nonce")) is not None:
        message.nonce = nonce
        asked.world.nonces[str(nonce)] = (asked.world.monotonic(), message)
    asked.world.publish(message)
    asked.world.report.shown(channel.id, texts_of(message), edit=False)
    return 200, {**seen(asked, message), **({"nonce": nonce} if nonce is not None else {})}


def make(
    asked: Asked,
    channel: Channel,
    draft: Draft,
    quoted: Message | None = None,
    reference: Json | None = None,
    *,
    id: int | None = None,
) -> Message:
    """A message of the bot, not yet published."""
    message = asked.world.new_message(channel, asked.world.bot, id=id, flags=draft.flags)
    message.reply_to, message.reference = quoted, reference
    message.type = REPLY if reference is not None else message.type
    write(asked, message, draft)
    if quoted is not None and draft.allowed.replied and quoted.author.id != asked.world.bot.id:
        message.mentions = list(dict.fromkeys([*message.mentions, quoted.author.id]))
        message.pings.append(f"<@{quoted.author.id}>")
    return message


def write(asked: Asked, message: Message, draft: Draft) -> None:
    """Make the message what the draft says."""
    message.content, message.embeds, message.components = draft.content, draft.embeds, draft.components
    message.flags = draft.flags & ~LOADING
    if draft.retold:
        message.pings = pings(draft.pinged)
        asked.world.name_mentions(message, draft.pinged)
    world, files = asked.world, list(draft.kept)
    for upload, about in draft.uploads:
        name = str(about.get("filename") or upload.name)
        fields = {key: about.get(key) for key in ("description", "title", "duration_secs", "waveform")}
        kind = upload.media_type
        number = world.snowflakes.next()
        files.append(world.files.attachment(message.channel.id, number, name, kind, upload.content, **fields))
    message.attachments = files


def _quoted(asked: Asked, channel: Channel) -> tuple[Message | None, Json | None]:
    """The message replied to, and the reference to it; nothing where it is gone and the call may go without."""
    reference = asked.body.get("message_reference")
    if not reference:
        return None, None
    if reference.get("type"):
        raise invalid("message_reference", "MESSAGE_REFERENCE_TYPE", "Forwards are not simulated")
    if not str(reference.get("message_id", "")).isdecimal():
        raise not_snowflake(str(reference.get("message_id", "")), "message_reference")
    if int(reference.get("channel_id") or channel.id) != channel.id:
        message = "Cannot reply to a message in a different channel"
        raise invalid("message_reference", "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL", message)
    if not permissions_of(channel, asked.world.bot.id) & BITS["read_message_history"]:
        raise refused(160002)
    quoted = channel.messages.get(int(reference["message_id"]))
    if quoted is None:
        if reference.get("fail_if_not_exists", True):
            raise invalid("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None, None
    if quoted.type not in CHATTY:
        message = "Cannot reply to a system message"
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", message)
    body: Json = {"type": 0, "message_id": str(quoted.id), "channel_id": str(channel.id), **place(channel)}
    return quoted, body


def _same_nonce(asked: Asked, channel: Channel) -> Message | None:
    """The message that was sent with this nonce in the last minutes, where that is to be looked for. That it was deleted
    since does not free its nonce: the documentation says nothing of the kind."""
    nonce = asked.body.get("nonce")
    if nonce is None or not asked.body.get("enforce_nonce"):
        return None
    at, message = asked.world.nonces.get(str(nonce), (0.0, None))
    if message is None or asked.world.monotonic() - at > NONCE_SECONDS:
        return None
    if message.channel is not channel:
        asked.note(f"the nonce {nonce} was used in another channel")
    return message


def patch_message(asked: Asked) -> Done:
    channel = asked.channel()
    message = asked.message(channel)
    if message.author.id != asked.world.bot.id:
        raise refused(50005)
    if message.type not in CHATTY:
        raise refused(50021)
    if channel.archived:
        raise refused(50083)
    if channel.type == DM and channel.closed:
        raise refused(50007)
    if asked.world.now() - message.created > OLD_SECONDS:
        asked.rates.old_edit(channel.id)
    change(asked, message, asked.draft(asked.body, message))
    return 200, seen(asked, message)


def change(asked: Asked, message: Message, draft: Draft) -> None:
    """An edit takes effect; what fills an answer that was only deferred is none."""
    first = bool(message.flags & LOADING)
    write(asked, message, draft)
    if not first:
        message.edited = asked.world.now()
        message.edits += 1
    asked.world.changed_message(message)
    asked.world.report.shown(message.channel.id, texts_of(message), edit=not first)


def delete_message(asked: Asked) -> Done:
    channel = asked.channel()
    message = asked.message(channel)
    if message.author.id != asked.world.bot.id:
        if channel.type == DM:
            raise refused(50003)
        need(channel, asked.world.bot.id, "manage_messages")
    if channel.archived:
        raise refused(50083)
    asked.world.remove_message(message)
    return 204, None


def bulk_delete(asked: Asked) -> Done:
    channel = asked.channel("manage_messages")
    if channel.type == DM:
        raise refused(50003)
    ids = [int(one) for one in asked.body.get("messages") or ()]
    if not 2 <= len(ids) <= 100:
        raise invalid("messages", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 100 in length.")
    found = [channel.messages[one] for one in ids if one in channel.messages]
    if any(asked.world.now() - one.created > BULK_SECONDS for one in found):
        raise refused(50034)
    asked.world.remove_messages(channel, ids)
    return 204, None


def get_message(asked: Asked) -> Done:
    channel = asked.channel("read_message_history")
    return 200, seen(asked, asked.message(channel))


def get_messages(asked: Asked) -> Done:
    """The history, newest first; of ``after`` the ones right after it."""
    channel = asked.channel()
    raw = asked.query.get("limit", "50")
    limit = int(raw) if raw.isdecimal() else 0
    if not 1 <= limit <= 100:
        raise invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
    points = {name: asked.query[name] for name in ("before", "after", "around") if name in asked.query}
    for name, text in points.items():
        if not text.isdecimal():
            raise not_snowflake(text, name)
    if not permissions_of(channel, asked.world.bot.id) & BITS["read_message_history"]:
        return 200, []
    every = sorted(channel.messages)
    if "around" in points:
        at = int(points["around"])
        older, newer = [one for one in every if one < at], [one for one in every if one >= at]
        half = limit // 2
        chosen = [*older[-half or len(older) :], *newer[: limit - half]]
    elif "after" in points:
        chosen = [one for one in every if one > int(points["after"])][:limit]
    else:
        chosen = [one for one in every if one < int(points.get("before", 1 << 64))][-limit:]
    return 200, [seen(asked, channel.messages[one]) for one in reversed(chosen)]


def seen(asked: Asked, message: Message) -> Json:
    """A message as the bot reads it: without the content it may not see, with its own reactions marked."""
    world = asked.world
    body = message_json(message, world.people)
    for reaction, who in zip(body.get("reactions", ()), message.reactions.values(), strict=True):
        reaction["me"] = world.bot.id in who
    if world.gateway.content_granted:
        return body
    return without_content(body, world.bot, direct=message.channel.type == DM)


def post_typing(asked: Asked) -> Done:
    channel = asked.channel()
    writable(asked, channel)
    channel.typing_until = asked.world.monotonic() + TYPING_SECONDS
    return 204, None


def put_reaction(asked: Asked) -> Done:
    channel = asked.channel("read_message_history")
    message, name = asked.message(channel), emoji_of(asked)
    if name not in message.reactions:
        need(channel, asked.world.bot.id, "add_reactions")
        if len(message.reactions) >= MAX_REACTIONS:
            raise refused(30010)
    asked.world.react(message, asked.world.bot, name, add=True)
    return 204, None


def delete_reaction(asked: Asked) -> Done:
    channel = asked.channel("read_message_history")
    asked.world.react(asked.message(channel), asked.world.bot, emoji_of(asked), add=False)
    return 204, None


def emoji_of(asked: Asked) -> str:
    """The emoji of the path: a Unicode one, or name:id of a custom one. Refused (10014) otherwise."""
    name = asked.words["emoji"]
    word, colon, number = name.partition(":")
    letters = any(letter.isalpha() and letter != "ℹ" for letter in word)
    if (colon and not number.isdecimal()) or (not colon and (not word or word.isascii() or letters)):
        raise refused(10014)
    return name
