"""The small model's habit of saying the same over and over until its limit: when it is noticed, and where it is cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.core.model import ModelEvent, ModelStop, ModelStopReason, ModelText, ModelThinking
from bot.providers.wire import Answer

LOOKED_AT_CHARS: Final = 1500
"""Of the end of the answer: a stanza three times."""
HELD_CHARS: Final = 24
"""From such a length on, what has been said twice and goes on is held back."""
SHORT_CHARS: Final = 120
SHORT_TIMES: Final = 6
LONG_CHARS: Final = 240
LONG_TIMES: Final = 3
"""An answer is over that says a short thing ``SHORT_TIMES`` or a long one ``LONG_TIMES`` in a row, and so much of it."""
SIGNS_CHARS: Final = 600
"""Rules, tables and rows of figures are made of repeated signs."""
STEP_CHARS: Final = 60
_ITEM: Final = re.compile(r"(?m)^ *\d+(?=[.)、．]|\Z)")
_ENDS: Final = (re.compile(r"(?<=[。！？!?])|(?<=[^\d\s]\.)(?=\s)|\n"), re.compile(r"[，、；,;]|\s"))
"""Where a sentence or a line is over; else a comma or a space."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The end of a text from ``first`` on says one thing ``times`` in a row, at least twice; ``second`` is where it begins
    again."""

    first: int
    second: int
    times: float


def repetition(text: str) -> Repetition | None:
    """The longest at the end of ``text``. The numbers of list items do not count as a difference."""
    tail, places = _without_numbers(text)
    backwards = tail[::-1]
    borders = [0] * len(tail)
    width = length = period = 0
    for index in range(1, len(tail)):
        while width and backwards[index] != backwards[width]:
            width = borders[width - 1]
        width += backwards[index] == backwards[width]
        borders[index] = width
        if width * 2 >= index + 1:
            length, period = index + 1, index + 1 - width
    if not length:
        return None
    first = len(tail) - length
    return Repetition(places[first], places[first + period], length / period)


def _without_numbers(text: str) -> tuple[str, list[int]]:
    """The end of ``text`` with one sign for the number of each list item, and where in ``text`` each character stands."""
    start = max(0, len(text) - LOOKED_AT_CHARS)
    parts: list[str] = []
    places: list[int] = []
    for number in _ITEM.finditer(text, start):
        parts += (text[start : number.start()], "#")
        places += range(start, number.start() + 1)
        start = number.end()
    parts.append(text[start:])
    places += range(start, len(text))
    return "".join(parts), places


class RepeatStream:
    """A parser around another: an answer that only repeats itself ends where a sentence does, as if it were complete.

    Repetition is held back until it is clear what it is, so that a person sees little of it.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._text = ""
        self._shown = 0
        self._cut = False

    @property
    def complete(self) -> bool:
        return self._cut or self._answer.complete

    @property
    def closed(self) -> bool:
        return self._cut or self._answer.closed

    def feed(self, payload: str) -> list[ModelEvent]:
        return list(self._checked(self._answer.feed(payload)))

    def end(self) -> list[ModelEvent]:
        return list(self._checked(self._answer.end()))

    def _checked(self, events: Iterable[ModelEvent]) -> Iterator[ModelEvent]:
        for event in events:
            if isinstance(event, ModelText):
                yield from self._said(event.text)
                if self._cut:
                    yield ModelStop(ModelStopReason.END, "repeats itself")
                    return
            else:
                if isinstance(event, ModelStop) and self._shown < len(self._text):
                    yield ModelText(self._text[self._shown :])
                yield event

    def _said(self, text: str) -> Iterator[ModelEvent]:
        for start in range(0, len(text), STEP_CHARS):
            self._text += text[start : start + STEP_CHARS]
            found = repetition(self._text)
            if found and _is_too_much(self._text[found.first :], found):
                self._cut = True
                if rest := self._last_words(found):
                    yield ModelText(rest)
                return
            if found is None or len(self._text) - found.first < HELD_CHARS:
                yield ModelText(self._text[self._shown :])
                self._shown = len(self._text)
        if self._shown < len(self._text):
            yield ModelThinking("")  # held back, but alive

    def _last_words(self, found: Repetition) -> str:
        """What is still said of the text that was held back: to the end of the sentence that is being read, or the thing
        once where nothing of it has been shown."""
        begun = max(self._shown, found.second)
        rest = self._text[begun : begun + 2 * (found.second - found.first)]
        for ends in _ENDS:
            if end := ends.search(rest):
                return self._text[self._shown : begun + end.start()].rstrip()
        return self._text[self._shown : begun].rstrip()


def _is_too_much(end: str, found: Repetition) -> bool:
    if not any(char.isalpha() for char in end[: found.second - found.first]):
        return len(end) >= SIGNS_CHARS
    short = found.times >= SHORT_TIMES and len(end) >= SHORT_CHARS
    return short or (found.times >= LONG_TIMES and len(end) >= LONG_CHARS)
