"""The side of the people: what a test does in their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.sim.telegram.nouns import Chat, Json, Person
from tests.sim.telegram.updates import Updates
from tests.sim.telegram.world import World


class People:
    """Needs ``world`` and ``updates``. What reaches the bot is an update; privacy and ``allowed_updates`` decide."""

    world: World
    updates: Updates

    def person(self, id: int, name: str, *, username: str = "", language: str = "", is_bot: bool = False) -> Person:
        return self.world.person(id, name, username=username, language=language, is_bot=is_bot)

    def private(self, person: Person, *, started: bool = True) -> Chat:
        """The chat of a person with the bot. Not ``started``: the bot may not write there until the person does."""
        return self.world.private(person, started=started)

    def group(self, id: int, title: str, **options: Any) -> Chat:
        """``members``, ``bot_privacy`` (True), ``forum``, ``supergroup`` (True; False: a basic group), ``admin``."""
        return self.world.group(id, title, **options)

    def chat(self, id: int) -> Chat:
        """A chat that exists. KeyError otherwise."""
        return self.world.chats[id]

    def topic(self, chat: Chat, name: str) -> int:
        return self.world.topic(chat, name)

    async def say(self, chat: Chat, person: Person, text: str, **options: Any) -> Json:
        """A person writes; returns the message (World.say tells the options)."""
        return self.world.say(chat, person, text, **options)

    async def album(self, chat: Chat, person: Person, captions: Sequence[str], **options: Any) -> list[Json]:
        return self.world.album(chat, person, captions, **options)

    async def paste(self, chat: Chat, person: Person, text: str, **options: Any) -> list[Json]:
        return self.world.paste(chat, person, text, **options)

    async def edit(self, chat: Chat, person: Person, message_id: int, text: str) -> Json:
        return self.world.edit(chat, person, message_id, text)

    async def press(self, chat: Chat, person: Person, message_id: int, key: str, *, stale: bool = False) -> str:
        """Press the button of this payload or label; the callback id."""
        return self.world.press(chat, person, message_id, key, stale=stale)

    async def react(self, chat: Chat, person: Person, message_id: int, *emoji: str) -> None:
        self.world.react(chat, person, message_id, *emoji)

    async def delete(self, chat: Chat, message_id: int) -> None:
        self.world.delete(chat, message_id)

    async def stop(self, chat: Chat, draft_id: int, thread: int | None = None) -> None:
        """Press Stop at a draft of this id."""
        self.world.stop(chat, draft_id, thread)

    async def stop_draft(self, chat: Chat, thread: int | None = None) -> None:
        """Press Stop at the draft that is on screen. LookupError when there is none, or none that has the button."""
        self.world.stop_draft(chat, thread)

    async def feed(self, raw: Any) -> int:
        """Queue any update, also a broken one; its id. An object without ``update_id`` gets one."""
        return self.updates.feed(raw)

    def redeliver(self, update_id: int) -> None:
        """Hand an update out again although it was confirmed."""
        self.updates.redeliver(update_id)

    def block(self, chat: Chat) -> None:
        """The person blocks the bot; in a group: it is thrown out."""
        self.world.block(chat)

    def unblock(self, chat: Chat) -> None:
        self.world.unblock(chat)

    def add_bot(self, chat: Chat, by: Person, *, admin: bool = False) -> None:
        """A person adds the bot to a group."""
        self.world.add_bot(chat, by, admin=admin)

    def migrate(self, chat: Chat, new_id: int) -> Chat:
        """The group becomes the supergroup ``new_id``, which is returned."""
        return self.world.migrate(chat, new_id)
