"""Messages that grow on screen: chat.startStream, appendStream and stopStream (PLATFORMS.md 3.1).

What Slack's pages leave open is as others measured it in 2026: a stream keeps the kind of content it began with
(``streaming_mode_mismatch``), lives five minutes whatever is appended, and while it is open takes neither chat.update
(``streaming_state_conflict``) nor chat.delete; a chunk replaces its card's title and status and adds to its details.
A DM's stream needs a ``thread_ts``; an empty append is ``no_text``.
"""

from __future__ import annotations

from typing import Any

from tests.sim.slack.agents import read_status, set_session
from tests.sim.slack.blocks import MAX_MARKDOWN, STATUSES, checked
from tests.sim.slack.bodies import Params
from tests.sim.slack.chat import read_metadata, tell, thread_of
from tests.sim.slack.nouns import BOT_ID, TEAM, Card, Channel, Json, Message, Refused, missing
from tests.sim.slack.world import World

MAX_CHUNK_TEXT = 256
DISPLAY_MODES = ("timeline", "plan")


def start_stream(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"))
    thread = thread_of(world, channel, params)
    if channel.is_dm and thread is None:
        raise missing("thread_ts")
    if not channel.is_dm:
        _recipient(world, channel, params)
    if params.text("task_display_mode") not in ("", *DISPLAY_MODES):
        raise Refused("invalid_arguments", "[ERROR] must be one of: timeline, plan [json-pointer:/task_display_mode]")
    message = Message(world.ts(), world.bot.id, thread_ts=thread, bot_id=BOT_ID, app_id=world.bot.app_id)
    message.stream, message.began = "open", world.monotonic()
    _absorb(message, params)
    channel.messages[message.ts] = message
    _ping(world, "chat.startStream", channel, message)
    tell(world, channel, message, edit=False)
    return {"channel": channel.id, "ts": message.ts}


def append_stream(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"))
    message = _stream(channel, params.needed("ts"))
    if message.stream == "stopped_by_user":
        raise Refused("stopped_by_user")
    if not world.streaming(message):
        raise Refused("message_not_in_streaming_state")
    if not _absorb(message, params):
        raise Refused("no_text")
    message.edits += 1
    _ping(world, "chat.appendStream", channel, message)
    world.showed(channel, message, edit=True)
    return {"channel": channel.id, "ts": message.ts}


def stop_stream(world: World, params: Params) -> Json:
    """Without ``session_status`` the agent's session stays as it is."""
    channel = world.place(params.needed("channel"))
    message = _stream(channel, params.needed("ts"))
    if not world.streaming(message):
        raise Refused("message_not_in_streaming_state")
    status = read_status(world, params.text("session_status")) if params.text("session_status") else ""
    given = params.listed("blocks", "invalid_blocks_format")
    blocks = checked(given) if given else []
    metadata = read_metadata(params)
    previous = world.message_json(channel, message)
    _absorb(message, params)
    message.stream, message.blocks, message.metadata = "stopped", blocks, metadata
    if status:
        set_session(world, channel, message.thread_ts or message.ts, status)
    _ping(world, "chat.stopStream", channel, message)
    tell(world, channel, message, edit=True, previous=previous)
    return {"channel": channel.id, "ts": message.ts, "message": world.message_json(channel, message)}


def _recipient(world: World, channel: Channel, params: Params) -> None:
    team, user = params.text("recipient_team_id"), params.text("recipient_user_id")
    if not team:
        raise Refused("missing_recipient_team_id")
    if not user:
        raise Refused("missing_recipient_user_id")
    if team != TEAM:
        raise Refused("team_not_found")
    if user not in world.people or world.people[user].is_bot:
        raise Refused("user_not_found")


def _stream(channel: Channel, ts: str) -> Message:
    message = channel.messages.get(ts)
    if message is None:
        raise Refused("message_not_found")
    if message.bot_id != BOT_ID:
        raise Refused("message_not_owned_by_app")
    return message


def _ping(world: World, method: str, channel: Channel, message: Message) -> None:
    cards = [part for card in message.cards.values() for part in (card.title, card.details, card.output)]
    world.ping(method, channel, message, message.markdown, message.chunk_blocks, message.blocks, cards)


def _absorb(message: Message, params: Params) -> bool:
    """Add what a call brings; False when it brings nothing. Nothing is added when something is refused."""
    text, chunks = params.get("markdown_text"), params.listed("chunks", "invalid_chunks")
    if text is not None and chunks:
        raise Refused("cannot_provide_both_markdown_text_and_chunks")
    if text is not None:
        if not isinstance(text, str) or not text:
            raise Refused("no_text")
        if len(text) > MAX_MARKDOWN:
            raise Refused("msg_too_long")
        _mode(message, "markdown_text")
        message.markdown += text
        return True
    if not chunks:
        return False
    _mode(message, "chunks", dry=True)
    for chunk in chunks:
        _check(chunk)
    written = sum(len(chunk["text"]) for chunk in chunks if chunk["type"] == "markdown_text")
    if written > MAX_MARKDOWN:
        raise Refused("msg_too_long")
    blocks = [block for chunk in chunks if chunk["type"] == "blocks" for block in chunk["blocks"]]
    held = checked([*message.chunk_blocks, *blocks]) if blocks else message.chunk_blocks
    _mode(message, "chunks")
    message.chunk_blocks = held
    for chunk in chunks:
        _take(message, chunk)
    return True


def _mode(message: Message, mode: str, *, dry: bool = False) -> None:
    """A stream is bound to the kind of content that came first."""
    if message.mode and message.mode != mode:
        raise Refused("streaming_mode_mismatch")
    if not dry:
        message.mode = mode


def _check(chunk: Any) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text":
        if not isinstance(chunk.get("text"), str):
            raise Refused("invalid_chunks", "[ERROR] missing required field: text")
        if not chunk["text"]:
            raise Refused("no_text")
    elif kind == "task_update":
        _check_task(chunk)
    elif kind == "plan_update":
        _short(chunk, "title", needed=True)
    elif kind != "blocks" or not isinstance(chunk.get("blocks"), list):
        raise Refused("invalid_chunks", f"[ERROR] unsupported type: {kind}")


def _check_task(chunk: Json) -> None:
    for name in ("id", "title"):
        _short(chunk, name, needed=True)
    for name in ("details", "output"):
        _short(chunk, name)
    if chunk.get("status") not in STATUSES:
        raise Refused("invalid_chunks", f"[ERROR] must be one of: {', '.join(STATUSES)} [json-pointer:/status]")
    sources = chunk.get("sources") or []
    if any(not isinstance(one, dict) or one.get("type") != "url" or not one.get("url") for one in sources):
        raise Refused("invalid_chunks", "[ERROR] a source is of type url [json-pointer:/sources]")


def _short(chunk: Json, name: str, *, needed: bool = False) -> None:
    value = chunk.get(name)
    if value is None and not needed:
        return
    if not isinstance(value, str) or (needed and not value):
        raise Refused("invalid_chunks", f"[ERROR] missing required field: {name}")
    if len(value) > MAX_CHUNK_TEXT:
        raise Refused(
            "invalid_chunks", f"[ERROR] must be less than {MAX_CHUNK_TEXT + 1} characters [json-pointer:/{name}]"
        )


def _take(message: Message, chunk: Json) -> None:
    if chunk["type"] == "markdown_text":
        message.markdown += chunk["text"]
    elif chunk["type"] == "plan_update":
        message.plan_title = chunk["title"]
    elif chunk["type"] == "task_update":
        before = message.cards.get(chunk["id"], Card(chunk["id"], "", "pending"))
        details = before.details + (chunk.get("details") or "")
        output = before.output + (chunk.get("output") or "")
        message.cards[chunk["id"]] = Card(chunk["id"], chunk["title"], chunk["status"], details, output)
