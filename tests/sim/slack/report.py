"""When things happened in each channel, in one clock, so that a bench can compute latencies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from tests.sim.slack.nouns import Json


@dataclass(slots=True)
class Round:
    """From one message of a person to their next. Times are ``perf_counter`` seconds of the simulator's process;
    ``sends`` are posts and streams, ``edits`` appends and updates."""

    said_at: float
    ts: str
    delivered_at: float | None = None
    first_text_at: float | None = None
    last_change_at: float | None = None
    sends: int = 0
    edits: int = 0


class Report:
    """The current round of every channel, and those that went before."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.rounds: dict[str, Round] = {}
        self.earlier: dict[str, list[Round]] = {}
        self._readers: dict[str, Callable[[], str]] = {}
        self._texts: dict[str, str] = {}

    def said(self, channel: str, ts: str) -> None:
        if (before := self.rounds.get(channel)) is not None:
            self.earlier.setdefault(channel, []).append(before)
        self.rounds[channel] = Round(self._clock(), ts)
        self._readers.pop(channel, None)
        self._texts.pop(channel, None)

    def handed(self, channel: str, ts: str) -> None:
        """The message's event goes out to the app for the first time."""
        current = self.rounds.get(channel)
        if current is not None and current.ts == ts and current.delivered_at is None:
            current.delivered_at = self._clock()

    def shown(self, channel: str, read: Callable[[], str], *, empty: bool, edit: bool) -> None:
        """The bot's text became visible, or changed. ``read`` gives it to whoever asks, as reading costs."""
        current = self.rounds.get(channel)
        if current is None:
            return
        now = self._clock()
        if not empty:
            current.first_text_at = current.first_text_at or now
        current.last_change_at = now
        current.sends += not edit
        current.edits += edit
        self._readers[channel] = read
        self._texts.pop(channel, None)

    def text(self, channel: str) -> str:
        """What the bot showed last in this round, as people read it."""
        if channel not in self._texts:
            self._texts[channel] = self._readers[channel]() if channel in self._readers else ""
        return self._texts[channel]

    def to_json(self) -> Json:
        return {channel: {**asdict(current), "text": self.text(channel)} for channel, current in self.rounds.items()}

    def clear(self) -> None:
        self.rounds.clear()
        self.earlier.clear()
        self._readers.clear()
        self._texts.clear()
