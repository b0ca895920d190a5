"""Who is there and what was said: people, channels, messages, what a person sees, and how Slack writes it down."""

from __future__ import annotations

import itertools
import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.sim.slack import reading
from tests.sim.slack.files import Files
from tests.sim.slack.nouns import (
    APP,
    BOT_ID,
    BOT_USER,
    TEAM,
    Channel,
    Json,
    Kind,
    Message,
    Person,
    Ping,
    Refused,
    Shown,
)
from tests.sim.slack.report import Report

STATUS_SECONDS = 120.0
STREAM_SECONDS = 300.0
"""Measured by others in September 2026: five minutes from the start, appends or not."""
SESSION_SECONDS = 3600.0
_SUBSCRIPTIONS = (
    "message.im message.mpim message.channels message.groups app_mention reaction_added reaction_removed"
    " app_home_opened agent_session_stopped member_joined_channel"
)
SUBSCRIPTIONS = frozenset(_SUBSCRIPTIONS.split())
"""The events that the app asked for, in the manifest's words."""
_MENTION = re.compile(r"<@([UW]\w+)>")
_PARTS = re.compile(r"<@([UW]\w+)>|<((?:https?|mailto):[^|>\s]+)(?:\|([^>]*))?>")


class World:
    """All state but the sockets. ``now`` is Unix time, ``monotonic`` what waits are measured by."""

    def __init__(
        self,
        name: str,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        note: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        self.now, self.monotonic, self.note, self.changed = now, monotonic, note, changed
        self.bot = Person(BOT_USER, name, bot_id=BOT_ID, app_id=APP)
        self.people: dict[str, Person] = {BOT_USER: self.bot}
        self.channels: dict[str, Channel] = {}
        self.homes: dict[str, Json] = {}
        self.agent = False
        self.files = Files()
        self.report = Report()
        self.subscriptions = set(SUBSCRIPTIONS)
        self.emit: Callable[[Json, Channel | None], None] = lambda event, channel: None
        self.later: Callable[[float, Callable[[], None]], None] = lambda seconds, deed: deed()
        self.share_seconds = 0.0
        self.pings: list[Ping] = []
        self.stream_seconds = STREAM_SECONDS
        self._numbers = itertools.count(1)
        self._last_ts = (0, 0)

    def ts(self) -> str:
        """A new message id: Unix seconds and six digits, growing."""
        stamp = self.now()
        second, micro = int(stamp), int(stamp % 1 * 1_000_000)
        if (second, micro) <= self._last_ts:
            second, micro = self._last_ts[0], self._last_ts[1] + 1
            second, micro = second + micro // 1_000_000, micro % 1_000_000
        self._last_ts = (second, micro)
        return f"{second}.{micro:06d}"

    def edited_ts(self) -> str:
        """When a message was edited: a whole second, whatever else happens within it."""
        return f"{self.ts().partition('.')[0]}.000000"

    def person(self, id: str, name: str, *, language: str = "en-US", bot: bool = False) -> Person:
        other = ("B" + id[1:], "A" + id[1:]) if bot else ("", "")
        someone = self.people[id] = Person(id, name, language, *other)
        return someone

    def dm(self, person: Person) -> Channel:
        for channel in self.channels.values():
            if channel.is_dm and person.id in channel.members:
                return channel
        return self._add(Channel(f"D{person.id[1:]}", "im", members={person.id: person}))

    def group_dm(self, people: Sequence[Person]) -> Channel:
        everyone = {person.id: person for person in people}
        for channel in self.channels.values():
            if channel.kind == "mpim" and channel.members == everyone:
                return channel
        return self._add(Channel(f"G0MPIM{next(self._numbers)}", "mpim", "mpdm", members=everyone))

    def channel(self, id: str, name: str, *, members: Iterable[Person], bot_in: bool, private: bool) -> Channel:
        kind: Kind = "group" if private else "channel"
        return self._add(Channel(id, kind, name, members={person.id: person for person in members}, bot_in=bot_in))

    def _add(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        return channel

    def add(self, channel: Channel, user: Person, **fields: Any) -> Message:
        """A new message, of a person or of a bot."""
        if user.is_bot:
            fields.setdefault("bot_id", user.bot_id)
            fields.setdefault("app_id", user.app_id)
        message = Message(self.ts(), user.id, **fields)
        channel.messages[message.ts] = message
        return message

    def name(self, id: str) -> str:
        if id in self.people:
            return self.people[id].name
        return self.channels[id].name if id in self.channels else id

    # streams

    def streaming(self, message: Message) -> bool:
        """The stream is open. One that is older than ``stream_seconds`` dies here."""
        if message.stream == "open" and self.monotonic() - message.began >= self.stream_seconds:
            message.stream, message.died = "stopped", True
        return message.stream == "open"

    # what a person sees

    def shown(self, channel: Channel, message: Message) -> Shown:
        streaming = self.streaming(message)
        blocks = [*message.chunk_blocks, *message.blocks]
        streamed = reading.markdown(message.markdown, self.name)
        held = reading.read_blocks(blocks, self.name)
        text = "\n".join(part for part in (streamed, held) if part)
        if not message.markdown and not blocks:
            text = reading.mrkdwn(message.text, self.name)
        return Shown(
            ts=message.ts,
            thread_ts=message.thread_ts,
            text=text,
            raw=message.markdown or message.text,
            blocks=tuple(blocks),
            buttons=tuple(reading.buttons(blocks)),
            edits=message.edits,
            edited_flag=message.edited is not None,
            streaming=streaming,
            broken=message.died,
            from_bot=message.bot_id == BOT_ID,
            user=message.user,
            files=tuple(one["name"] for one in message.files),
            cards=(*message.cards.values(), *reading.cards(blocks, self.name)),
            plan_title=message.plan_title or next((one["title"] for one in blocks if one["type"] == "plan"), ""),
            pings=tuple(message.pings),
            reactions=tuple((name, user) for name, users in message.reactions.items() for user in users),
            ephemeral_to=message.ephemeral_to,
            unfurl=message.unfurl,
        )

    def showed(self, channel: Channel, message: Message, *, edit: bool) -> None:
        """The bot's message is new on screen, or changed."""
        empty = not (message.markdown or message.text or message.blocks or message.chunk_blocks)
        self.report.shown(channel.id, lambda: self.shown(channel, message).text, empty=empty, edit=edit)

    def visible(self, channel: Channel, thread: str | None) -> list[Shown]:
        """Oldest first. A thread is its first message and the replies; without one, all that is there."""
        held = [
            message
            for message in channel.messages.values()
            if thread is None or message.ts == thread or message.thread_ts == thread
        ]
        return [self.shown(channel, message) for message in sorted(held, key=lambda one: one.ts)]

    def status(self, channel: Channel, thread: str) -> str:
        text, until = channel.statuses.get(thread, ("", 0.0))
        if text and self.monotonic() < until:
            return text
        return "processing" if self.session(channel, thread) == "processing" else ""

    def session(self, channel: Channel, thread: str) -> str:
        status, until = channel.sessions.get(thread, ("", 0.0))
        return "active" if status == "processing" and self.monotonic() >= until else status

    def answered(self, channel: Channel, thread: str | None) -> None:
        """The bot wrote in a thread: its status goes."""
        channel.statuses.pop(thread or "", None)

    def ping(self, method: str, channel: Channel, message: Message, *held: Any) -> None:
        """Note what would notify people in all that the bot's message holds now."""
        found, known = reading.pings(*held), len(message.pings)
        message.pings = found
        self.pings += [Ping(method, channel.id, message.ts, what) for what in found[known:]]

    # how Slack writes it

    def message_json(self, channel: Channel, message: Message, *, inner: bool = True) -> Json:
        """As in events and histories. ``inner`` has no ``channel`` field."""
        body: Json = {
            "type": "message",
            "user": message.user,
            "ts": message.ts,
            "team": TEAM,
            "text": self._text(message),
        }
        if message.subtype:
            body["subtype"] = message.subtype
        if message.bot_id:
            body |= {"bot_id": message.bot_id, "app_id": message.app_id, "bot_profile": self._profile(message)}
        blocks = [*message.chunk_blocks, *message.blocks]
        if blocks:
            body["blocks"] = blocks
        elif message.text and not message.bot_id:
            body["blocks"] = [_typed(message.text)]
        if message.thread_ts:
            body["thread_ts"] = message.thread_ts
            if message.thread_ts != message.ts and message.thread_ts in channel.messages:
                body["parent_user_id"] = channel.messages[message.thread_ts].user
        if replies := channel.replies(message.ts):
            people = list(dict.fromkeys(reply.user for reply in replies))
            body |= {"thread_ts": message.ts, "reply_count": len(replies), "reply_users": people}
            body |= {"reply_users_count": len(people), "latest_reply": replies[-1].ts, "is_locked": False}
        if message.files:
            body |= {"files": message.files, "upload": False}
        if message.edited:
            body["edited"] = message.edited
        if message.reactions:
            body["reactions"] = [
                {"name": name, "users": users, "count": len(users)} for name, users in message.reactions.items()
            ]
        if message.stream:
            body["streaming_state"] = "in_progress" if self.streaming(message) else "completed"
        body |= message.extra
        return body if inner else {**body, "channel": channel.id, "event_ts": message.ts}

    def _text(self, message: Message) -> str:
        streamed = reading.markdown(message.markdown, self.name) if message.markdown else ""
        return message.text or streamed

    def _profile(self, message: Message) -> Json:
        name = self.name(message.user)
        return {"id": message.bot_id, "app_id": message.app_id, "name": name, "team_id": TEAM, "deleted": False}

    def channel_json(self, channel: Channel) -> Json:
        body: Json = {
            "id": channel.id,
            "created": 1_700_000_000,
            "is_archived": channel.archived,
            "is_im": channel.is_dm,
            "is_mpim": channel.kind == "mpim",
            "is_group": channel.kind == "group",
            "is_channel": channel.kind == "channel",
            "is_private": channel.kind != "channel",
            "is_org_shared": False,
            "context_team_id": TEAM,
        }
        if channel.is_dm:
            return {**body, "user": next(iter(channel.members)), "is_user_deleted": False, "is_open": True}
        return {**body, "name": channel.name, "name_normalized": channel.name, "is_member": channel.bot_in}

    def mentions_bot(self, text: str) -> bool:
        return BOT_USER in _MENTION.findall(text)

    # where a call may act

    def place(self, id: str, *, membership: bool = True) -> Channel:
        """The channel of a call. A user's id means their DM, as for chat.postMessage."""
        if id in self.people and id != BOT_USER:
            return self.dm(self.people[id])
        channel = self.channels.get(id)
        if channel is None or (not channel.bot_in and channel.kind in ("group", "im", "mpim")):
            raise Refused("channel_not_found")
        if membership and not channel.bot_in:
            raise Refused("not_in_channel")
        if membership and channel.archived:
            raise Refused("is_archived")
        return channel


def _typed(text: str) -> Json:
    """The rich text that Slack's editor makes of what a person types."""
    elements: list[Json] = []
    at = 0
    for found in _PARTS.finditer(text):
        if found.start() > at:
            elements.append({"type": "text", "text": text[at : found.start()]})
        if found[1]:
            elements.append({"type": "user", "user_id": found[1]})
        else:
            elements.append({"type": "link", "url": found[2], **({"text": found[3]} if found[3] else {})})
        at = found.end()
    if at < len(text):
        elements.append({"type": "text", "text": text[at:]})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": uuid.uuid4().hex[:5], "elements": [section]}
