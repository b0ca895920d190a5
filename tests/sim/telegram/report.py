"""When things happened in each chat, in one clock, so that a bench can compute latencies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tests.sim.telegram.nouns import Json


@dataclass(slots=True)
class Round:
    """From one message of a person to their next. Times are ``perf_counter`` seconds of the simulator's process."""

    said_at: float
    message_id: int
    delivered_at: float | None = None
    first_text_at: float | None = None
    last_change_at: float | None = None
    text: str = ""
    sends: int = 0
    edits: int = 0


class Report:
    """The current round of every chat, and how many went before."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.rounds: dict[int, Round] = {}
        self.earlier: dict[int, list[Round]] = {}

    def said(self, chat: int, message_id: int) -> None:
        if (before := self.rounds.get(chat)) is not None:
            self.earlier.setdefault(chat, []).append(before)
        self.rounds[chat] = Round(self._clock(), message_id)

    def handed(self, update: Any) -> None:
        """An update goes out to the poller for the first time."""
        message = update.get("message") if isinstance(update, dict) else None
        if not isinstance(message, dict) or not isinstance(message.get("chat"), dict):
            return
        current = self.rounds.get(message["chat"].get("id", 0))
        if current is not None and current.message_id == message.get("message_id"):
            current.delivered_at = self._clock()

    def shown(self, chat: int, text: str, *, edit: bool) -> None:
        """The bot's text became visible, or changed."""
        current = self.rounds.get(chat)
        if current is None:
            return
        now = self._clock()
        current.first_text_at = current.first_text_at or now
        current.last_change_at, current.text = now, text
        current.sends += not edit
        current.edits += edit

    def to_json(self) -> Json:
        return {str(chat): asdict(current) for chat, current in self.rounds.items()}

    def clear(self) -> None:
        self.rounds.clear()
        self.earlier.clear()
