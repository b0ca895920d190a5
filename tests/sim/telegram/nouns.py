"""The words of the simulator: people, chats, messages, what is visible, calls, and how the Bot API says no."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
ChatType = Literal["private", "group", "supergroup"]


class Refused(Exception):
    """An answer that is not ok. ``parameters`` is the Bot API's ``ResponseParameters``."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.status, self.description, self.parameters = status, description, parameters

    def body(self) -> Json:
        answer: Json = {"ok": False, "error_code": self.status, "description": self.description}
        return {**answer, "parameters": self.parameters} if self.parameters else answer


def bad(description: str, **parameters: int) -> Refused:
    return Refused(400, f"Bad Request: {description}", **parameters)


def flooded(seconds: int) -> Refused:
    return Refused(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    username: str = ""
    language: str = ""
    is_bot: bool = False

    def to_json(self) -> Json:
        user: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        if self.username:
            user["username"] = self.username
        if self.language:
            user["language_code"] = self.language
        return user


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as a person sees it. ``keyboard`` are rows of (label, callback data); ``date`` is Unix time,
    ``edits`` how often the bot changed it."""

    message_id: int
    text: str
    entities: tuple[Json, ...]
    keyboard: tuple[tuple[tuple[str, str], ...], ...]
    date: int
    edits: int
    from_bot: bool
    thread: int | None = None
    reply_to: int | None = None
    file: str = ""
    reactions: tuple[str, ...] = ()

    @property
    def buttons(self) -> dict[str, str]:
        return {label: data for row in self.keyboard for label, data in row}


@dataclass(slots=True)
class Message:
    """One message of a chat. ``extra`` are further fields as the Bot API names them (photo, forward_origin, ...)."""

    id: int
    sender: Person
    date: int
    text: str = ""
    entities: list[Json] = field(default_factory=list)
    markup: Json | None = None
    thread: int | None = None
    reply_to: Message | None = None
    edit_date: int = 0
    edits: int = 0
    media: bool = False
    file: str = ""
    reactions: dict[int, tuple[str, ...]] = field(default_factory=dict)
    extra: Json = field(default_factory=dict)

    def shown(self) -> Shown:
        rows = (self.markup or {}).get("inline_keyboard", ())
        keyboard = tuple(tuple((key["text"], key.get("callback_data", "")) for key in row) for row in rows)
        return Shown(
            message_id=self.id,
            text=self.text,
            entities=tuple(self.entities),
            keyboard=keyboard,
            date=self.date,
            edits=self.edits,
            from_bot=self.sender.is_bot,
            thread=self.thread,
            reply_to=self.reply_to.id if self.reply_to else None,
            file=self.file,
            reactions=tuple(emoji for chosen in self.reactions.values() for emoji in chosen),
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A preview of an answer: it is on screen ``until`` then (monotonic), or until something is said in its topic.
    ``keep``: pressing its Stop button does not take it away."""

    id: int
    text: str
    entities: tuple[Json, ...]
    until: float
    can_stop: bool = False
    keep: bool = False


@dataclass(eq=False, slots=True)
class Chat:
    """``status`` is what the bot is there: fine, blocked, unstarted (a private chat that the person has not opened),
    kicked or left. ``privacy`` and ``admin`` decide which messages of a group reach it.
    ``last_id`` counts a supergroup's own messages; the first one was its creation. ``drafts`` has the latest one of each
    topic, ``frames`` what every draft showed, ever."""

    id: int
    type: ChatType
    title: str = ""
    person: Person | None = None
    forum: bool = False
    privacy: bool = True
    admin: bool = False
    status: Literal["fine", "blocked", "unstarted", "kicked", "left"] = "fine"
    migrated_to: int = 0
    members: dict[int, Person] = field(default_factory=dict)
    topics: dict[int, str] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    last_id: int = 1
    typing_until: float = 0.0
    drafts: dict[int | None, Draft] = field(default_factory=dict)
    frames: list[Draft] = field(default_factory=list)

    @property
    def is_group(self) -> bool:
        return self.type != "private"

    def to_json(self) -> Json:
        if self.person is not None:
            user = self.person.to_json()
            chat: Json = {"id": self.id, "type": self.type, "first_name": user["first_name"]}
            return {**chat, "username": user["username"]} if self.person.username else chat
        chat = {"id": self.id, "type": self.type, "title": self.title}
        return {**chat, "is_forum": True} if self.forum else chat


def message_json(chat: Chat, message: Message, *, quoting: bool = True) -> Json:
    """The message as the Bot API writes it; a quoted message quotes no further."""
    answer: Json = {
        "message_id": message.id,
        "from": message.sender.to_json(),
        "chat": chat.to_json(),
        "date": message.date,
    }
    if message.edit_date:
        answer["edit_date"] = message.edit_date
    if message.thread is not None:
        answer["message_thread_id"] = message.thread
        answer["is_topic_message"] = True
    if quoting and message.reply_to is not None:
        answer["reply_to_message"] = message_json(chat, message.reply_to, quoting=False)
    answer.update(message.extra)
    if message.text:
        text, entities = ("caption", "caption_entities") if message.media else ("text", "entities")
        answer[text] = message.text
        if message.entities:
            answer[entities] = message.entities
    if message.markup and "inline_keyboard" in message.markup:
        answer["reply_markup"] = message.markup
    return answer


@dataclass(slots=True)
class Call:
    """One call of the bot. ``at`` is monotonic time; ``status`` 0 while it is under way or when no answer was given;
    ``answer`` the description of a refusal, or how a fault cut it short."""

    method: str
    chat_id: int | None
    params: Json
    at: float
    status: int = 0
    answer: str = ""
