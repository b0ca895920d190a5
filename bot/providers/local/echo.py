"""The small model's habit of answering a question with the question, though a tool has just told it the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.core.model import ModelEvent, ModelStop, ModelText, ModelThinking
from bot.providers.wire import Answer

_NOT_WORDS: Final = re.compile(r"[\W_]+")
ECHO_SHARE: Final = 0.6


class EchoStream:
    """A parser around another: an answer that is most of ``question`` and nothing else becomes ``facts``.

    Text is held back only as long as it could still be words of the question.
    """

    def __init__(self, answer: Answer, question: str, facts: str) -> None:
        self._answer, self._question, self._facts = answer, _words(question), facts
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
                self._passed = _words(self._held) not in self._question
                yield ModelText(self._held) if self._passed else ModelThinking("")  # held back, but alive
            else:
                if isinstance(event, ModelStop) and self._held:
                    echo = len(_words(self._held)) >= ECHO_SHARE * len(self._question) > 0
                    yield ModelText(self._facts if echo else self._held)
                yield event


def _words(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()
