"""The calls that post, change and remove messages.

Slack does not say what a ``thread_ts`` without a message earns; the strict reading is taken: ``thread_not_found``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.sim.slack import events
from tests.sim.slack.blocks import MAX_BLOCKS, MAX_MARKDOWN, checked, expansion
from tests.sim.slack.bodies import Params
from tests.sim.slack.nouns import BOT_ID, Channel, Json, Message, Refused
from tests.sim.slack.world import World

MAX_TEXT = 40_000
MAX_UPDATE_BYTES = 4_000
_LINK = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Content:
    """None is what the call did not give."""

    text: str | None
    markdown: str
    blocks: list[Json] | None
    attachments: list[Any] | None
    metadata: Json | None


def read_content(world: World, params: Params, channel: Channel, *, update: bool = False) -> Content:
    markdown = params.text("markdown_text")
    text = params.text("text") if params.get("text") is not None else None
    given = params.listed("blocks", "invalid_blocks_format")
    if markdown and (text or given):
        raise Refused("markdown_text_conflict")
    if len(markdown) > MAX_MARKDOWN:
        raise Refused("msg_too_long")
    if markdown and expansion(markdown) > MAX_BLOCKS:
        raise Refused("msg_blocks_too_long")
    attachments = params.listed("attachments", "invalid_attachments")
    blocks = checked(given) if given is not None else None
    if not (markdown or (text or "").strip() or blocks or attachments):
        raise Refused("no_text")
    if update and text and len(text.encode()) > MAX_UPDATE_BYTES:
        raise Refused("msg_too_long")
    if text and len(text) > MAX_TEXT:
        world.note(f"a text of {len(text)} characters is cut in {channel.id}")
        text = text[:MAX_TEXT]
    return Content(text, markdown, blocks, attachments, read_metadata(params))


def read_metadata(params: Params) -> Json | None:
    metadata = params.object("metadata", "invalid_metadata_format")
    if metadata is not None:
        kind, payload = metadata.get("event_type"), metadata.get("event_payload")
        if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
            raise Refused("invalid_metadata_format")
    return metadata


def thread_of(world: World, channel: Channel, params: Params) -> str | None:
    """The thread's first message. A reply stands for its thread, which is not how to name it."""
    ts = params.text("thread_ts")
    if not ts:
        return None
    root = channel.messages.get(ts)
    if root is None or root.ephemeral_to:
        raise Refused("thread_not_found")
    if root.thread_ts and root.thread_ts != root.ts:
        world.note(f"thread_ts {ts} in {channel.id} is a reply, not its thread's first message")
        return root.thread_ts
    return ts


def post_message(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"))
    content = read_content(world, params, channel)
    thread = thread_of(world, channel, params)
    quiet = not (params.flag("unfurl_links", True) or params.flag("unfurl_media", True))
    if not quiet and _LINK.search(f"{content.text} {content.markdown} {content.blocks}"):
        world.note(f"a link may unfurl: chat.postMessage in {channel.id}")
    message = world.add(
        channel,
        world.bot,
        text=content.text or "",
        markdown=content.markdown,
        blocks=content.blocks or [],
        thread_ts=thread,
        metadata=content.metadata,
        unfurl=not quiet,
    )
    if params.flag("reply_broadcast") and thread:
        message.subtype = "thread_broadcast"
    world.ping("chat.postMessage", channel, message, message.text, message.markdown, message.blocks)
    tell(world, channel, message, edit=False)
    return {"channel": channel.id, "ts": message.ts, "message": world.message_json(channel, message)}


def tell(world: World, channel: Channel, message: Message, *, edit: bool, previous: Json | None = None) -> None:
    """What follows from a message of the bot's: its thread's status goes, and its own event comes back to it."""
    world.showed(channel, message, edit=edit)
    if previous is None:
        world.answered(channel, message.thread_ts)
        world.emit(events.message_event(world, channel, message), channel)
    else:
        world.emit(events.changed_event(world, channel, message, previous), channel)


def own(world: World, channel: Channel, ts: str, error: str) -> Message:
    message = channel.messages.get(ts)
    if message is None or message.ephemeral_to or message.subtype == "tombstone":
        raise Refused("message_not_found")
    if message.bot_id != BOT_ID:
        raise Refused(error)
    return message


def update(world: World, params: Params) -> Json:
    """With ``text`` and no ``blocks`` the blocks go and the message is flagged as edited; with blocks it is not."""
    channel = world.place(params.needed("channel"))
    message = own(world, channel, params.needed("ts"), "cant_update_message")
    if world.streaming(message):
        raise Refused("streaming_state_conflict")
    content = read_content(world, params, channel, update=True)
    previous = world.message_json(channel, message)
    apply(message, content)
    if not content.blocks:
        message.edited = {"user": message.user, "ts": world.edited_ts()}
    message.edits += 1
    message.pings = []
    world.ping("chat.update", channel, message, message.text, message.markdown, message.blocks)
    tell(world, channel, message, edit=True, previous=previous)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": world.message_json(channel, message),
    }


def apply(message: Message, content: Content) -> None:
    """The message's new content; what a stream showed goes."""
    message.markdown, message.chunk_blocks, message.cards, message.plan_title = content.markdown, [], {}, ""
    message.died = False
    if content.text is not None or content.markdown:
        message.text = content.text or ""
        message.blocks = content.blocks or []
    elif content.blocks is not None:
        message.blocks = content.blocks
    if content.metadata is not None:
        message.metadata = content.metadata


def delete(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"))
    message = own(world, channel, params.needed("ts"), "cant_delete_message")
    if world.streaming(message):
        raise Refused("cant_delete_message")
    remove(world, channel, message)
    return {"channel": channel.id, "ts": message.ts}


def remove(world: World, channel: Channel, message: Message) -> None:
    """It goes; the first of a thread that has replies stays as a tombstone."""
    previous = world.message_json(channel, message)
    if message.ephemeral_to:
        del channel.messages[message.ts]
        return
    if not channel.replies(message.ts):
        del channel.messages[message.ts]
        world.emit(events.deleted_event(world, channel, previous), channel)
        return
    apply(message, Content("This message was deleted.", "", [], None, None))
    message.subtype, message.files, message.extra = "tombstone", [], {"hidden": True}
    world.emit(events.changed_event(world, channel, message, previous), channel)


def post_ephemeral(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"))
    user = params.needed("user")
    if user not in channel.members:
        raise Refused("user_not_in_channel")
    content = read_content(world, params, channel)
    thread = thread_of(world, channel, params)
    message = ephemeral(world, channel, user, content, thread)
    return {"message_ts": message.ts}


def ephemeral(world: World, channel: Channel, user: str, content: Content, thread: str | None) -> Message:
    """A message that only one person sees, that no history holds and no event tells of."""
    message = world.add(
        channel,
        world.bot,
        text=content.text or "",
        markdown=content.markdown,
        blocks=content.blocks or [],
        thread_ts=thread,
        ephemeral_to=user,
    )
    world.changed()
    return message
