"""Who may talk, where, and who is an owner: by the configuration, and by having been let in or sent away since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.ports import OWNER_ID
from bot.inbox.access import Access
from bot.store.people import Person

BY_CONFIG = "config.yaml"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``welcome``: answer; ``refuse``: say so visibly; ``silent``: keep the reason and say nothing."""

    kind: Literal["welcome", "refuse", "silent"]
    reason: str = ""


WELCOME = Verdict("welcome")
NOT_ADDRESSED = Verdict("silent", "not addressed")
NOT_SERVED = Verdict("silent", "group not allowed")


def _as_configured(_: Address) -> str:
    return ""


class Gate:
    """``access`` by channel name, ``trigger`` what was set for one chat ("" for nothing). Whom an adapter has itself proven
    to be the owner is one on any channel.

    ``learn`` keeps what the store says of people in memory, so that a verdict needs no look into it.
    """

    def __init__(self, access: Mapping[str, Access], trigger: Callable[[Address], str] = _as_configured) -> None:
        self._access, self._trigger = dict(access), trigger
        self._people: dict[str, Person] = {}
        self._groups: set[tuple[str, str]] = set()

    def learn(self, *people: Person) -> None:
        """How people stand as of now."""
        self._people |= {person.identity: person for person in people}

    @property
    def owned(self) -> frozenset[str]:
        """Channels whose owner the configuration names."""
        return frozenset(channel for channel, access in self._access.items() if access.owners)

    def configured(self) -> Sequence[Person]:
        """Whom the configuration lets in. The id ``*`` is anyone."""
        people: list[Person] = []
        for channel, access in self._access.items():
            people += [Person(channel, id, standing="owner", by=BY_CONFIG) for id in access.owners]
            people += [Person(channel, id, standing="user", by=BY_CONFIG) for id in access.users]
        return people

    def pairs(self, channel: str) -> bool:
        """Whether unknown people may ask to be let in."""
        return channel in self._access and self._access[channel].pairing

    def is_owner(self, sender: Sender) -> bool:
        return sender.id == OWNER_ID or sender.id in self._listed(sender, "owner") or self._stands(sender) == "owner"

    def owners(self, channel: str) -> Sequence[str]:
        """The ids of the channel's owners, as far as they are known by name."""
        named = self._access[channel].owners if channel in self._access else ()
        learned = [one.id for one in self._people.values() if one.channel == channel and one.standing == "owner"]
        return list(dict.fromkeys((*named, *learned)))

    def allow(self, channel: str, group: str) -> None:
        """From now on the bot answers in this group."""
        self._groups.add((channel, group))

    def serves(self, channel: str, *ids: str) -> bool:
        """Whether the bot may answer in a group that goes by any of these ids."""
        access = self._access.get(channel)
        if access is None:
            return False
        return bool({*ids, "*"} & set(access.groups)) or any((channel, one) in self._groups for one in ids)

    def verdict(self, message: UserMessage) -> Verdict:
        access = self._access.get(message.address.channel)
        if access is None:
            return WELCOME if self.is_owner(message.sender) else Verdict("refuse", "stranger")
        if message.sender.is_bot and not access.bots and message.sender.id not in (*access.owners, *access.users):
            return Verdict("silent", "a bot")  # unless it is one that is let in by name
        if message.direct:
            return WELCOME if self._may_talk(message.sender) else Verdict("refuse", "stranger")
        if not self.serves(message.address.channel, message.address.chat, *message.places):
            return NOT_SERVED
        if self._is_sent_away(message.sender):
            return Verdict("silent", "revoked")
        trigger = self._triggers(message)
        if trigger == "never" or (trigger == "mention" and not message.addressed):
            return NOT_ADDRESSED
        return WELCOME

    def is_call(self, message: UserMessage) -> bool:
        """Whether a message that is not served is a person's call for the bot, which would be answered if it were."""
        called = message.addressed and not message.sender.is_bot and not self._is_sent_away(message.sender)
        return called and self._triggers(message) != "never"

    def _triggers(self, message: UserMessage) -> str:
        access = self._access.get(message.address.channel)
        return self._trigger(message.address) or (access.trigger if access else "never")

    def _may_talk(self, sender: Sender) -> bool:
        if self.is_owner(sender) or self._stands(sender) == "user":
            return True
        users = self._listed(sender, "user")
        return sender.id in users or ("*" in users and not self._is_sent_away(sender))

    def _is_sent_away(self, sender: Sender) -> bool:
        """Whoever the configuration names stays: the file is the owner's latest word."""
        named = {*self._listed(sender, "owner"), *self._listed(sender, "user")}
        return self._stands(sender) == "revoked" and sender.id not in named

    def _stands(self, sender: Sender) -> str:
        person = self._people.get(sender.identity)
        return person.standing if person else ""

    def _listed(self, sender: Sender, standing: Literal["owner", "user"]) -> tuple[str, ...]:
        access = self._access.get(sender.channel)
        if access is None:
            return ()
        return access.owners if standing == "owner" else access.users
