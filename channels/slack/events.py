"""What Slack delivers: raw payloads as inbounds. Pure; every kind is either taken or left on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.core.address import Address, Sender
from bot.core.inbound import (
    ButtonPress,
    FileRef,
    Inbound,
    Joined,
    MessageDeleted,
    MessageEdited,
    Quote,
    Reaction,
    StopPressed,
    UserMessage,
)
from bot.inbox.commands import command_of, spoken
from channels.slack.escapes import names_somebody, people_in, readable, without_me
from channels.slack.wire import Me

SAID: Final = frozenset({"", "file_share", "thread_broadcast", "me_message", "bot_message", "reply_broadcast"})
"""Subtypes of messages that somebody wrote; the others are notes of the service: who joined, what was pinned."""

SPOKEN: Final = "slack_audio"
"""Subtype of the files that are recorded in the chat; ``slack_video`` are films of whoever speaks."""

COMMAND: Final = "command."
"""How the ids of slash commands begin, which are no message that could be found again."""

Raw = Mapping[str, Any]


class Unreadable(Exception):
    """A payload that is not as Slack documents it. ``str()`` names the fault and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Left:
    """A payload that is not for anybody to answer, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Persona:
    """Somebody in the workspace. ``language`` is a tag such as ``en-US``."""

    name: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the reader has to know beside the payload: ``people`` by id; ``follows``: its thread was opened by the bot's
    answer; ``now`` in Unix time, for what has no time of its own; ``title``: what the conversation is called."""

    people: Mapping[str, Persona] = field(default_factory=dict)
    follows: bool = False
    now: float = 0.0
    title: str = ""


def people_of(payload: Raw) -> tuple[str, ...]:
    """Everybody whose name is worth knowing before ``payload`` is read: who wrote, and who is mentioned."""
    inner = _message_of(_event_of(payload))
    user = payload.get("user")
    ids = [inner.get("user"), user.get("id") if isinstance(user, Mapping) else None, payload.get("user_id")]
    ids.append(inner.get("inviter"))
    text = inner.get("text")
    ids += people_in(text) if isinstance(text, str) else ()
    return tuple(dict.fromkeys(id for id in ids if isinstance(id, str) and id))


def place_of(payload: Raw) -> tuple[str, str]:
    """The conversation an event belongs to, and its thread; empty where it has none."""
    event = _event_of(payload)
    channel = event.get("channel")
    return (channel if isinstance(channel, str) else ""), str(_message_of(event).get("thread_ts") or "")


def written_at(payload: Raw) -> tuple[int, int]:
    """When the event happened: seconds and the six digits behind, which order a conversation."""
    event = _event_of(payload)
    return stamp(str(event.get("event_ts") or event.get("ts") or ""))


def stamp(ts: str) -> tuple[int, int]:
    second, _, micro = ts.partition(".")
    return (int(second), int(micro)) if second.isdecimal() and micro.isdecimal() else (0, 0)


def _event_of(payload: Raw) -> Raw:
    event = payload.get("event")
    return event if isinstance(event, Mapping) else {}


def _message_of(event: Raw) -> Raw:
    """An edit holds the message that it made."""
    message = event.get("message")
    return message if isinstance(message, Mapping) else event


def inbound_of(payload: Raw, me: Me, channel: str, account: str, known: Known) -> Inbound | Left:
    """Raises ``Unreadable``. Ids are Slack's own: a message's is its ts, whatever event brought it."""
    kind = _kind_of(payload)
    try:
        reader = Reader(me, channel, account, known, str(payload.get("team_id") or me.team))
        match payload.get("type"):
            case "event_callback":
                return reader.event(payload["event"])
            case "block_actions":
                return reader.press(payload)
        if isinstance(payload.get("command"), str):
            return reader.command(payload)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Unreadable(f"{type(error).__name__} in a {kind}") from None
    return Left(kind)


def _kind_of(payload: Raw) -> str:
    event = _event_of(payload)
    return str(event.get("subtype") or event.get("type") or payload.get("type") or "payload")[:40]


