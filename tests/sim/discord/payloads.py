"""People, guilds, channels and messages as the API writes them, and what is left of a message without its content."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.sim.discord.nouns import (
    DM,
    FORUM,
    REPLY,
    THREAD_STARTER,
    THREADS,
    Channel,
    Guild,
    Member,
    Message,
    Person,
    Role,
    walk,
)
from tests.sim.discord.permissions import sees
from tests.sim.discord.refusals import Json


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


def role_json(role: Role) -> Json:
    return {
        "id": str(role.id),
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": role.position,
        "permissions": str(role.permissions),
        "managed": role.managed,
        "mentionable": False,
        "flags": 0,
    }


def member_json(member: Member, *, user: bool = True) -> Json:
    body: Json = {
        "roles": [str(role) for role in member.roles],
        "joined_at": iso(member.joined),
        "nick": None,
        "avatar": None,
        "banner": None,
        "premium_since": None,
        "communication_disabled_until": None,
        "pending": False,
        "flags": 0,
        "deaf": False,
        "mute": False,
    }
    return {**body, "user": member.person.to_json()} if user else body


def channel_json(channel: Channel, bot: Person) -> Json:
    body: Json = {"id": str(channel.id), "type": channel.type, "flags": 0}
    body["last_message_id"] = str(channel.last_message_id) if channel.last_message_id else None
    if channel.type == DM:
        assert channel.person is not None
        return {**body, "recipients": [channel.person.to_json()]}
    assert channel.guild is not None
    body |= {"guild_id": str(channel.guild.id), "name": channel.name, "nsfw": False, "rate_limit_per_user": 0}
    body["parent_id"] = str(channel.parent.id) if channel.parent else None
    if channel.type in THREADS:
        return body | _thread_fields(channel, bot)
    body["position"] = list(channel.guild.channels).index(channel.id) if channel.id in channel.guild.channels else 0
    body["topic"] = channel.topic
    body["permission_overwrites"] = [
        {"id": str(id_), "type": kind, "allow": str(allow), "deny": str(deny)}
        for id_, (kind, allow, deny) in channel.overwrites.items()
    ]
    if channel.type == FORUM:
        body |= {"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None}
        body |= {"default_forum_layout": 0, "flags": 16 if channel.require_tag else 0}
    return body


def _thread_fields(channel: Channel, bot: Person) -> Json:
    body: Json = {
        "owner_id": str(channel.owner_id),
        "message_count": min(channel.sent, 50),
        "member_count": min(len(channel.members), 50),
        "total_message_sent": channel.sent,
        "applied_tags": [],
        "thread_metadata": {
            "archived": channel.archived,
            "archive_timestamp": iso(channel.since),
            "auto_archive_duration": channel.auto_archive,
            "locked": channel.locked,
            "create_timestamp": iso(channel.since),
        },
    }
    if bot.id in channel.members:
        body["member"] = thread_member_json(channel, bot.id)
    return body


def thread_member_json(channel: Channel, person: int) -> Json:
    joined = iso(channel.members.get(person, channel.since))
    return {"id": str(channel.id), "user_id": str(person), "join_timestamp": joined, "flags": 0}


def guild_json(guild: Guild, bot: Person) -> Json:
    """The guild as REST writes it."""
    return {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "banner": None,
        "description": None,
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": [role_json(role) for role in guild.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": [],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "max_members": 500000,
        "vanity_url_code": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "nsfw_level": 0,
        "premium_progress_bar_enabled": False,
        "incidents_data": None,
    }


def guild_create_json(guild: Guild, bot: Person, *, everybody: bool) -> Json:
    """The guild as GUILD_CREATE tells it: threads are those the bot can see; members, unless ``everybody``, the bot."""
    channels = [channel for channel in guild.channels.values() if not channel.is_thread]
    threads = [channel for channel in guild.channels.values() if channel.is_thread and not channel.archived]
    return guild_json(guild, bot) | {
        "joined_at": iso(guild.members[bot.id].joined),
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "voice_states": [],
        "members": [member_json(one) for one in guild.members.values() if everybody or one.person.id == bot.id],
        "channels": [channel_json(channel, bot) for channel in channels],
        "threads": [channel_json(one, bot) for one in threads if sees(one, bot.id)],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def message_json(message: Message, people: dict[int, Person], *, quoting: bool = True) -> Json:
    """The message as REST writes it; a quoted message quotes no further."""
    body: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "type": message.type,
        "author": message.author.to_json(),
        "content": message.content,
        "timestamp": iso(message.created),
        "edited_timestamp": iso(message.edited) if message.edited is not None else None,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [people[id_].to_json() for id_ in message.mentions],
        "mention_roles": [str(role) for role in message.mention_roles],
        "attachments": message.attachments,
        "embeds": message.embeds,
        "components": message.components,
        "pinned": message.pinned,
        "flags": message.flags,
    }
    if message.author.webhook:
        body["webhook_id"] = str(message.author.id)
    if message.stickers:
        body["sticker_items"] = message.stickers
    if message.reactions:
        body["reactions"] = [reaction_json(name, who) for name, who in message.reactions.items()]
    if message.reference is not None:
        body["message_reference"] = message.reference
        if quoting and message.type in (REPLY, THREAD_STARTER):
            quoted = message.reply_to
            alive = quoted is not None and not quoted.gone
            body["referenced_message"] = message_json(quoted, people, quoting=False) if quoted and alive else None
    return body | message.extra


def reaction_json(name: str, who: list[int]) -> Json:
    return {
        "count": len(who),
        "count_details": {"burst": 0, "normal": len(who)},
        "me": False,
        "me_burst": False,
        "emoji": emoji_json(name),
        "burst_colors": [],
    }


def emoji_json(name: str) -> Json:
    """A Unicode emoji, or a custom one written name:id."""
    word, colon, number = name.partition(":")
    return {"id": number, "name": word, "animated": False} if colon else {"id": None, "name": name}


def message_event(message: Message, people: dict[int, Person]) -> Json:
    """The message as the gateway tells it."""
    body = message_json(message, people)
    guild = message.channel.guild
    if guild is not None:
        body["guild_id"] = str(guild.id)
        if message.author.id in guild.members and not message.author.webhook:
            body["member"] = member_json(guild.members[message.author.id], user=False)
    if message.nonce is not None:
        body["nonce"] = message.nonce
    return body


def without_content(body: Json, bot: Person, *, direct: bool) -> Json:
    """The message for an app without the message content intent: fields are emptied unless it is ``direct`` (in a DM),
    the app's own, or mentions the app (discord-api-docs, gateway: message content intent)."""
    body = dict(body)
    if isinstance(body.get("referenced_message"), dict):
        body["referenced_message"] = without_content(body["referenced_message"], bot, direct=direct)
    if direct or body["author"]["id"] == str(bot.id) or any(user["id"] == str(bot.id) for user in body["mentions"]):
        return body
    empty: Json = {"content": "", "embeds": [], "attachments": [], "components": []}
    body |= empty
    body.pop("poll", None)
    if "message_snapshots" in body:
        body["message_snapshots"] = [{"message": one["message"] | empty} for one in body["message_snapshots"]]
    return body


def texts_of(message: Message) -> str:
    """Everything there is to read: content, embeds (but previews), text displays."""
    parts = [message.content]
    for embed in [one for one in message.embeds if one.get("type") != "link"]:
        parts += [embed.get("title", ""), embed.get("description", "")]
        parts += [f"{row['name']}\n{row['value']}" for row in embed.get("fields", ())]
        parts.append((embed.get("footer") or {}).get("text", ""))
    parts += [one["content"] for one in walk(message.components) if one["type"] == 10]
    return "\n".join(part for part in parts if part)
