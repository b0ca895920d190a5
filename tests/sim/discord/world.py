"""Who is there and what was said: people, guilds, channels, threads, messages, and what of it the bot is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.sim.discord.commands import Commands
from tests.sim.discord.files import Files
from tests.sim.discord.gateway import Gateway
from tests.sim.discord.interactions import Interactions
from tests.sim.discord.mentions import Named
from tests.sim.discord.nouns import (
    CHATTY,
    DM,
    FORUM,
    HAS_THREAD,
    NEWS,
    NEWS_THREAD,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    TEXT,
    THREAD_CREATED,
    THREAD_STARTER,
    Channel,
    Guild,
    Member,
    Message,
    Person,
    Role,
    Snowflakes,
)
from tests.sim.discord.payloads import channel_json, emoji_json, guild_create_json, member_json, message_event
from tests.sim.discord.permissions import BITS, EVERYBODY, permissions_of
from tests.sim.discord.refusals import Json, refused
from tests.sim.discord.report import Report


class World:
    """All state. ``now`` is Unix time, ``monotonic`` what waits are measured by."""

    def __init__(
        self,
        bot: Person,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        note: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self.bot, self.now, self.monotonic, self.note, self.changed = bot, now, monotonic, note, changed
        self.snowflakes, self.files, self.report = Snowflakes(now), Files(now), Report()
        self.people: dict[int, Person] = {bot.id: bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.direct: dict[int, Channel] = {}
        self._owner: Person | None = None
        self.nonces: dict[str, tuple[float, Message]] = {}
        self.commands = Commands(bot.id, self.snowflakes, monotonic, note)
        self.interactions = Interactions(self)
        self.gateway: Gateway

    # who and where

    def person(self, id: int, name: str, *, language: str = "en", bot: bool = False, webhook: bool = False) -> Person:
        someone = self.people[id] = Person(id, name, language, bot, webhook)
        return someone

    def dm(self, person: Person) -> Channel:
        if person.id not in self.direct:
            channel = Channel(self.snowflakes.next(), DM, person=person, since=self.now())
            self.direct[person.id] = self.channels[channel.id] = channel
        return self.direct[person.id]

    def guild(self, id: int, name: str, *, members: Sequence[Person] = (), channel: str = "general") -> Guild:
        owner = self._owner = self._owner or self.person(self.snowflakes.next(), "Owner")
        guild = self.guilds[id] = Guild(id, name, owner.id)
        guild.roles[id] = Role(id, "@everyone", EVERYBODY)
        mine = Role(self.snowflakes.next(), self.bot.name, EVERYBODY, 1, managed=True)
        guild.roles[mine.id] = mine
        for person in (owner, *members):
            guild.members[person.id] = Member(person, self.now())
        guild.members[self.bot.id] = Member(self.bot, self.now(), [mine.id])
        if channel:
            self.add_channel(Channel(self.snowflakes.next(), TEXT, channel, guild), tell=False)
        self.tell_guild(guild, new=True)
        return guild

    def tell_guild(self, guild: Guild, *, new: bool) -> None:
        """Tell of a guild that the bot was added to, or that is available again."""
        body = guild_create_json(guild, self.bot, everybody=False)
        if new:
            del body["unavailable"]
        self.gateway.tell("GUILD_CREATE", body)

    def join(self, guild: Guild, person: Person) -> None:
        """A person becomes a member, if they are not."""
        if person.id not in guild.members and not person.webhook:
            guild.members[person.id] = Member(person, self.now())
            body = {**member_json(guild.members[person.id]), "guild_id": str(guild.id)}
            self.gateway.tell("GUILD_MEMBER_ADD", body)

    def add_channel(self, channel: Channel, *, tell: bool = True) -> Channel:
        assert channel.guild is not None
        channel.since = self.now()
        channel.guild.channels[channel.id] = self.channels[channel.id] = channel
        if tell and not channel.is_thread:
            self.gateway.tell("CHANNEL_CREATE", channel_json(channel, self.bot), channel)
        return channel

    def change_channel(self, channel: Channel) -> None:
        event = "THREAD_UPDATE" if channel.is_thread else "CHANNEL_UPDATE"
        self.gateway.tell(event, channel_json(channel, self.bot))

    def add_thread(
        self,
        parent: Channel,
        name: str,
        owner: Person,
        *,
        private: bool = False,
        starter: Message | None = None,
    ) -> Channel:
        """Open a thread, also from a message (``starter``, whose id it takes)."""
        number = starter.id if starter is not None else self.snowflakes.next()
        kind = NEWS_THREAD if parent.type == NEWS else PRIVATE_THREAD if private else PUBLIC_THREAD
        thread = Channel(number, kind, name, parent.guild, parent=parent, owner_id=owner.id)
        thread.members[owner.id] = self.now()
        self.add_channel(thread)
        self.gateway.tell("THREAD_CREATE", {**channel_json(thread, self.bot), "newly_created": True}, thread)
        if parent.type != FORUM and starter is None and not private:
            told = self.new_message(parent, owner, content=name, type=THREAD_CREATED)
            told.reference = {"type": 0, "channel_id": str(thread.id), "guild_id": str(_guild_of(parent).id)}
            self.publish(told)
        if starter is not None:
            starter.extra["thread"] = channel_json(thread, self.bot)
            starter.flags |= HAS_THREAD
            self.gateway.tell("MESSAGE_UPDATE", message_event(starter, self.people), parent)
            self.publish(self._first_of(thread, starter))
        return thread

    def _first_of(self, thread: Channel, starter: Message) -> Message:
        """What a thread begins with that was opened from a message: nothing but a pointer to it."""
        first = self.new_message(thread, starter.author, type=THREAD_STARTER, reply_to=starter)
        first.reference = {"type": 0, "message_id": str(starter.id), "channel_id": str(starter.channel.id)}
        first.reference |= place(starter.channel)
        return first

    def remove_channel(self, channel: Channel) -> None:
        self.channels.pop(channel.id, None)
        if channel.guild is None:
            self.direct = {key: one for key, one in self.direct.items() if one is not channel}
            return
        body = channel_json(channel, self.bot)
        if channel.is_thread:
            body = {key: body[key] for key in ("id", "guild_id", "parent_id", "type")}
        self.gateway.tell("THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", body, channel)
        channel.guild.channels.pop(channel.id, None)
        for thread in [one for one in channel.guild.channels.values() if one.parent is channel]:
            self.channels.pop(thread.id, None)
            channel.guild.channels.pop(thread.id, None)

    # messages

    def channel_of(self, id: int) -> Channel:
        """The channel where it exists and the bot could be. Refused otherwise (10003)."""
        channel = self.channels.get(id)
        if channel is None:
            raise refused(10003)
        if channel.guild is not None and not channel.guild.bot_in:
            raise refused(50001)
        return channel

    def message_of(self, channel: Channel, id: int) -> Message:
        message = channel.messages.get(id)
        if message is None:
            raise refused(10008)
        return message

    def new_message(self, channel: Channel, author: Person, *, id: int | None = None, **fields: Any) -> Message:
        """Make a message; ``publish`` puts it into the channel."""
        return Message(id or self.snowflakes.next(), channel, author, self.now(), **fields)

    def publish(self, message: Message) -> None:
        """Put a message into its channel and tell the bot."""
        channel = message.channel
        if channel.is_thread:
            message.extra.setdefault("position", channel.sent)
            if channel.archived:
                channel.archived = False
                self.change_channel(channel)
            channel.members.setdefault(message.author.id, self.now())
        channel.messages[message.id] = message
        channel.last_message_id = message.id
        channel.sent += message.type in CHATTY
        if message.author.id == self.bot.id:
            channel.typing_until = 0.0
        self.gateway.tell("MESSAGE_CREATE", message_event(message, self.people), channel)
        self.changed()

    def changed_message(self, message: Message) -> None:
        """Tell of an edit. Of an ephemeral message only its person's client hears."""
        if message.only_for is None:
            self.gateway.tell("MESSAGE_UPDATE", message_event(message, self.people), message.channel)
        self.changed()

    def remove_message(self, message: Message) -> None:
        message.gone = True
        channel = message.channel
        if channel.messages.pop(message.id, None) is not None:
            body = {"id": str(message.id), "channel_id": str(channel.id)} | place(channel)
            self.gateway.tell("MESSAGE_DELETE", body, channel)
        self.interactions.forget(message)
        self.changed()

    def remove_messages(self, channel: Channel, ids: Sequence[int]) -> None:
        """Delete several at once."""
        for id_ in ids:
            if (message := channel.messages.pop(id_, None)) is not None:
                message.gone = True
        body = {"ids": [str(one) for one in ids], "channel_id": str(channel.id)} | place(channel)
        self.gateway.tell("MESSAGE_DELETE_BULK", body, channel)
        self.changed()

    def react(self, message: Message, person: Person, name: str, *, add: bool) -> None:
        """A reaction (a Unicode emoji, or name:id) comes or goes."""
        who = message.reactions.setdefault(name, [])
        changed = (person.id in who) != add
        if changed and add:
            who.append(person.id)
        elif changed:
            who.remove(person.id)
        if not who:
            del message.reactions[name]
        if not changed:
            return
        body: Json = {"user_id": str(person.id), "message_id": str(message.id), "emoji": emoji_json(name)}
        body |= {"channel_id": str(message.channel.id), "burst": False, "type": 0} | place(message.channel)
        if add:
            body["message_author_id"] = str(message.author.id)
            guild = message.channel.guild
            body |= {"member": member_json(guild.members[person.id])} if guild and person.id in guild.members else {}
        self.gateway.tell("MESSAGE_REACTION_ADD" if add else "MESSAGE_REACTION_REMOVE", body, message.channel)
        self.changed()

    def name_mentions(self, message: Message, named: Named) -> None:
        """Fill in whom the message mentions, of those that exist; @everyone only by who may."""
        guild = message.channel.guild
        message.mentions = [one for one in named.users if one in self.people]
        message.mention_roles = [one for one in named.roles if guild is not None and one in guild.roles]
        may = permissions_of(message.channel, message.author.id) & BITS["mention_everyone"]
        message.mention_everyone = bool(named.everybody and guild is not None and may)


def place(channel: Channel) -> Json:
    """The field that tells a guild's event from a direct message's."""
    return {"guild_id": str(channel.guild.id)} if channel.guild is not None else {}


def _guild_of(channel: Channel) -> Guild:
    assert channel.guild is not None
    return channel.guild
