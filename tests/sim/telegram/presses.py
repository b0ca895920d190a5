"""Presses of buttons: which wait for an answer, which were answered too late or twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from tests.sim.telegram.nouns import bad

TOO_OLD = "query is too old and response timeout expired or query ID is invalid"


@dataclass(slots=True)
class Press:
    """``at`` is when it happened, ``heard`` when the bot got it (None: not yet), both monotonic."""

    chat: int
    at: float
    heard: float | None = None
    answered: bool = False
    blamed: bool = False


class Presses:
    """A press can be answered for ``seconds``; one that the bot heard of and left unanswered for ``patience`` is noted."""

    def __init__(self, monotonic: Callable[[], float], note: Callable[[str], None]) -> None:
        self._monotonic, self._note = monotonic, note
        self._ids = itertools.count(4_382_000_000_000_001)
        self.seconds, self.patience = 15.0, 10.0
        self.open_presses: dict[str, Press] = {}
        self.answers: list[tuple[str, str, bool]] = []

    def open(self, chat: int) -> str:
        press = str(next(self._ids))
        self.open_presses[press] = Press(chat, self._monotonic())
        return press

    def heard(self, press: str) -> None:
        if (known := self.open_presses.get(press)) is not None and known.heard is None:
            known.heard = self._monotonic()

    def answer(self, press: str, text: str, *, alert: bool) -> None:
        """Refused for an unknown press, a second answer, or too late."""
        self.sweep()
        known = self.open_presses.get(press)
        if known is None or known.answered or self._monotonic() - known.at > self.seconds:
            raise bad(TOO_OLD)
        known.answered = True
        self.answers.append((press, text, alert))

    def sweep(self) -> None:
        """Note what has waited too long by now."""
        now = self._monotonic()
        for name, press in self.open_presses.items():
            if press.answered or press.blamed or press.heard is None or now - press.heard <= self.patience:
                continue
            press.blamed = True
            self._note(f"callback not answered: {name} in {press.chat}")
