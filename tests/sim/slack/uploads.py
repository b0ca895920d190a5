"""The calls about files: the three steps of an upload, and what is known of a file.

Slack's pages: an upload is completed once, is discarded unless it is, and is worked on behind the answer, which holds no
more than ids and titles: where a file was shared, ``files.info`` tells once it is.
"""

from __future__ import annotations

import re

from tests.sim.slack.blocks import checked
from tests.sim.slack.bodies import Params
from tests.sim.slack.chat import tell, thread_of
from tests.sim.slack.files import Stored
from tests.sim.slack.nouns import Channel, Json, Message, Refused, missing
from tests.sim.slack.world import World

_CHANNEL = re.compile(r"[CGDZ][A-Z0-9]+")
"""Slack asks for eight characters more, which ids here need not have; a person's id will not do."""


def get_upload_url(world: World, params: Params) -> Json:
    name, length = params.needed("filename"), params.integer("length", 0)
    if length <= 0:
        raise missing("length")
    if length > world.files.most_bytes:
        raise Refused("file_upload_size_restricted")
    stored = world.files.announce(name, length)
    return {"upload_url": f"{world.files.base}/upload/v1/{stored.ticket}", "file_id": stored.id}


def complete_upload(world: World, params: Params) -> Json:
    """The files become one message of the bot's, ``world.share_seconds`` after the answer."""
    files = params.listed("files", "invalid_arguments")
    if not files or any(not isinstance(one, dict) or not isinstance(one.get("id"), str) for one in files):
        raise missing("files")
    stored = [world.files.waiting(one["id"]) for one in files]
    id = params.text("channel_id")
    if id and not _CHANNEL.fullmatch(id):
        pattern = "input must match regex pattern: ^[CGDZ][A-Z0-9]{8,}$"
        raise Refused("invalid_arguments", f"[ERROR] {pattern} [json-pointer:/channel_id]")
    channel = world.place(id) if id else None
    thread = thread_of(world, channel, params) if channel else None
    blocks = params.listed("blocks", "invalid_blocks")
    comment, shown = params.text("initial_comment"), checked(blocks) if blocks else []
    for one, asked in zip(stored, files, strict=True):
        one.complete, one.title = True, asked.get("title") or one.name
    if channel is not None:
        message = Message("", world.bot.id, comment, thread, shown, subtype="file_share")
        world.later(world.share_seconds, lambda: _share(world, channel, message, stored))
    return {"files": [{"id": one.id, "title": one.title} for one in stored]}


def _share(world: World, channel: Channel, draft: Message, stored: list[Stored]) -> None:
    message = world.add(
        channel,
        world.bot,
        text=draft.text,
        blocks=draft.blocks,
        thread_ts=draft.thread_ts,
        subtype=draft.subtype,
        files=[world.files.to_json(one) for one in stored],
    )
    for one in stored:
        one.shares.append((channel.id, message.ts))
    world.ping("files.completeUploadExternal", channel, message, message.text, message.blocks)
    tell(world, channel, message, edit=False)


def file_info(world: World, params: Params) -> Json:
    stored = world.files.find(params.needed("file"))
    shares: Json = {}
    for id, ts in stored.shares:
        channel = world.channels[id]
        thread = channel.messages[ts].thread_ts if ts in channel.messages else None
        kind = "public" if channel.kind == "channel" else "private"
        shared = {"ts": ts, **({"thread_ts": thread} if thread else {})}
        shares.setdefault(kind, {}).setdefault(id, []).append(shared)
    return {"file": {**world.files.to_json(stored), "shares": shares}, "comments": [], "response_metadata": {}}
