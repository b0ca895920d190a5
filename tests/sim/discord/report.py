"""When things happened in each channel, in one clock, so that a bench can compute latencies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from tests.sim.discord.refusals import Json


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
    """The current round of every channel, and how many went before."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.rounds: dict[int, Round] = {}
        self.earlier: dict[int, list[Round]] = {}

    def said(self, channel: int, message_id: int) -> None:
        if (before := self.rounds.get(channel)) is not None:
            self.earlier.setdefault(channel, []).append(before)
        self.rounds[channel] = Round(self._clock(), message_id)

    def handed(self, body: Json) -> None:
        """A MESSAGE_CREATE goes out to the bot."""
        current = self.rounds.get(int(body.get("channel_id", 0)))
        if current is not None and str(current.message_id) == body.get("id"):
            current.delivered_at = current.delivered_at or self._clock()

    def shown(self, channel: int, text: str, *, edit: bool) -> None:
        """The bot's text became visible, or changed."""
        current = self.rounds.get(channel)
        if current is None:
            return
        now = self._clock()
        current.first_text_at = current.first_text_at or now
        current.last_change_at, current.text = now, text
        current.sends += not edit
        current.edits += edit

    def to_json(self) -> Json:
        return {str(channel): asdict(current) for channel, current in self.rounds.items()}

    def clear(self) -> None:
        self.rounds.clear()
        self.earlier.clear()