class Reader:
    def __init__(self, me: Me, channel: str, account: str, known: Known, team: str) -> None:
        self._me, self._channel, self._account, self._known, self._team = me, channel, account, known, team

    def event(self, event: Raw) -> Inbound | Left:
        match event["type"]:
            case "message" if event.get("subtype") == "message_changed":
                return self._edited(event)
            case "message" if event.get("subtype") == "message_deleted":
                previous = event.get("previous_message") or {}
                return self._deleted(event, previous, str(event.get("deleted_ts") or previous["ts"]))
            case "message" | "app_mention":
                return self.message(event, event["channel"])
            case "reaction_added" | "reaction_removed":
                return self._reaction(event)
            case "agent_session_stopped":
                address = Address(self._channel, self._account, str(event["channel"]), str(event["thread_ts"]))
                at = str(event["event_ts"])
                return StopPressed(f"stop.{at}", address, self._person(str(event["user"])), float(at))
            case "member_joined_channel" if event["user"] == self._me.user:
                return self._joined(event)
        return Left(str(event["type"])[:40])

    def message(self, raw: Raw, chat: str, *, mine: bool = False) -> UserMessage | Left:
        """``mine``: also what the bot itself wrote, which is nothing to be answered."""
        if str(raw.get("subtype") or "") not in SAID or raw.get("hidden"):
            return Left(f"a note: {raw.get('subtype')}")
        if self._is_mine(raw) and not mine:
            return Left("the bot's own")
        ts, direct = str(raw["ts"]), _is_direct(chat)
        said, mentioned, began = without_me(str(raw.get("text") or ""), self._me.user)
        text = readable(said, self._names)
        thread = str(raw.get("thread_ts") or "")
        follows = self._known.follows and thread not in ("", ts) and not names_somebody(said)
        return UserMessage(
            id=ts,
            address=self._address(chat, ts, thread),
            sender=self._sender(raw),
            text=spoken(text) if began else text,
            sent_at=float(ts),
            direct=direct,
            addressed=direct or mentioned or follows or raw.get("type") == "app_mention",
            files=self._files(raw),
            quote=self._passed_on(raw),
            places=(self._team,) if self._team else (),
        )

    def _edited(self, event: Raw) -> Inbound | Left:
        raw, previous = event["message"], event.get("previous_message") or {}
        if raw.get("subtype") == "tombstone":
            return self._deleted(event, previous, str(raw["ts"]))
        if str(raw.get("subtype") or "") not in SAID or self._is_mine(raw):
            return Left("an edit of the bot's own or of a note")
        if raw.get("text") == previous.get("text"):
            return Left("an edit that changes no text")
        chat, ts = str(event["channel"]), str(raw["ts"])
        said, _, began = without_me(str(raw.get("text") or ""), self._me.user)
        text, at = readable(said, self._names), str(event.get("event_ts") or event["ts"])
        return MessageEdited(
            id=f"{ts}.{at}",  # the message itself tells the second of its last edit alone
            address=self._address(chat, ts, str(raw.get("thread_ts") or "")),
            sender=self._sender(raw),
            message_id=ts,
            text=spoken(text) if began else text,
            sent_at=float(at),
        )

    def _deleted(self, event: Raw, previous: Raw, ts: str) -> Inbound:
        """Also of what the bot wrote: an answer on its way goes on in a new message."""
        address = self._address(str(event["channel"]), ts, str(previous.get("thread_ts") or ""))
        return MessageDeleted(f"{ts}.deleted", address, ts, float(event.get("event_ts") or event["ts"]))

    def _reaction(self, event: Raw) -> Inbound | Left:
        """Slack does not say in which thread the message stands."""
        item = event["item"]
        if item.get("type") != "message":
            return Left("a reaction to something else than a message")
        if event["user"] == self._me.user:
            return Left("the bot's own reaction")
        ts, at = str(item["ts"]), str(event["event_ts"])
        name, added = str(event["reaction"]), event["type"] == "reaction_added"
        return Reaction(
            id=f"{ts}.{event['user']}.{name}.{at}",
            address=Address(self._channel, self._account, str(item["channel"])),
            sender=self._person(str(event["user"])),
            message_id=ts,
            emoji=name,
            added=added,
            sent_at=float(at),
        )

    def _joined(self, event: Raw) -> Inbound:
        """Without an inviter the app has joined by itself."""
        chat, at = str(event["channel"]), str(event["event_ts"])
        inviter = self._person(str(event.get("inviter") or self._me.user))
        here = Address(self._channel, self._account, chat)
        return Joined(f"joined.{at}", here, inviter, chat, self._known.title, float(at))

    def press(self, payload: Raw) -> Inbound | Left:
        container, action = payload["container"], payload["actions"][0]
        chat = container.get("channel_id") or (payload.get("channel") or {}).get("id")
        if not chat or not container.get("message_ts"):
            return Left("a press outside of a conversation")
        ts, at = str(container["message_ts"]), str(action["action_ts"])
        message = payload.get("message") or {}
        thread = str(container.get("thread_ts") or message.get("thread_ts") or "")
        return ButtonPress(
            id=f"{ts}.{at}.{payload['user']['id']}",
            address=Address(self._channel, self._account, str(chat), "" if thread == ts else thread),
            sender=self._person(str(payload["user"]["id"])),
            payload=str(action.get("value") or ""),
            sent_at=float(at),
            token=str(payload.get("response_url") or ""),
        )

    def command(self, payload: Raw) -> Inbound:
        """``/bowerbird status`` is the text ``/status``. A command has no message: its answer stands alone."""
        chat, said = str(payload["channel_id"]), str(payload.get("text") or "").strip()
        words = readable(said, self._names) or "help"
        trigger = str(payload["trigger_id"])
        return UserMessage(
            id=f"{COMMAND}{trigger}",
            address=Address(self._channel, self._account, chat),
            sender=self._person(str(payload["user_id"]), str(payload.get("user_name") or "")),
            text=words if words.startswith("/") or command_of(f"/{words}") is None else f"/{words}",
            sent_at=self._known.now,
            direct=_is_direct(chat),
            places=(self._team,) if self._team else (),
        )

    def _address(self, chat: str, ts: str, thread: str) -> Address:
        """In a channel the answer to a message opens a thread under it; in a direct chat it stands beside it."""
        alone = thread in ("", ts)
        return Address(self._channel, self._account, chat, ("" if _is_direct(chat) else ts) if alone else thread)

    def _is_mine(self, raw: Raw) -> bool:
        return raw.get("user") == self._me.user or bool(self._me.bot and raw.get("bot_id") == self._me.bot)

    @property
    def _names(self) -> Mapping[str, str]:
        return {id: person.name for id, person in self._known.people.items() if person.name}

    def _person(self, id: str, name: str = "") -> Sender:
        known = self._known.people.get(id, Persona())
        return Sender(self._channel, id, known.name or name, language=known.language)

    def _sender(self, raw: Raw) -> Sender:
        profile = raw.get("bot_profile")
        name = str(raw.get("username") or (profile.get("name") if isinstance(profile, Mapping) else "") or "")
        if raw.get("bot_id") or raw.get("subtype") == "bot_message":
            return Sender(self._channel, str(raw.get("user") or raw["bot_id"]), name, is_bot=True)
        return self._person(str(raw["user"]), name)

    def _passed_on(self, raw: Raw) -> Quote | None:
        """A message of somebody else that this one shares."""
        attachments: Sequence[Any] = raw.get("attachments") or ()
        for one in attachments:
            if isinstance(one, Mapping) and (one.get("is_share") or one.get("is_msg_unfurl")) and one.get("text"):
                text, author = readable(str(one["text"]), self._names), str(one.get("author_name") or "")
                return Quote(text, author, str(one.get("ts") or ""), forwarded=True)
        return None

    def _files(self, raw: Raw) -> tuple[FileRef, ...]:
        files = []
        for file in raw.get("files") or ():
            if not file.get("id") or file.get("mode") in ("tombstone", "hidden_by_limit"):
                continue
            size, kind = file.get("size"), str(file.get("mimetype") or "application/octet-stream")
            name = str(file.get("name") or file.get("title") or "file")
            spoken = file.get("subtype") == SPOKEN
            if spoken and kind.startswith("video/"):  # the container's; there is no picture in it
                kind = kind.replace("video/", "audio/", 1)
            files.append(FileRef(self._channel, str(file["id"]), name, kind, int(size) if size else None, spoken))
        return tuple(files)


def _is_direct(chat: str) -> bool:
    """Slack's ids of direct messages begin with D, whatever event names them."""
    return chat.startswith("D")
