"""The small model's habit of saying the same over and over until its limit: when it is noticed, and where it is cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
_ITEM: Final = re.compile(r"(?m)^\s*\d+(?=[.)、．])")
_ENDS: Final = (re.compile(r"[。！？!?]|\.(?=\s)|\n"), re.compile(r"[，、；,;](?=.)|\s"))
"""Behind a sentence or a line; else before a comma or a space."""


def repeated(text: str) -> tuple[int, int]:
    """The longest end of ``text`` that is one thing at least twice in a row: its length, and the thing's; (0, 0) for none.

    The numbers of list items do not count as a difference.
    """
    tail = _ITEM.sub(lambda number: "#" * len(number.group()), text[-LOOKED_AT_CHARS:])[::-1]
    borders = [0] * len(tail)
    found = (0, 0)
    width = 0
    for index in range(1, len(tail)):
        while width and tail[index] != tail[width]:
            width = borders[width - 1]
        width += tail[index] == tail[width]
        borders[index] = width
        period = index + 1 - width
        if index + 1 >= 2 * period:
            found = (index + 1, period)
    return found


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
            length, period = repeated(self._text)
            if _is_too_much(self._text[len(self._text) - length :], period):
                self._cut = True
                if rest := self._last_words(length, period):
                    yield ModelText(rest)
                return
            if length < HELD_CHARS:
                yield ModelText(self._text[self._shown :])
                self._shown = len(self._text)
        if self._shown < len(self._text):
            yield ModelThinking("")  # held back, but alive

    def _last_words(self, length: int, period: int) -> str:
        """What is still said of the text that was held back: to the end of the sentence that is being read, or the thing
        once where nothing of it has been shown."""
        begun = max(self._shown, len(self._text) - length + period)
        rest = self._text[begun : begun + period + 1]
        for index, ends in enumerate(_ENDS):
            if found := ends.search(rest):
                begun += found.start() if index else found.end()
                break
        return self._text[self._shown : begun].rstrip()


def _is_too_much(end: str, period: int) -> bool:
    if not period:
        return False
    if not any(char.isalpha() for char in end[:period]):
        return len(end) >= SIGNS_CHARS
    times = len(end) / period
    return (times >= SHORT_TIMES and len(end) >= SHORT_CHARS) or (times >= LONG_TIMES and len(end) >= LONG_CHARS)
