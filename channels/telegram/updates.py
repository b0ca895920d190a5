"""What Telegram delivers: raw updates as inbounds. Pure; every kind is either taken or left on purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.core.address import Address, Sender
from bot.core.inbound import (
    ButtonPress,
    Inbound,
    Joined,
    MessageEdited,
    Quote,
    Reaction,
    StopPressed,
    UserMessage,
)
from bot.inbox.commands import command_of
from channels.telegram.said import ALONE, files_of, name_of, origin, replied_to, text_of
from channels.telegram.shared import shared

ALLOWED: Final = (
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "message_reaction",
    "stopped_message_generation",
)
"""The kinds that are asked for. A list of its own: the library's names of all kinds hide those that are newer than it."""
TOPIC_OF_ALL: Final = "1"
"""The general topic of a forum: messages there carry no thread, and none may be given for it."""

_SAID: Final = frozenset(
    {"text", "caption", "photo", "contact", "location", "venue", "poll", "dice", "story", "rich_message", "paid_media"}
    | {"checklist", "game", "giveaway", "invoice"}
    | {kind for kind, _ in ALONE}
)
"""A message without any of these is a note of the service: somebody joined, something was pinned."""

Raw = Mapping[str, Any]


class Unreadable(Exception):
    """An update that is not as the Bot API documents it. ``str()`` names the fault and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself, as ``getMe`` tells."""

    id: int
    username: str
    reads_all: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """An update that is not for anybody to answer, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Moving:
    """A group became a supergroup, which has an id of its own."""

    old: str
    new: str


def inbound_of(update: Raw, me: Me, channel: str, account: str) -> Inbound | tuple[Reaction, ...] | Left | Moving:
    """Raises ``Unreadable``. Ids are Telegram's own: a message's is unique in its chat. Several reactions may change at
    once."""
    try:
        reader = _Reader(me, channel, account)
        if isinstance(message := update.get("message"), Mapping):
            return reader.message(message)
        if isinstance(edited := update.get("edited_message"), Mapping):
            return reader.edited(edited, update.get("update_id"))
        if isinstance(press := update.get("callback_query"), Mapping):
            return reader.press(press)
        if isinstance(reaction := update.get("message_reaction"), Mapping):
            return reader.reactions(reaction)
        if isinstance(stop := update.get("stopped_message_generation"), Mapping):
            return reader.stopped(stop, update.get("update_id"))
        if isinstance(member := update.get("my_chat_member"), Mapping):
            return reader.joined(member)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise Unreadable(f"{type(error).__name__} in a {_kind_of(update)}") from None
    return Left(_kind_of(update))


def _kind_of(update: Raw) -> str:
    return next((str(key)[:40] for key in update if key != "update_id"), "nothing")


class _Reader:
    def __init__(self, me: Me, channel: str, account: str) -> None:
        self._me, self._channel, self._account = me, channel, account

    def message(self, raw: Raw) -> Inbound | Left | Moving:
        for field, is_new in (("migrate_to_chat_id", False), ("migrate_from_chat_id", True)):
            if field in raw:
                here, there = str(int(raw["chat"]["id"])), str(int(raw[field]))
                return Moving(there, here) if is_new else Moving(here, there)
        if not _SAID & raw.keys():
            return Left("a service message")
        text, entities = text_of(raw)
        direct = raw["chat"]["type"] == "private"
        if direct:
            addressed = True
        else:
            if self._is_for_another(text, entities):
                return Left("a command for another bot")
            text, addressed = self._meant(raw, text, entities)
        forwarded = "forward_origin" in raw
        if forwarded:
            quote: Quote | None = Quote(text or shared(raw), origin(raw["forward_origin"]), forwarded=True)
        else:
            quote = Quote(told, forwarded=True) if (told := shared(raw)) else replied_to(raw, self._channel)
        return UserMessage(
            id=str(int(raw["message_id"])),
            address=self._address(raw),
            sender=self._sender(raw),
            text="" if forwarded else text,
            sent_at=float(raw["date"]),
            direct=direct,
            addressed=addressed,
            files=files_of(raw, self._channel),
            quote=quote,
        )

    def edited(self, raw: Raw, update: Any) -> Inbound | Left:
        """Telegram dates edits in whole seconds, within which there may be two: the number of the update tells them apart."""
        if not _SAID & raw.keys():
            return Left("a service message")
        number, at = int(raw["message_id"]), float(raw.get("edit_date") or raw["date"])
        text, entities = text_of(raw)
        if raw["chat"]["type"] != "private":
            text, _ = self._meant(raw, text, entities)
        return MessageEdited(f"{number}.{int(update)}", self._address(raw), self._sender(raw), str(number), text, at)

    def press(self, raw: Raw) -> Inbound | Left:
        """The message may be one that Telegram no longer shows to bots; its chat and number are there all the same."""
        message = raw.get("message")
        if not isinstance(message, Mapping):
            return Left("a press on a message of another chat")
        return ButtonPress(
            id=str(raw["id"]),
            address=self._address(message),
            sender=self._person(raw["from"]),
            payload=str(raw.get("data") or ""),
            sent_at=float(message.get("date") or 0),
            token=str(raw["id"]),
        )

    def reactions(self, raw: Raw) -> tuple[Reaction, ...] | Left:
        """What somebody took back from a message, and then what they added. Telegram does not tell its topic."""
        before, after = (_emojis(raw.get(f"{name}_reaction") or ()) for name in ("old", "new"))
        changes = [(emoji, False) for emoji in before if emoji not in after]
        changes += [(emoji, True) for emoji in after if emoji not in before]
        if not changes:
            return Left("a reaction that changes nothing")
        number, at = str(int(raw["message_id"])), float(raw["date"])
        actor = raw.get("actor_chat")
        sender = self._chat(actor) if isinstance(actor, Mapping) else self._person(raw["user"])
        address = self._place(raw)
        return tuple(
            Reaction(
                f"{number}.{sender.id}.{at:.0f}.{'+' if added else '-'}{emoji}",
                *(address, sender, number, emoji, added, at),
            )
            for emoji, added in changes
        )

    def stopped(self, raw: Raw, update: Any) -> StopPressed | Left:
        """Telegram does not say who pressed it: there are drafts in private chats alone."""
        chat = raw["chat"]
        if chat["type"] != "private":
            return Left("the stop of a draft in a group")
        pressed = f"{int(raw['draft_id'])}.{int(update)}"
        return StopPressed(pressed, self._place(raw, raw.get("message_thread_id")), self._person(chat), 0.0)

    def joined(self, raw: Raw) -> Joined | Left:
        """The bot is in a group in which it was not."""
        chat = raw["chat"]
        if (
            chat["type"] not in ("group", "supergroup")
            or _is_in(raw["old_chat_member"])
            or not _is_in(raw["new_chat_member"])
        ):
            return Left("another change of what the bot is in a chat")
        at = float(raw["date"])
        address = self._place(raw)
        return Joined(f"{at:.0f}", address, self._person(raw["from"]), address.chat, str(chat.get("title") or ""), at)

    def _address(self, raw: Raw) -> Address:
        return self._place(raw, raw.get("message_thread_id") if raw.get("is_topic_message") else None)

    def _place(self, raw: Raw, thread: Any = None) -> Address:
        named = "" if thread is None or str(thread) == TOPIC_OF_ALL else str(int(thread))
        return Address(self._channel, self._account, str(int(raw["chat"]["id"])), named)

    def _sender(self, raw: Raw) -> Sender:
        """Who writes in the name of a chat (an anonymous admin, a linked channel) is that chat."""
        behalf = raw.get("sender_chat")
        return self._chat(behalf) if isinstance(behalf, Mapping) else self._person(raw["from"])

    def _chat(self, raw: Raw) -> Sender:
        return Sender(self._channel, str(int(raw["id"])), str(raw.get("title") or ""))

    def _person(self, raw: Raw) -> Sender:
        language = str(raw.get("language_code") or "")
        return Sender(self._channel, str(int(raw["id"])), name_of(raw), bool(raw.get("is_bot")), language)

    def _meant(self, raw: Raw, text: str, entities: Sequence[Raw]) -> tuple[str, bool]:
        """The text without a mention of the bot at its edge, and whether the bot is meant."""
        original = raw.get("reply_to_message") or {}  # in a topic every message replies to the note that opened it
        meant = self._is_me(original.get("from")) and "forum_topic_created" not in original
        units = text.encode("utf-16-le", "surrogatepass")
        cuts: list[tuple[int, int]] = []
        for entity in entities:
            begin, end = int(entity["offset"]), int(entity["offset"]) + int(entity["length"])
            said = units[2 * begin : 2 * end].decode("utf-16-le", "replace")
            match entity.get("type"):
                case "mention" if said.lower() == f"@{self._me.username}".lower():
                    cuts.append((begin, end))
                case "text_mention" if self._is_me(entity.get("user")):
                    cuts.append((begin, end))
                case "bot_command" if begin == 0 and ("@" in said or _is_known(text)):
                    meant = True
        for begin, end in sorted(cuts, reverse=True):
            before, after = units[: 2 * begin], units[2 * end :]
            if not _letters(before).strip():
                units = _letters(after).lstrip(" ,:\n").encode("utf-16-le", "surrogatepass")
            elif not _letters(after).strip():
                units = before
        return (_letters(units).strip() if cuts else text), meant or bool(cuts)

    def _is_for_another(self, text: str, entities: Sequence[Raw]) -> bool:
        for entity in entities:
            if entity.get("type") == "bot_command" and int(entity["offset"]) == 0:
                _, at, other = text[: int(entity["length"])].partition("@")
                return bool(at) and other.lower() != self._me.username.lower()
        return False

    def _is_me(self, user: Any) -> bool:
        return isinstance(user, Mapping) and user.get("id") == self._me.id


def _is_known(text: str) -> bool:
    """Where several bots are, a command that this one does not know is another's."""
    command = command_of(text)
    return command is not None and command.known


def _emojis(raw: Sequence[Raw]) -> list[str]:
    """Those without a character of their own by a name."""
    return [
        str(one["emoji"])
        if "emoji" in one
        else f"custom:{one['custom_emoji_id']}"
        if "custom_emoji_id" in one
        else "paid"
        for one in raw
    ]


def _is_in(member: Raw) -> bool:
    status = str(member["status"])
    return status in ("member", "administrator", "creator") or (
        status == "restricted" and bool(member.get("is_member"))
    )


def _letters(units: bytes) -> str:
    return units.decode("utf-16-le", "replace")
