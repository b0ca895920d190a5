"""The text of an answer as a server streams it, with everything taken out that is not for the person."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from bot.core.model import ModelEvent, ModelText, ModelThinking
from bot.providers.spoken import SpokenCall, SpokenCalls
from bot.providers.thinking import ThinkFilter


class Characters:
    """Joins surrogate halves that were escaped in two frames; a half that stays alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole_characters(text)

    def end(self) -> str:
        half, self._half = self._half, ""
        return whole_characters(half)


def whole_characters(text: str) -> str:
    """``text`` with surrogate pairs joined and lone halves replaced, so that it can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def block_json(block: Any) -> str:
    """A vendor's block as JSON that can be stored; reading it back gives exactly the same block."""
    text = json.dumps(block, ensure_ascii=False, separators=(",", ":"))
    return text if text == whole_characters(text) else json.dumps(block, separators=(",", ":"))


class Prose:
    """Answer text in, events out: reasoning between tags and calls written as text never come out as text.

    ``tools`` are the names that a written call may have; none where no tools were offered.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self._characters = Characters()
        self._thinking = ThinkFilter()
        self._spoken = SpokenCalls(tools)

    def feed(self, text: str) -> list[ModelEvent]:
        return list(self._shown(self._thinking.feed(self._characters.feed(text))))

    def end(self) -> tuple[list[ModelEvent], list[SpokenCall]]:
        """The text still held back, and the calls that were written as text."""
        pieces = self._thinking.feed(self._characters.end()) + self._thinking.end()
        events = list(self._shown(pieces))
        rest, calls = self._spoken.end()
        return [*events, ModelText(rest)] if rest.strip() else events, calls

    def _shown(self, pieces: Iterable[ModelText | ModelThinking]) -> Iterable[ModelEvent]:
        for piece in pieces:
            if isinstance(piece, ModelThinking):
                yield piece
            elif text := self._spoken.feed(piece.text):
                yield ModelText(text)
            else:
                yield ModelThinking("")  # held back, but it grows
