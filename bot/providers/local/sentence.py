"""One sentence where a person asked for one: the small model, asked to sum up in one, copies them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from bot.core.model import ModelEvent, ModelStop, ModelStopReason, ModelText
from bot.providers.wire import Answer

_WANTED: Final = re.compile(
    r"\b(?:in|into|as|with) (?:just |only |no more than )?(?:one|a single|1)(?: short| simple)? sentence\b"
    r"|(?:用|以|成|为)一(?:句|个句子)话?|一句话(?:概括|总结|说明|介绍|描述|解释)",
    re.IGNORECASE,
)
_OVER: Final = re.compile(r"[。！？]|(?:(?<=[^\W\d]{2})|(?<=\d\d))[.!?](?=\s+[A-Z\"“‘])|\n\s*(?=\S)")
"""A point behind one letter is an initial, and behind one figure the number of a list."""
LEAST_CHARS: Final = 8
"""An exclamation before the sentence is none."""


def wants_one_sentence(words: str) -> bool:
    return bool(_WANTED.search(words))


class OneSentence:
    """A parser around another: the answer is complete at the end of its first sentence."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._text = ""
        self._over = False

    @property
    def complete(self) -> bool:
        return self._over or self._answer.complete

    @property
    def closed(self) -> bool:
        return self._over or self._answer.closed

    def feed(self, payload: str) -> list[ModelEvent]:
        return list(self._checked(self._answer.feed(payload)))

    def end(self) -> list[ModelEvent]:
        return list(self._checked(self._answer.end()))

    def _checked(self, events: Iterable[ModelEvent]) -> Iterator[ModelEvent]:
        for event in events:
            if not isinstance(event, ModelText):
                yield event
                continue
            shown = len(self._text)
            self._text += event.text
            end = next((found.end() for found in _OVER.finditer(self._text) if found.end() >= LEAST_CHARS), None)
            if end is None:
                yield event
                continue
            self._over = True
            if rest := self._text[shown:end].rstrip():
                yield ModelText(rest)
            yield ModelStop(ModelStopReason.END, "one sentence")
            return
