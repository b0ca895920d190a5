"""The calls about channels, threads, direct messages and guilds."""

from __future__ import annotations

from tests.sim.discord.asked import Asked, Done, snowflake
from tests.sim.discord.messages import make, seen
from tests.sim.discord.nouns import CHATTY, DM, FORUM, NEWS, PRIVATE_THREAD, TEXT, Channel, Guild
from tests.sim.discord.payloads import channel_json, guild_json, member_json, role_json, thread_member_json
from tests.sim.discord.permissions import need, sees
from tests.sim.discord.refusals import FormErrors, Json, refused

ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


def open_dm(asked: Asked) -> Done:
    number = snowflake(str(asked.body.get("recipient_id", "")), "recipient_id")
    person = asked.world.people.get(number)
    if person is None:
        raise refused(10013)
    if person.bot or person.webhook:
        raise refused(50033)
    return 200, channel_json(asked.world.dm(person), asked.world.bot)


def get_channel(asked: Asked) -> Done:
    return 200, channel_json(asked.channel(), asked.world.bot)


def patch_channel(asked: Asked) -> Done:
    """Change a channel's name and topic, or a thread's name and whether it is archived or locked."""
    channel = asked.channel()
    if channel.type == DM:
        raise refused(50024)
    bot, body = asked.world.bot, asked.body
    own = channel.is_thread and channel.owner_id == bot.id
    if not own:
        need(channel, bot.id, "manage_threads" if channel.is_thread else "manage_channels")
    errors = FormErrors()
    if "name" in body:
        errors.too_long("name", body["name"] or "", 100, least=1)
    if body.get("topic"):
        errors.too_long("topic", body["topic"], 1024)
    if body.get("auto_archive_duration", 60) not in ARCHIVE_MINUTES:
        errors.add("auto_archive_duration", "BASE_TYPE_CHOICES", f"Value must be one of {ARCHIVE_MINUTES}.")
    errors.raise_any()
    if channel.archived and set(body) - {"archived", "locked"} and body.get("archived") is not False:
        raise refused(50083)
    if {"name", "topic"} & set(body):
        asked.rates.rename(channel.id)
    channel.name, channel.topic = body.get("name", channel.name), body.get("topic", channel.topic)
    channel.archived, channel.locked = body.get("archived", channel.archived), body.get("locked", channel.locked)
    channel.auto_archive = body.get("auto_archive_duration", channel.auto_archive)
    asked.world.change_channel(channel)
    return 200, channel_json(channel, bot)


def delete_channel(asked: Asked) -> Done:
    """Delete a channel; of a DM only the bot's view closes."""
    channel = asked.channel()
    body = channel_json(channel, asked.world.bot)
    if channel.type != DM:
        need(channel, asked.world.bot.id, "manage_threads" if channel.is_thread else "manage_channels")
        asked.world.remove_channel(channel)
    return 200, body


def thread_from_message(asked: Asked) -> Done:
    """Open a public thread, of an announcement channel one of its own kind, under the message's own id."""
    channel = _threadable(asked)
    message = asked.message(channel)
    if message.type not in CHATTY:
        raise refused(50021)
    if "thread" in message.extra:
        raise refused(160004)
    name, minutes = _thread_fields(asked.body)
    thread = asked.world.add_thread(channel, name, asked.world.bot, starter=message)
    thread.auto_archive = minutes
    return 201, channel_json(thread, asked.world.bot)


def start_thread(asked: Asked) -> Done:
    """A thread without a message, or a forum's post with its first message."""
    channel = asked.world.channel_of(asked.id("channel"))
    if channel.type == FORUM:
        return _post(asked, channel)
    channel = _threadable(asked)
    name, minutes = _thread_fields(asked.body)
    private = asked.body.get("type", PRIVATE_THREAD) == PRIVATE_THREAD
    if private:
        need(channel, asked.world.bot.id, "create_private_threads")
    thread = asked.world.add_thread(channel, name, asked.world.bot, private=private)
    thread.auto_archive = minutes
    return 201, channel_json(thread, asked.world.bot)


