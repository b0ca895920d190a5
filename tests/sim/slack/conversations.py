"""The calls about the workspace: who I am, channels and their histories, members, people, reactions, the home tab."""

from __future__ import annotations

import base64
import re
from typing import Any

from tests.sim.slack import events
from tests.sim.slack.blocks import MAX_HOME_BLOCKS, checked
from tests.sim.slack.bodies import Params
from tests.sim.slack.nouns import BOT_ID, BOT_USER, DOMAIN, TEAM, Channel, Json, Message, Person, Refused, missing
from tests.sim.slack.world import World

MOST_MESSAGES = 999
_REACTION = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def auth_test(world: World, params: Params) -> Json:
    return {
        "url": f"https://{DOMAIN}.slack.com/",
        "team": "Simulated Workspace",
        "user": world.bot.name.lower(),
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


def info(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"), membership=False)
    body = world.channel_json(channel)
    if params.flag("include_num_members"):
        body["num_members"] = len(channel.members) + channel.bot_in
    return {"channel": body}


def open_dm(world: World, params: Params) -> Json:
    if params.text("channel"):
        channel = world.place(params.text("channel"), membership=False)
    else:
        ids = [id for id in params.needed("users").split(",") if id]
        if any(id not in world.people or id == BOT_USER for id in ids) or not ids:
            raise Refused("user_not_found")
        people = [world.people[id] for id in ids]
        if any(person.is_bot for person in people):
            raise Refused("cannot_dm_bot")
        channel = world.dm(people[0]) if len(people) == 1 else world.group_dm(people)
    whole = params.flag("return_im")
    return {"channel": world.channel_json(channel) if whole else {"id": channel.id}}


def history(world: World, params: Params) -> Json:
    """Newest first; replies are only in their threads, save those that were broadcast."""
    channel = world.place(params.needed("channel"), membership=False)
    if not channel.bot_in:
        raise Refused("not_in_channel")
    top = [
        message
        for message in _written(channel)
        if not message.thread_ts or message.thread_ts == message.ts or message.subtype == "thread_broadcast"
    ]
    found = [message for message in reversed(top) if _within(message, params)]
    return _page(world, channel, found, params)


def replies(world: World, params: Params) -> Json:
    """The thread's first message, then its replies, oldest first."""
    channel = world.place(params.needed("channel"), membership=False)
    if not channel.bot_in:
        raise Refused("not_in_channel")
    root = channel.messages.get(params.needed("ts"))
    if root is None or root.ephemeral_to:
        raise Refused("thread_not_found")
    if root.thread_ts and root.thread_ts in channel.messages:
        root = channel.messages[root.thread_ts]
    found = [message for message in channel.replies(root.ts) if _within(message, params)]
    return _page(world, channel, [root, *found], params)


def _written(channel: Channel) -> list[Message]:
    return sorted((one for one in channel.messages.values() if not one.ephemeral_to), key=lambda one: one.ts)


def _within(message: Message, params: Params) -> bool:
    oldest, latest = params.text("oldest"), params.text("latest")
    if params.flag("inclusive") and message.ts in (oldest, latest):
        return True
    return (not oldest or float(message.ts) > float(oldest)) and (not latest or float(message.ts) < float(latest))


def _page(world: World, channel: Channel, found: list[Message], params: Params) -> Json:
    limit = params.integer("limit", 100)
    if not 1 <= limit <= MOST_MESSAGES:
        raise Refused("invalid_limit")
    start = _position(params.text("cursor"))
    page, more = found[start : start + limit], len(found) > start + limit
    whole = params.flag("include_all_metadata")
    messages = [_written_json(world, channel, message, metadata=whole) for message in page]
    answer: Json = {"messages": messages, "has_more": more, "pin_count": 0}
    if more:
        cursor = base64.b64encode(f"next:{start + limit}".encode()).decode()
        answer["response_metadata"] = {"next_cursor": cursor}
    return answer


def _written_json(world: World, channel: Channel, message: Message, *, metadata: bool) -> Json:
    body = world.message_json(channel, message)
    return {**body, "metadata": message.metadata} if metadata and message.metadata else body


def _position(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except ValueError:
        raise Refused("invalid_cursor") from None


def members(world: World, params: Params) -> Json:
    channel = world.place(params.needed("channel"), membership=False)
    limit, start = params.integer("limit", 100), _position(params.text("cursor"))
    everyone = [*channel.members, *([BOT_USER] if channel.bot_in else [])]
    more = len(everyone) > start + limit
    cursor = base64.b64encode(f"next:{start + limit}".encode()).decode() if more else ""
    return {"members": everyone[start : start + limit], "response_metadata": {"next_cursor": cursor}}


def user_info(world: World, params: Params) -> Json:
    person = world.people.get(params.needed("user"))
    if person is None:
        raise Refused("user_not_found")
    return {"user": _user(person, locale=params.flag("include_locale"))}


def _user(person: Person, *, locale: bool) -> Json:
    profile: Json = {
        "real_name": person.name,
        "real_name_normalized": person.name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "image_48": "https://a.slack-edge.com/avatar-48.png",
        "team": TEAM,
    }
    if person.is_bot:
        profile |= {"bot_id": person.bot_id, "api_app_id": person.app_id}
    return {
        "id": person.id,
        "team_id": TEAM,
        "name": person.name.lower(),
        "deleted": False,
        "real_name": person.name,
        "tz": "Europe/London",
        "tz_label": "Greenwich Mean Time",
        "tz_offset": 0,
        "profile": profile,
        "is_admin": False,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1_790_000_000,
        **({"locale": person.language} if locale else {}),
    }


def add_reaction(world: World, params: Params) -> Json:
    name, channel, message = _reaction(world, params)
    users = message.reactions.setdefault(name, [])
    if BOT_USER in users:
        raise Refused("already_reacted")
    users.append(BOT_USER)
    world.emit(events.reaction_event(world, channel, message, world.bot, name, "reaction_added"), channel)
    return {}


def remove_reaction(world: World, params: Params) -> Json:
    name, channel, message = _reaction(world, params)
    if BOT_USER not in message.reactions.get(name, []):
        raise Refused("no_reaction")
    message.reactions[name].remove(BOT_USER)
    if not message.reactions[name]:
        del message.reactions[name]
    world.emit(events.reaction_event(world, channel, message, world.bot, name, "reaction_removed"), channel)
    return {}


def _reaction(world: World, params: Params) -> tuple[str, Channel, Message]:
    name = params.text("name").strip(":")
    if _REACTION.fullmatch(name) is None:
        raise Refused("invalid_name")
    return name, *_item(world, params)


def _item(world: World, params: Params) -> tuple[Channel, Message]:
    if not params.text("channel") or not params.text("timestamp"):
        raise Refused("no_item_specified")
    channel = world.place(params.text("channel"))
    message = channel.messages.get(params.text("timestamp"))
    if message is None or message.ephemeral_to:
        raise Refused("message_not_found")
    return channel, message


def get_reactions(world: World, params: Params) -> Json:
    channel, message = _item(world, params)
    return {"type": "message", "channel": channel.id, "message": world.message_json(channel, message)}


def publish_view(world: World, params: Params) -> Json:
    user, view = params.needed("user_id"), params.object("view", "invalid_arguments")
    if user not in world.people:
        raise Refused("user_not_found")
    if view is None:
        raise missing("view")
    blocks: Any = view.get("blocks")
    if view.get("type") != "home" or not isinstance(blocks, list):
        raise Refused("invalid_arguments", "[ERROR] must be a home view [json-pointer:/view/type]")
    world.homes[user] = {**view, "blocks": checked(blocks, limit=MAX_HOME_BLOCKS)}
    return {"view": {**world.homes[user], "id": f"V{user[1:]}", "team_id": TEAM, "bot_id": BOT_ID}}
