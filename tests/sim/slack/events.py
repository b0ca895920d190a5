"""The envelopes' payloads as Slack writes them: events, presses, slash commands."""

from __future__ import annotations

import uuid

from tests.sim.slack.nouns import APP, BOT_USER, DOMAIN, TEAM, Button, Channel, Json, Message, Person
from tests.sim.slack.world import World

VERIFICATION = "verification-token-sim"


def event_payload(world: World, event: Json) -> Json:
    """The ``event_callback`` around an event, with a new ``event_id``."""
    return {
        "token": VERIFICATION,
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": f"Ev0SIM{uuid.uuid4().hex[:10].upper()}",
        "event_time": int(world.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{uuid.uuid4().hex}",
    }


def message_event(world: World, channel: Channel, message: Message) -> Json:
    return {**world.message_json(channel, message, inner=False), "channel_type": channel.kind}


def mention_event(world: World, channel: Channel, message: Message) -> Json:
    """The twin of a message that mentions the bot: the same ``ts``, no ``channel_type``."""
    return {**world.message_json(channel, message, inner=False), "type": "app_mention"}


def changed_event(world: World, channel: Channel, message: Message, previous: Json) -> Json:
    ts = world.ts()
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": world.message_json(channel, message),
        "previous_message": previous,
        "channel": channel.id,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind,
    }


def deleted_event(world: World, channel: Channel, previous: Json) -> Json:
    ts = world.ts()
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": previous,
        "channel": channel.id,
        "hidden": True,
        "deleted_ts": previous["ts"],
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind,
    }


def reaction_event(world: World, channel: Channel, message: Message, person: Person, name: str, kind: str) -> Json:
    return {
        "type": kind,
        "user": person.id,
        "reaction": name,
        "item": {"type": "message", "channel": channel.id, "ts": message.ts},
        "item_user": message.user,
        "event_ts": world.ts(),
    }


def joined_event(world: World, channel: Channel, inviter: Person | None) -> Json:
    """The bot is a member now."""
    event: Json = {
        "type": "member_joined_channel",
        "user": BOT_USER,
        "channel": channel.id,
        "channel_type": "G" if channel.kind == "group" else "C",
        "team": TEAM,
        "event_ts": world.ts(),
    }
    return event | ({"inviter": inviter.id} if inviter else {})


def joined_note(world: World, channel: Channel, inviter: Person | None) -> Json:
    """What stands in the channel about it."""
    ts = world.ts()
    event: Json = {
        "type": "message",
        "subtype": "channel_join",
        "user": BOT_USER,
        "text": f"<@{BOT_USER}> has joined the channel",
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": ts,
        "event_ts": ts,
    }
    return event | ({"inviter": inviter.id} if inviter else {})


def stopped_event(world: World, channel: Channel, thread: str, person: Person, streams: list[str]) -> Json:
    return {
        "type": "agent_session_stopped",
        "channel": channel.id,
        "thread_ts": thread,
        "user": person.id,
        "streaming_message_ts": streams,
        "event_ts": world.ts(),
    }


def user_json(person: Person) -> Json:
    return {"id": person.id, "username": person.name.lower(), "name": person.name.lower(), "team_id": TEAM}


def press_payload(
    world: World, channel: Channel, message: Message, person: Person, button: Button, response_url: str
) -> Json:
    """``block_actions``."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.ephemeral_to),
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    action: Json = {
        "action_id": button.action_id,
        "block_id": button.block_id,
        "text": {"type": "plain_text", "text": button.label, "emoji": True},
        "type": "button",
        "action_ts": world.ts(),
    }
    action |= {"value": button.value} if button.value else {}
    action |= {"style": button.style} if button.style else {}
    payload: Json = {
        "type": "block_actions",
        "user": user_json(person),
        "api_app_id": APP,
        "token": VERIFICATION,
        "container": container,
        "trigger_id": trigger(),
        "team": {"id": TEAM, "domain": DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": channel.id, "name": "directmessage" if channel.is_dm else channel.name},
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [action],
    }
    if not message.ephemeral_to:
        payload["message"] = world.message_json(channel, message)
    return payload


def command_payload(channel: Channel, person: Person, command: str, text: str, response_url: str) -> Json:
    return {
        "token": VERIFICATION,
        "team_id": TEAM,
        "team_domain": DOMAIN,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.is_dm else channel.name,
        "user_id": person.id,
        "user_name": person.name.lower(),
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger(),
    }


def trigger() -> str:
    return f"{uuid.uuid4().int % 10**13}.1700000000.{uuid.uuid4().hex}"
