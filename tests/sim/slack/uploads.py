"""The calls about files: the three steps of an upload, and what is known of a file."""

from __future__ import annotations

from tests.sim.slack.blocks import checked
from tests.sim.slack.bodies import Params
from tests.sim.slack.chat import tell, thread_of
from tests.sim.slack.nouns import Json, Refused, missing
from tests.sim.slack.world import World

MAX_FILE_BYTES = 1024**3


def get_upload_url(world: World, params: Params) -> Json:
    name, length = params.needed("filename"), params.integer("length", 0)
    if length <= 0:
        raise missing("length")
    if length > MAX_FILE_BYTES:
        raise Refused("file_upload_size_restricted")
    stored = world.files.keep(name, None, length=length)
    return {"upload_url": f"{world.files.base}/upload/v1/{stored.id}", "file_id": stored.id}


def complete_upload(world: World, params: Params) -> Json:
    """The file becomes a message of the bot's; its ``ts`` is not in the answer, as on the platform."""
    files = params.listed("files", "invalid_arguments")
    if not files or any(not isinstance(one, dict) or not isinstance(one.get("id"), str) for one in files):
        raise missing("files")
    stored = [world.files.find(one["id"]) for one in files]
    if any(one.complete or one.content is None for one in stored):
        raise Refused("file_not_found")
    channel = world.place(params.text("channel_id")) if params.text("channel_id") else None
    thread = thread_of(world, channel, params) if channel else None
    blocks = params.listed("blocks", "invalid_blocks")
    for one, asked in zip(stored, files, strict=True):
        one.complete, one.title = True, asked.get("title") or one.name
    described = [world.files.to_json(one) for one in stored]
    if channel is not None:
        comment = params.text("initial_comment")
        message = world.add(
            channel,
            world.bot,
            text=comment,
            blocks=checked(blocks) if blocks else [],
            thread_ts=thread,
            subtype="file_share",
            files=described,
        )
        for one in stored:
            one.shares.append((channel.id, message.ts))
        world.ping("files.completeUploadExternal", channel, message, comment, message.blocks)
        tell(world, channel, message, edit=False)
    return {"files": described}


def file_info(world: World, params: Params) -> Json:
    stored = world.files.find(params.needed("file"))
    shares: Json = {}
    for id, ts in stored.shares:
        kind = "public" if world.channels[id].kind == "channel" else "private"
        shares.setdefault(kind, {}).setdefault(id, []).append({"ts": ts})
    return {"file": {**world.files.to_json(stored), "shares": shares}, "comments": [], "response_metadata": {}}
