"""Who is there and what was said: people, chats, messages, files, and what people do, told to the bot as updates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.sim.telegram.files import Files
from tests.sim.telegram.nouns import Chat, Draft, Json, Message, Person, Shown, message_json
from tests.sim.telegram.presses import Presses
from tests.sim.telegram.report import Report
from tests.sim.telegram.texts import MAX_TEXT, found, units
from tests.sim.telegram.updates import Updates
from tests.sim.telegram.webhook import Webhook

GENERAL = 1
"""The id of a forum's General topic, which messages there do not carry."""


class World:
    """All state but the queue. ``now`` is Unix time, ``monotonic`` what waits are measured by."""

    def __init__(
        self,
        bot: Person,
        updates: Updates,
        files: Files,
        presses: Presses,
        webhook: Webhook,
        report: Report,
        now: Callable[[], float],
        monotonic: Callable[[], float],
        changed: Callable[[], None],
    ) -> None:
        self.bot, self.updates, self.files, self.presses = bot, updates, files, presses
        self.webhook, self.report = webhook, report
        self._now, self.monotonic, self.changed = now, monotonic, changed
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.commands: dict[tuple[str, str], list[Json]] = {}
        self._private_ids = itertools.count(101)
        self._albums = itertools.count(13_000_000_000_000_001)

    def date(self) -> int:
        return int(self._now())

    # who and where

    def person(self, id: int, name: str, *, username: str = "", language: str = "", is_bot: bool = False) -> Person:
        someone = self.people[id] = Person(id, name, username, language, is_bot)
        return someone

    def private(self, person: Person, *, started: bool = True) -> Chat:
        chat = self.chats.get(person.id)
        if chat is None:
            status = "fine" if started else "unstarted"
            chat = Chat(person.id, "private", person=person, status=status, members={person.id: person})  # type: ignore[arg-type]
            self.chats[person.id] = chat
        return chat

    def group(
        self,
        id: int,
        title: str,
        *,
        members: Sequence[Person] = (),
        bot_privacy: bool = True,
        forum: bool = False,
        supergroup: bool = True,
        admin: bool = False,
    ) -> Chat:
        if id >= 0:
            raise ValueError("the id of a group is negative")
        everyone = {person.id: person for person in members}
        kind = "supergroup" if supergroup else "group"
        chat = Chat(id, kind, title, forum=forum, privacy=bot_privacy, admin=admin, members=everyone)  # type: ignore[arg-type]
        self.chats[id] = chat
        return chat

    def topic(self, chat: Chat, name: str) -> int:
        """Open a topic; its thread id, which is the id of the service message that opened it."""
        message = self.new_message(chat, self.bot)
        message.extra["forum_topic_created"] = {"name": name, "icon_color": 7322096}
        chat.topics[message.id] = name
        return message.id

    def new_message(self, chat: Chat, sender: Person, **fields: Any) -> Message:
        """Add a message. Supergroups count their own ids; private chats and basic groups share the bot's counter."""
        if chat.type == "supergroup":
            chat.last_id += 1
            number = chat.last_id
        else:
            number = next(self._private_ids)
        message = chat.messages[number] = Message(number, sender, self.date(), **fields)
        chat.drafts.pop(message.thread, None)
        if sender.is_bot and sender.id == self.bot.id:
            chat.typing_until = 0.0
        return message

    # what people do

    def say(
        self,
        chat: Chat,
        person: Person,
        text: str,
        *,
        thread: int | None = None,
        reply_to: int | None = None,
        entities: list[Json] | None = None,
        caption_photo: bool = False,
        document: tuple[str, str, bytes] | None = None,
        album: str | None = None,
        extra: Json | None = None,
    ) -> Json:
        """A person writes; returns the message as the bot would get it, whether or not it does.

        ``caption_photo`` makes the text a photo's caption, ``document`` (name, media type, content) a file's.
        ``album`` is the ``media_group_id``; ``extra`` are further fields (``forward_origin``, ``quote``, ...).
        """
        if chat.status in ("blocked", "unstarted"):
            chat.status = "fine"
        chat.members.setdefault(person.id, person)
        if thread is not None and chat.forum and thread != GENERAL:
            chat.topics.setdefault(thread, f"topic {thread}")
        quoted = chat.messages[reply_to] if reply_to is not None else None
        message = self.new_message(chat, person, text=text, thread=None if thread == GENERAL else thread)
        message.entities = found(text) if entities is None else entities
        message.reply_to, message.extra = quoted, dict(extra or {})
        if caption_photo:
            message.extra["photo"], message.media = self.files.photo_sizes(), True
        if document is not None:
            message.extra["document"], message.media = self.files.document(*document), True
        if album is not None:
            message.extra["media_group_id"] = album
        self.report.said(chat.id, message.id)
        return self._deliver(chat, message, "message")

    def album(self, chat: Chat, person: Person, captions: Sequence[str], **options: Any) -> list[Json]:
        """Photos sent together: one message each, sharing a ``media_group_id``. ``options`` as in ``say``."""
        group = str(next(self._albums))
        return [self.say(chat, person, caption, caption_photo=True, album=group, **options) for caption in captions]

    def paste(self, chat: Chat, person: Person, text: str, **options: Any) -> list[Json]:
        """A text that is too long for one message: the person's client takes it apart, at a line's end in the second half
        of what a message holds where there is one, and sends the pieces one after the other."""
        said = []
        while text:
            cut = len(text)
            while units(text[:cut]) > MAX_TEXT:
                cut = max(text.rfind("\n", MAX_TEXT // 2, cut - 1) + 1, 0) or min(cut - 1, MAX_TEXT)
            said.append(self.say(chat, person, text[:cut].strip("\n"), **options))
            text = text[cut:]
        return said

    def edit(self, chat: Chat, person: Person, message_id: int, text: str) -> Json:
        message = chat.messages[message_id]
        if message.sender.id != person.id:
            raise ValueError("a person edits only what they wrote")
        message.text, message.entities, message.edit_date = text, found(text), self.date()
        return self._deliver(chat, message, "edited_message")

    def delete(self, chat: Chat, message_id: int) -> None:
        """A person deletes a message, their own or the bot's. The Bot API does not tell."""
        del chat.messages[message_id]
        self.changed()

    def press(self, chat: Chat, person: Person, message_id: int, key: str, *, stale: bool = False) -> str:
        """A person presses a button, named by its payload or its label. ``stale``: one that is no longer there, as
        when the keyboard changed while the press was under way; ``key`` then is the payload."""
        message = chat.messages[message_id]
        keys = [button for row in (message.markup or {}).get("inline_keyboard", ()) for button in row]
        data = next((button["callback_data"] for button in keys if button.get("callback_data") == key), "")
        data = data or next((button["callback_data"] for button in keys if button["text"] == key), "")
        if not data and not stale:
            raise LookupError(f"no button {key!r} at message {message_id}: {[button['text'] for button in keys]}")
        press = self.presses.open(chat.id)
        self.updates.add(
            "callback_query",
            {
                "id": press,
                "from": person.to_json(),
                "message": message_json(chat, message),
                "chat_instance": str(7_000_000_000_000_000_000 + chat.id),
                "data": data or key,
            },
        )
        return press

    def react(self, chat: Chat, person: Person, message_id: int, *emoji: str) -> None:
        """A person's reactions to a message become exactly ``emoji``; the bot hears of it as administrator."""
        message = chat.messages[message_id]
        old, message.reactions[person.id] = message.reactions.get(person.id, ()), emoji
        if chat.is_group and not chat.admin:
            self.changed()
            return
        self.updates.add(
            "message_reaction",
            {
                "chat": chat.to_json(),
                "message_id": message_id,
                "user": person.to_json(),
                "date": self.date(),
                "old_reaction": [{"type": "emoji", "emoji": one} for one in old],
                "new_reaction": [{"type": "emoji", "emoji": one} for one in emoji],
            },
        )
        self.changed()

    def draft(self, chat: Chat, draft: Draft, thread: int | None) -> None:
        """The bot shows a draft. One of another id in the same topic is replaced."""
        chat.drafts[thread] = draft
        chat.frames.append(draft)
        self.report.shown(chat.id, draft.text, edit=True)

    def stop_draft(self, chat: Chat, thread: int | None = None) -> None:
        """A person presses Stop at the draft on screen, which needs one."""
        draft = chat.drafts.get(thread)
        if draft is None or draft.until <= self.monotonic() or not draft.can_stop:
            raise LookupError("no draft with a Stop button is on screen")
        if not draft.keep:
            del chat.drafts[thread]
        self.stop(chat, draft.id, thread)

    def stop(self, chat: Chat, draft_id: int, thread: int | None = None) -> None:
        """A person has pressed Stop at a draft, which may be gone by now."""
        body: Json = {"chat": chat.to_json(), "draft_id": draft_id}
        self.updates.add(
            "stopped_message_generation", body if thread is None else {**body, "message_thread_id": thread}
        )

    def block(self, chat: Chat) -> None:
        """The person blocks the bot; in a group: the bot is thrown out."""
        self._membership(chat, "kicked" if chat.is_group else "blocked", "kicked")

    def unblock(self, chat: Chat) -> None:
        self._membership(chat, "fine", "member")

    def add_bot(self, chat: Chat, by: Person, *, admin: bool = False) -> None:
        """A person adds the bot to a group that it was not in (any more)."""
        chat.admin = admin
        if chat.status == "fine":
            chat.status = "left"
        self._membership(chat, "fine", "administrator" if admin else "member", by)

    def migrate(self, chat: Chat, new_id: int) -> Chat:
        """The group becomes a supergroup of another id; both chats get the service message."""
        fresh: Json = {"messages": {}, "drafts": {}, "frames": [], "topics": {}, "last_id": 1, "migrated_to": 0}
        new = replace(chat, id=new_id, type="supergroup", **fresh)
        self.chats[new_id] = new
        chat.migrated_to = new_id
        someone = next(iter(chat.members.values()), self.bot)
        for place, field, other in ((chat, "migrate_to_chat_id", new_id), (new, "migrate_from_chat_id", chat.id)):
            message = self.new_message(place, someone)
            message.extra[field] = other
            self.updates.add("message", message_json(place, message))
        return new

    # what a person sees

    def visible(self, chat: Chat) -> list[Shown]:
        return [message.shown() for _, message in sorted(chat.messages.items())]

    def drafts(self, chat: Chat) -> list[str]:
        return [draft.text for draft in chat.drafts.values() if draft.until > self.monotonic()]

    # what the bot hears of it

    def _deliver(self, chat: Chat, message: Message, kind: str) -> Json:
        body = message_json(chat, message)
        if self._reaches_bot(chat, message):
            self.updates.add(kind, body)
        self.changed()
        return body

    def _reaches_bot(self, chat: Chat, message: Message) -> bool:
        """Privacy mode: commands to the bot, replies to it, mentions of it (PLATFORMS.md 1.6); commands to nobody in
        particular where no other bot has spoken since it did (core.telegram.org/bots/features, privacy mode)."""
        if chat.status in ("kicked", "left"):
            return False
        if not chat.is_group or not chat.privacy or chat.admin:
            return True
        if message.reply_to is not None and message.reply_to.sender.id == self.bot.id:
            return True
        wide = message.text.encode("utf-16-le")
        for entity in message.entities:
            start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
            word = wide[start:end].decode("utf-16-le", "replace").lower()
            if entity["type"] == "bot_command" and word.endswith(f"@{self.bot.username.lower()}"):
                return True
            if entity["type"] == "bot_command" and "@" not in word and self._spoke_last(chat):
                return True
            if entity["type"] == "mention" and word == f"@{self.bot.username.lower()}":
                return True
            if entity["type"] == "text_mention" and entity["user"]["id"] == self.bot.id:
                return True
        return False

    def _spoke_last(self, chat: Chat) -> bool:
        """Whether of all bots in the chat it was this one."""
        bots = (
            one.sender.id for one in reversed(chat.messages.values()) if one.sender.is_bot and (one.text or one.media)
        )
        return next(bots, None) == self.bot.id

    def _membership(self, chat: Chat, status: Any, member: str, by: Person | None = None) -> None:
        old = {"blocked": "kicked", "kicked": "kicked", "left": "left"}.get(chat.status, "member")
        chat.status = status
        someone = by or chat.person or next(iter(chat.members.values()), self.bot)
        self.updates.add(
            "my_chat_member",
            {
                "chat": chat.to_json(),
                "from": someone.to_json(),
                "date": self.date(),
                "old_chat_member": self.membership(old),
                "new_chat_member": self.membership(member),
            },
        )
        self.changed()

    def membership(self, status: str) -> Json:
        member: Json = {"user": self.bot.to_json(), "status": status}
        return {**member, "until_date": 0} if status == "kicked" else member
