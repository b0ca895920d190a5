"""The small model's habit of answering with the question, or with a tool's raw words, when a tool has told the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.core.model import ModelEvent, ModelStop, ModelText, ModelThinking
from bot.providers.wire import Answer

_NOT_WORDS: Final = re.compile(r"[\W_]+")
QUESTION_SHARE: Final = 0.6
KNOWN_SHARE: Final = 0.4
"""How much of the question, or of what the model was told, is no answer of its own."""


class EchoStream:
    """A parser around another: an answer that is most of ``question`` or of ``known``, what the model was told, and
    nothing else becomes ``told``, the same for a person to read.

    Text is held back only as long as it could still be such words.
    """

    def __init__(self, answer: Answer, question: str, known: str, told: str) -> None:
        self._answer, self._told = answer, told
        self._sources = ((_words(question), QUESTION_SHARE), (_words(known), KNOWN_SHARE))
        self._held = ""
        self._passed = False

    @property
    def complete(self) -> bool:
        return self._answer.complete

    @property
    def closed(self) -> bool:
        return self._answer.closed

    def feed(self, payload: str) -> list[ModelEvent]:
        return list(self._checked(self._answer.feed(payload)))

    def end(self) -> list[ModelEvent]:
        return list(self._checked(self._answer.end()))

    def _checked(self, events: Iterable[ModelEvent]) -> Iterable[ModelEvent]:
        for event in events:
            if self._passed:
                yield event
            elif isinstance(event, ModelText):
                self._held += event.text
                self._passed = not any(_words(self._held) in source for source, _ in self._sources)
                yield ModelText(self._held) if self._passed else ModelThinking("")  # held back, but alive
            else:
                if isinstance(event, ModelStop) and self._held:
                    yield ModelText(self._told if self._is_echo() else self._held)
                yield event

    def _is_echo(self) -> bool:
        held = _words(self._held)
        return any(held in source and len(held) >= share * len(source) > 0 for source, share in self._sources)


def _words(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()
