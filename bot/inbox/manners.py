"""Manners in a group: who is called by name answers, and two bots do not talk to each other for ever."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from typing import Final

from bot.core.address import Address
from bot.core.inbound import UserMessage
from bot.core.ports import Clock

BOT_MESSAGES: Final = 20
BOT_SECONDS: Final = 60.0
PAIRS_KEPT: Final = 500
_GREETING: Final = r"(?:(?:hey|hi|hello|ok|okay|dear)\b|嗨|你好|喂)?[\s,，]*"
_END: Final = r"(?:[\s,.:;!?，。：；！？、]+|$)"


class Manners:
    """``name`` is what the assistant is called."""

    def __init__(self, name: str, clock: Clock) -> None:
        end = _END if name[-1:].isascii() else f"{_END}?"  # Chinese puts nothing between a name and what follows it
        self._called = re.compile(rf"\s*{_GREETING}@?{re.escape(name)}{end}", re.IGNORECASE) if name else None
        self._clock = clock
        self._bots: dict[tuple[Address, str], deque[float]] = {}

    def meant(self, message: UserMessage) -> UserMessage:
        """The message, addressed to the bot where it begins with its name."""
        if message.direct or message.addressed or self._called is None:
            return message
        called = self._called.match(message.text)
        if called is None:
            return message
        return replace(message, addressed=True, text=message.text[called.end() :].strip() or message.text)

    def too_talkative(self, message: UserMessage) -> bool:
        """Whether its sender is a bot that has just said so much in this chat, in whatever threads of it, that the two are
        cut off for a while."""
        if not message.sender.is_bot:
            return False
        now = self._clock.monotonic()
        if len(self._bots) > PAIRS_KEPT:
            self._bots = {pair: said for pair, said in self._bots.items() if now - said[-1] < BOT_SECONDS}
        chat = replace(
            message.address, thread=""
        )  # where every question opens a thread, no two would be counted as one
        said = self._bots.setdefault((chat, message.sender.id), deque(maxlen=BOT_MESSAGES))
        if len(said) == BOT_MESSAGES and now - said[0] < BOT_SECONDS:
            return True
        said.append(now)
        return False
