"""The side of the people: what a test does in their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.sim.slack import events
from tests.sim.slack.chat import remove
from tests.sim.slack.deliveries import COMMANDS, INTERACTIVE, Deliveries, Delivery
from tests.sim.slack.nouns import BOT_USER, Channel, Json, Message, Person, Refused
from tests.sim.slack.responses import Responses, plain
from tests.sim.slack.world import World

File = tuple[str, str, bytes]
"""Name, media type, content."""


class People:
    """Needs ``world``, ``deliveries`` and ``responses``. In what people write, ``<@BOT>`` is a mention of the bot."""

    world: World
    deliveries: Deliveries
    responses: Responses

    def person(self, id: str, name: str, *, language: str = "en-US", bot: bool = False) -> Person:
        return self.world.person(id, name, language=language, bot=bot)

    def dm(self, person: Person) -> Channel:
        return self.world.dm(person)

    def group_dm(self, *people: Person) -> Channel:
        return self.world.group_dm(people)

    def channel(
        self, id: str, name: str, *, members: Sequence[Person] = (), bot_in: bool = True, private: bool = False
    ) -> Channel:
        return self.world.channel(id, name, members=members, bot_in=bot_in, private=private)

    def place(self, id: str) -> Channel:
        """A channel that exists. KeyError otherwise."""
        return self.world.channels[id]

    async def say(
        self,
        channel: Channel,
        person: Person,
        text: str,
        *,
        thread: str | None = None,
        files: Sequence[File] | None = None,
        spoken: bool = False,
        subtype: str | None = None,
        extra: Json | None = None,
    ) -> Json:
        """A person (or another bot) writes ``text``, as Slack's wire holds it; returns the message, which has its ``ts``.

        The app gets it as ``message``, and in a channel, when it mentions the bot, as ``app_mention`` too. ``spoken``: the
        files are clips that were recorded in the chat.
        """
        channel.members.setdefault(person.id, person)
        message = self.world.add(channel, person, text=text.replace("<@BOT>", f"<@{BOT_USER}>"))
        message.subtype, message.thread_ts, message.extra = subtype or "", thread, dict(extra or {})
        if files:
            keep = self.world.files.keep
            stored = [keep(name, data, media_type=kind, user=person.id, spoken=spoken) for name, kind, data in files]
            message.files = [self.world.files.to_json(one) for one in stored]
            message.subtype = subtype or "file_share"
            for one in stored:
                one.shares.append((channel.id, message.ts))
        self.world.report.said(channel.id, message.ts)
        self.world.emit(events.message_event(self.world, channel, message), channel)
        if not channel.is_dm and self.world.mentions_bot(message.text):
            self.world.emit(events.mention_event(self.world, channel, message), channel)
        self.world.changed()
        return {**self.world.message_json(channel, message), "channel": channel.id}

    async def edit(self, channel: Channel, ts: str, text: str) -> Json:
        """A person changes what they wrote."""
        message = self._of_people(channel, ts)
        previous = self.world.message_json(channel, message)
        message.text, message.edits = text.replace("<@BOT>", f"<@{BOT_USER}>"), message.edits + 1
        message.edited = {"user": message.user, "ts": self.world.edited_ts()}
        self.world.emit(events.changed_event(self.world, channel, message, previous), channel)
        self.world.changed()
        return self.world.message_json(channel, message)

    async def delete(self, channel: Channel, ts: str) -> None:
        """A person deletes a message, or an administrator the bot's."""
        remove(self.world, channel, channel.messages[ts])
        self.world.changed()

    async def react(self, channel: Channel, ts: str, person: Person, name: str) -> None:
        users = channel.messages[ts].reactions.setdefault(name, [])
        if person.id not in users:
            users.append(person.id)
            self._reaction(channel, ts, person, name, "reaction_added")

    async def unreact(self, channel: Channel, ts: str, person: Person, name: str) -> None:
        reactions = channel.messages[ts].reactions
        reactions[name].remove(person.id)
        if not reactions[name]:
            del reactions[name]
        self._reaction(channel, ts, person, name, "reaction_removed")

    def _reaction(self, channel: Channel, ts: str, person: Person, name: str, kind: str) -> None:
        message = channel.messages[ts]
        self.world.emit(events.reaction_event(self.world, channel, message, person, name, kind), channel)
        self.world.changed()

    async def press(self, channel: Channel, person: Person, ts: str, key: str) -> Delivery:
        """Press the button of this action id, value or label; the envelope's delivery. LookupError without one."""
        message = channel.messages[ts]
        if message.ephemeral_to not in ("", person.id):
            raise LookupError(f"{person.name} does not see {ts}")
        if self.world.streaming(message):
            raise LookupError(f"the buttons of {ts} come when its stream stops")
        button = self.world.shown(channel, message).button(key)
        url = self.responses.url(channel, person.id, ts)
        payload = events.press_payload(self.world, channel, message, person, button, url)
        return self.deliveries.once(INTERACTIVE, payload)

    async def command(self, channel: Channel, person: Person, command: str, text: str = "") -> Delivery:
        """Type a slash command; what the acknowledgement says is shown to the person."""
        url = self.responses.url(channel, person.id, "")
        payload = events.command_payload(channel, person, command, text, url)

        def answered(payload: Any) -> None:
            try:
                self.responses.answer(channel, person.id, "", plain(payload))
            except Refused as refused:
                self.world.note(f"an acknowledgement's payload is refused: {refused.error}")

        return self.deliveries.once(COMMANDS, payload, answered)

    async def stop_session(self, channel: Channel, thread: str, person: Person) -> list[str]:
        """Press Stop: the streams that it stopped. LookupError when no Stop button is there."""
        if not self.world.agent or self.world.session(channel, thread) != "processing":
            raise LookupError(f"no Stop button at {thread}: the agent's session is not processing")
        if "agent_session_stopped" not in self.world.subscriptions:
            raise LookupError("no Stop button: the app does not subscribe to agent_session_stopped")
        streams = [
            message.ts
            for message in channel.messages.values()
            if message.thread_ts == thread and self.world.streaming(message)
        ]
        for ts in streams:
            channel.messages[ts].stream = "stopped_by_user"
        self.world.emit(events.stopped_event(self.world, channel, thread, person, streams), channel)
        self.world.changed()
        return streams

    async def open_home(self, person: Person, tab: str = "home") -> None:
        """Open the app's Home or Messages tab."""
        channel = self.world.dm(person)
        event = {"type": "app_home_opened", "user": person.id, "channel": channel.id, "tab": tab}
        self.world.emit({**event, "event_ts": self.world.ts()}, channel)
        self.world.changed()

    def _of_people(self, channel: Channel, ts: str) -> Message:
        message = channel.messages[ts]
        if message.user == BOT_USER:
            raise ValueError("a person edits only what people wrote")
        return message
