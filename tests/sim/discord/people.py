"""The side of the people: what a test does in their names, and what happens to places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.sim.discord.mentions import named_in, pings
from tests.sim.discord.nouns import DEFAULT, FORUM, REPLY, SUPPRESS_EMBEDS, TEXT, Channel, Guild, Message, Person
from tests.sim.discord.payloads import channel_json, message_json
from tests.sim.discord.permissions import bits, sees
from tests.sim.discord.refusals import Json
from tests.sim.discord.world import World, place

LINK = re.compile(r"(?<!<)https?://[^\s<>]+")
File = tuple[str, str, bytes]
"""Name, media type, content."""


class People:
    """Needs ``world``. What of it the bot hears, its intents and permissions decide."""

    world: World

    def person(self, id: int, name: str, *, language: str = "en", bot: bool = False, webhook: bool = False) -> Person:
        """Somebody: a person, another ``bot``, or a ``webhook`` that posts."""
        return self.world.person(id, name, language=language, bot=bot, webhook=webhook)

    def dm(self, person: Person) -> Channel:
        return self.world.dm(person)

    def guild(self, id: int, name: str, *, members: Sequence[Person] = (), channel: str = "general") -> Guild:
        """A guild with the bot in it and one text channel; the bot hears of it like of being added."""
        return self.world.guild(id, name, members=members, channel=channel)

    def channel(self, guild: Guild, name: str, *, type: int = TEXT) -> Channel:
        """The channel of this name, made where there is none."""
        for channel in guild.channels.values():
            if channel.name == name and channel.type == type:
                return channel
        return self.world.add_channel(Channel(self.world.snowflakes.next(), type, name, guild))

    def forum(self, guild: Guild, name: str, *, require_tag: bool = False) -> Channel:
        channel = self.channel(guild, name, type=FORUM)
        channel.require_tag = require_tag
        return channel

    def thread(
        self, channel: Channel, name: str, *, owner: Person, private: bool = False, message_id: int | None = None
    ) -> Channel:
        """A person opens a thread, on its own or from a message. Of a private one the bot hears once it is added."""
        starter = channel.messages[message_id] if message_id is not None else None
        return self.world.add_thread(channel, name, owner, private=private, starter=starter)

    def forum_post(self, forum: Channel, person: Person, title: str, text: str) -> Channel:
        """A person posts in a forum: a thread whose first message has the thread's id."""
        thread = self.world.add_thread(forum, title, person)
        self.write(thread, person, text, id=thread.id)
        return thread

    def add_to_thread(self, thread: Channel, person: Person) -> None:
        """Somebody, or the bot, is added to a thread."""
        thread.members[person.id] = self.world.now()
        if person.id == self.world.bot.id:
            self.world.gateway.tell("THREAD_CREATE", channel_json(thread, person), thread)

    # messages

    async def say(self, channel: Channel, person: Person, text: str = "", **options: Any) -> Json:
        """A person writes; the message as the bot would get it with every intent. ``<@BOT>`` is the bot's mention.

        ``reply_to`` is a message id (``ping`` False: without a ping), ``files`` are (name, media type, content),
        ``stickers`` names, ``flags``, ``type`` as Discord's, ``embeds``; ``extra`` are further fields
        (``message_snapshots``, ``poll``, …).
        """
        return message_json(self.write(channel, person, text, **options), self.world.people)

    def write(
        self,
        channel: Channel,
        person: Person,
        text: str,
        *,
        reply_to: int | str | None = None,
        ping: bool = True,
        files: Sequence[File] | None = None,
        stickers: Sequence[str] | None = None,
        embeds: list[Json] | None = None,
        flags: int = 0,
        type: int = DEFAULT,
        id: int | None = None,
        extra: Json | None = None,
    ) -> Message:
        world = self.world
        if channel.guild is not None:
            world.join(channel.guild, person)
        message = world.new_message(channel, person, id=id, type=type, flags=flags, embeds=list(embeds or ()))
        quoted = channel.messages.get(int(reply_to)) if reply_to is not None else None
        if reply_to is not None:
            if quoted is None:
                raise LookupError(f"no message {reply_to} to reply to")
            message.type, message.reply_to = REPLY, quoted
            message.reference = {"type": 0, "message_id": str(quoted.id), "channel_id": str(channel.id)}
            message.reference |= place(channel)
        self._tell(message, text)
        if quoted is not None and ping:
            message.mentions = list(dict.fromkeys([*message.mentions, quoted.author.id]))
        for name, kind, content in files or ():
            number = world.snowflakes.next()
            message.attachments.append(world.files.attachment(channel.id, number, name, kind, content))
        for sticker in stickers or ():
            message.stickers.append({"id": str(world.snowflakes.next()), "name": sticker, "format_type": 1})
        message.extra |= extra or {}
        if not person.bot and not person.webhook:
            world.report.said(channel.id, message.id)
        world.publish(message)
        if (link := LINK.search(message.content)) is not None and not flags & SUPPRESS_EMBEDS:
            self._preview(message, link[0])
        return message

    def _preview(self, message: Message, url: str) -> None:
        message.embeds = [*message.embeds, {"type": "link", "url": url, "title": url}]
        self.world.changed_message(message)

    def _tell(self, message: Message, text: str) -> None:
        message.content = re.sub("<@BOT>", f"<@{self.world.bot.id}>", text)
        named = named_in(message.content)
        message.pings = pings(named)
        self.world.name_mentions(message, named)

    async def edit(self, channel: Channel, message_id: int | str, text: str) -> Json:
        """Whoever wrote the message changes its text."""
        message = channel.messages[int(message_id)]
        self._tell(message, text)
        message.edited = self.world.now()
        self.world.changed_message(message)
        return message_json(message, self.world.people)

    async def unfurl(self, channel: Channel, message_id: int | str, url: str) -> None:
        """Discord adds a preview to a message: a MESSAGE_UPDATE without an edit. For a link that a person writes (but
        not within <>) it does so by itself."""
        self._preview(channel.messages[int(message_id)], url)

    async def types(self, channel: Channel, person: Person) -> None:
        """A person starts to type."""
        body: Json = {"channel_id": str(channel.id), "user_id": str(person.id), "timestamp": int(self.world.now())}
        self.world.gateway.tell("TYPING_START", body | place(channel), channel)

    async def delete(self, channel: Channel, message_id: int | str) -> None:
        self.world.remove_message(channel.messages[int(message_id)])

    async def delete_many(self, channel: Channel, message_ids: Sequence[int | str]) -> None:
        """A moderator deletes several at once."""
        self.world.remove_messages(channel, [int(one) for one in message_ids])

    async def react(self, channel: Channel, message_id: int | str, person: Person, emoji: str) -> None:
        self.world.react(channel.messages[int(message_id)], person, emoji, add=True)

    async def unreact(self, channel: Channel, message_id: int | str, person: Person, emoji: str) -> None:
        self.world.react(channel.messages[int(message_id)], person, emoji, add=False)

    # interactions

    async def press(
        self,
        channel: Channel,
        person: Person,
        message_id: int | str,
        key: str,
        *,
        values: list[str] | None = None,
        stale: bool = False,
    ) -> str:
        """Press the button of this custom id or label, or choose ``values`` in a menu; the interaction's id. ``stale``:
        a button that is no longer there, as when the message changed meanwhile."""
        return self.world.interactions.press(channel, person, int(message_id), key, values, stale=stale)

    async def slash(self, channel: Channel, person: Person, name: str, options: Mapping[str, Any] | None = None) -> str:
        """Use a slash command; LookupError where the client would not offer it."""
        return self.world.interactions.slash(channel, person, name, options or {})

    async def submit(self, person: Person, interaction_id: str, values: Mapping[str, str]) -> str:
        """Send the form that answered an interaction."""
        return self.world.interactions.submit(person, int(interaction_id), values)

    async def feed(self, event: str, raw: Any) -> int:
        """Any event for every session, also a broken one; how many sessions got it."""
        return self.world.gateway.feed(event, raw)

    # places

    def forbid(self, channel: Channel, *permissions: str) -> None:
        """The bot may no longer write there, or lacks the named permissions ("view_channel": it sees nothing)."""
        names = permissions or ("send_messages", "send_messages_in_threads")
        spot = channel.parent if channel.is_thread and channel.parent is not None else channel
        _, allow, deny = spot.overwrites.get(self.world.bot.id, (1, 0, 0))
        spot.overwrites[self.world.bot.id] = (1, allow & ~bits(*names), deny | bits(*names))
        self.world.change_channel(spot)

    def allow(self, channel: Channel, *permissions: str) -> None:
        """Take back ``forbid``; named permissions are granted beyond what the role has."""
        spot = channel.parent if channel.is_thread and channel.parent is not None else channel
        spot.overwrites.pop(self.world.bot.id, None)
        if permissions:
            spot.overwrites[self.world.bot.id] = (1, bits(*permissions), 0)
        self.world.change_channel(spot)
        threads = [one for one in self.world.channels.values() if one.parent is spot and not one.archived]
        body: Json = {"guild_id": place(spot)["guild_id"], "channel_ids": [str(spot.id)], "members": []}
        body["threads"] = [channel_json(one, self.world.bot) for one in threads if sees(one, self.world.bot.id)]
        self.world.gateway.tell("THREAD_LIST_SYNC", body, spot)

    def close_dm(self, person: Person, *, closed: bool = True) -> None:
        """The person takes no direct messages from the bot (or does again)."""
        self.world.dm(person).closed = closed

    def archive(self, thread: Channel, *, locked: bool = False) -> None:
        thread.archived, thread.locked = True, locked
        self.world.change_channel(thread)

    def remove(self, channel: Channel) -> None:
        """Delete a channel, with its threads."""
        self.world.remove_channel(channel)

    def outage(self, guild: Guild, on: bool = True) -> None:
        """A guild becomes unavailable to the gateway, or comes back."""
        if on:
            self.world.gateway.tell("GUILD_DELETE", {"id": str(guild.id), "unavailable": True})
        else:
            self.world.tell_guild(guild, new=False)

    def kick(self, guild: Guild) -> None:
        """The bot is thrown out of a guild."""
        guild.bot_in = False
        self.world.gateway.tell("GUILD_DELETE", {"id": str(guild.id)})
        del guild.members[self.world.bot.id]
