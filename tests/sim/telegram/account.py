"""The calls about the bot itself, its chats, commands, files and buttons."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from tests.sim.telegram.bodies import Params
from tests.sim.telegram.nouns import Json, bad
from tests.sim.telegram.places import chat_of
from tests.sim.telegram.world import World

Note = Callable[[str], None]

COMMAND = re.compile(r"[a-z0-9_]{1,32}")
SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_RIGHTS = (
    "can_be_edited is_anonymous can_manage_chat can_delete_messages can_manage_video_chats can_restrict_members"
    " can_promote_members can_change_info can_invite_users can_post_stories can_edit_stories can_delete_stories"
)
RIGHTS = tuple(_RIGHTS.split())


def get_me(world: World, params: Params, note: Note) -> Json:
    return {
        **world.bot.to_json(),
        "can_join_groups": True,
        "can_read_all_group_messages": not any(chat.is_group and chat.privacy for chat in world.chats.values()),
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": False,
        "allows_users_to_create_topics": False,
    }


def answer_callback_query(world: World, params: Params, note: Note) -> bool:
    text = params.text("text")
    if len(text) > 200:
        raise bad("MESSAGE_TOO_LONG")
    world.presses.answer(params.text("callback_query_id"), text, alert=params.flag("show_alert"))
    return True


def set_my_commands(world: World, params: Params, note: Note) -> bool:
    commands = params.parsed("commands", "commands")
    if not isinstance(commands, list):
        raise bad("can't parse commands list JSON object")
    if len(commands) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not isinstance(command, dict) or not COMMAND.fullmatch(str(command.get("command", "")).removeprefix("/")):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(str(command.get("description", ""))) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands[_audience(params)] = commands
    return True


def get_my_commands(world: World, params: Params, note: Note) -> list[Json]:
    return world.commands.get(_audience(params), [])


def delete_my_commands(world: World, params: Params, note: Note) -> bool:
    world.commands.pop(_audience(params), None)
    return True


def _audience(params: Params) -> tuple[str, str]:
    scope = params.parsed("scope", "BotCommandScope") or {"type": "default"}
    return json.dumps(scope, sort_keys=True), params.text("language_code")


def set_webhook(world: World, params: Params, note: Note) -> bool:
    """Needs https, save on loopback, where a self-hosted server takes http too. An empty url removes the webhook."""
    url, secret = params.text("url"), params.text("secret_token")
    if not url:
        return delete_webhook(world, params, note)
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise bad("bad webhook: An HTTPS URL must be provided for webhook")
    if secret and not SECRET.fullmatch(secret):
        raise bad("secret token contains unallowed characters")
    world.updates.allow(params)
    if params.flag("drop_pending_updates"):
        world.updates.pending.clear()
    world.webhook.set(url, secret, params.integer("max_connections", 40))
    return True


def delete_webhook(world: World, params: Params, note: Note) -> bool:
    world.webhook.clear()
    if params.flag("drop_pending_updates"):
        world.updates.pending.clear()
    return True


def get_webhook_info(world: World, params: Params, note: Note) -> Json:
    info: Json = {
        "url": world.updates.webhook_url,
        "has_custom_certificate": False,
        "pending_update_count": len(world.updates.pending),
    }
    if world.updates.chosen is not None:
        info["allowed_updates"] = world.updates.chosen
    return {**info, **world.webhook.info()} if info["url"] else info


def get_file(world: World, params: Params, note: Note) -> Json:
    return world.files.described(params.text("file_id"))


def get_chat(world: World, params: Params, note: Note) -> Json:
    rest = {"accent_color_id": 1, "max_reaction_count": 11, "accepted_gift_types": dict.fromkeys(_GIFTS, True)}
    return {**chat_of(world, params).to_json(), **rest}


_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")


def get_chat_member(world: World, params: Params, note: Note) -> Json:
    chat = chat_of(world, params)
    user = params.integer("user_id")
    if user == world.bot.id and chat.admin:
        return {**world.membership("administrator"), **dict.fromkeys(RIGHTS, True)}
    if user == world.bot.id:
        return world.membership("member")
    if user in chat.members:
        return {"user": chat.members[user].to_json(), "status": "member"}
    raise bad("member not found")


def leave_chat(world: World, params: Params, note: Note) -> bool:
    chat = chat_of(world, params)
    if not chat.is_group:
        raise bad("chat member status can't be changed in private chats")
    chat.status = "left"
    return True
