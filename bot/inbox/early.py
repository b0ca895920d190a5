"""Edits that came before the message they change: platforms deliver again, and not always in order."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from bot.core.address import Address
from bot.core.inbound import MessageEdited, UserMessage
from bot.core.ports import Clock

KEPT: Final = 500
KEPT_SECONDS: Final = 3600.0
"""What Slack delivers again comes within five minutes; Discord catches up on a day, but then messages read as they do now."""


class EarlyEdits:
    """Of each message that has not come yet the newest edit, whatever thread it is told of. A restart forgets them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[Address, str], tuple[float, MessageEdited]] = OrderedDict()

    def keep(self, edit: MessageEdited) -> None:
        now, key = self._clock.monotonic(), _key(edit.address, edit.message_id)
        before = self._kept.pop(key, None)
        if before is not None and before[1].sent_at > edit.sent_at:
            edit = before[1]
        self._kept[key] = now, edit
        while len(self._kept) > KEPT or next(iter(self._kept.values()))[0] < now - KEPT_SECONDS:
            self._kept.popitem(last=False)

    def take(self, message: UserMessage) -> MessageEdited | None:
        """The edit, once; None where there was none."""
        _, edit = self._kept.pop(_key(message.address, message.id), (0.0, None))
        return edit if edit is None or edit.sender.identity == message.sender.identity else None

    def drop(self, edit: MessageEdited) -> None:
        """The message is here."""
        self._kept.pop(_key(edit.address, edit.message_id), None)


def _key(address: Address, message_id: str) -> tuple[Address, str]:
    return replace(address, thread=""), message_id
