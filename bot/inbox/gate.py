"""Who may talk, where, and who is an owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.core.address import Sender
from bot.core.inbound import UserMessage
from bot.core.ports import OWNER_ID
from bot.inbox.access import Access


@dataclass(frozen=True, slots=True)
class Verdict:
    """``welcome``: answer; ``refuse``: say so visibly; ``silent``: keep the reason and say nothing."""

    kind: Literal["welcome", "refuse", "silent"]
    reason: str = ""


WELCOME = Verdict("welcome")


class Gate:
    """``access`` by channel name. Whom an adapter has itself proven to be the owner is one on any channel."""

    def __init__(self, access: Mapping[str, Access]) -> None:
        self._access = dict(access)

    def is_owner(self, sender: Sender) -> bool:
        access = self._access.get(sender.channel)
        return sender.id == OWNER_ID or (access is not None and sender.id in access.owners)

    def verdict(self, message: UserMessage) -> Verdict:
        access = self._access.get(message.address.channel)
        if access is None:
            return WELCOME if self.is_owner(message.sender) else Verdict("refuse", "stranger")
        if message.sender.is_bot and not access.bots:
            return Verdict("silent", "a bot")
        if message.direct:
            known = self.is_owner(message.sender) or {message.sender.id, "*"} & set(access.users)
            return WELCOME if known else Verdict("refuse", "stranger")
        if not {message.address.chat, "*"} & set(access.groups):
            return Verdict("silent", "group not allowed")
        if access.trigger == "never" or (access.trigger == "mention" and not message.addressed):
            return Verdict("silent", "not addressed")
        return WELCOME