def _post(asked: Asked, forum: Channel) -> Done:
    need(forum, asked.world.bot.id, "send_messages")
    name, minutes = _thread_fields(asked.body)
    if forum.require_tag and not asked.body.get("applied_tags"):
        raise refused(40067)
    draft = asked.draft(asked.body.get("message") or {})
    thread = asked.world.add_thread(forum, name, asked.world.bot)
    thread.auto_archive = minutes
    message = make(asked, thread, draft, id=thread.id)
    asked.world.publish(message)
    return 201, {**channel_json(thread, asked.world.bot), "message": seen(asked, message)}


def _threadable(asked: Asked) -> Channel:
    channel = asked.channel("create_public_threads")
    if channel.type not in (TEXT, NEWS):
        raise refused(50024)
    return channel


def _thread_fields(body: Json) -> tuple[str, int]:
    name, minutes = str(body.get("name") or ""), body.get("auto_archive_duration") or 4320
    errors = FormErrors()
    errors.too_long("name", name, 100, least=1)
    if minutes not in ARCHIVE_MINUTES:
        errors.add("auto_archive_duration", "BASE_TYPE_CHOICES", f"Value must be one of {ARCHIVE_MINUTES}.")
    errors.raise_any()
    return name, minutes


def join_thread(asked: Asked) -> Done:
    channel = _thread(asked)
    if channel.archived:
        raise refused(50083)
    channel.members.setdefault(asked.world.bot.id, asked.world.now())
    assert channel.guild is not None
    joined = {**thread_member_json(channel, asked.world.bot.id), "guild_id": str(channel.guild.id)}
    asked.world.gateway.tell("THREAD_MEMBER_UPDATE", joined, channel)
    return 204, None


def leave_thread(asked: Asked) -> Done:
    _thread(asked).members.pop(asked.world.bot.id, None)
    return 204, None


def _thread(asked: Asked) -> Channel:
    channel = asked.channel()
    if not channel.is_thread:
        raise refused(50024)
    return channel


def archived_threads(asked: Asked) -> Done:
    channel = asked.channel("read_message_history")
    found = [one for one in asked.world.channels.values() if one.parent is channel and one.archived]
    return 200, _threads(asked, [one for one in found if one.type != PRIVATE_THREAD]) | {"has_more": False}


def active_threads(asked: Asked) -> Done:
    guild = _guild(asked)
    every = [one for one in guild.channels.values() if one.is_thread and not one.archived]
    return 200, _threads(asked, [one for one in every if sees(one, asked.world.bot.id)])


def _threads(asked: Asked, threads: list[Channel]) -> Json:
    bot = asked.world.bot
    mine = [thread_member_json(one, bot.id) for one in threads if bot.id in one.members]
    return {"threads": [channel_json(one, bot) for one in sorted(threads, key=lambda one: -one.id)], "members": mine}


def get_guild(asked: Asked) -> Done:
    body = guild_json(_guild(asked), asked.world.bot)
    if asked.query.get("with_counts", "").lower() in ("1", "true"):
        count = len(_guild(asked).members)
        body |= {"approximate_member_count": count, "approximate_presence_count": count}
    return 200, body


def guild_channels(asked: Asked) -> Done:
    channels = [one for one in _guild(asked).channels.values() if not one.is_thread]
    return 200, [channel_json(one, asked.world.bot) for one in channels]


def guild_roles(asked: Asked) -> Done:
    return 200, [role_json(role) for role in _guild(asked).roles.values()]


def guild_member(asked: Asked) -> Done:
    member = _guild(asked).members.get(asked.id("user"))
    if member is None:
        raise refused(10007 if asked.id("user") in asked.world.people else 10013)
    return 200, member_json(member)


def my_guilds(asked: Asked) -> Done:
    mine = [one for one in asked.world.guilds.values() if one.bot_in]
    return 200, [{**guild_json(one, asked.world.bot), "owner": False, "permissions": "0"} for one in mine]


def _guild(asked: Asked) -> Guild:
    guild = asked.world.guilds.get(asked.id("guild"))
    if guild is None or not guild.bot_in:
        raise refused(10004)
    return guild
