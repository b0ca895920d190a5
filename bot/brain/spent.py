"""What one question to a model used, told by the vendor as far as it did, and else estimated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.brain.budget import prompt_tokens
from bot.brain.tokens import estimated_tokens
from bot.core.model import (
    ModelCall,
    ModelEvent,
    ModelRequest,
    ModelStop,
    ModelText,
    ModelThinking,
    ModelUsage,
    Usage,
)


class Spent:
    """Note every event of the answer. An attempt that came to nothing unseen is told to ``wasted``."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._events: list[ModelEvent] = []
        self._wasted: list[Usage] = []
        self._open = False

    def begins(self) -> None:
        """The vendor has taken the request."""
        self._open = True

    def note(self, event: ModelEvent) -> None:
        self._events.append(event)

    def wasted(self, events: Sequence[ModelEvent]) -> None:
        self._wasted.append(used(self._request, events))

    @property
    def answer(self) -> Usage:
        """What the answer itself used; nothing where the vendor never began it."""
        return used(self._request, self._events) if self._open else Usage()

    @property
    def bills(self) -> Iterable[Usage]:
        """One for each attempt that used anything."""
        return [usage for usage in (*self._wasted, self.answer) if usage != Usage()]


def used(request: ModelRequest, events: Sequence[ModelEvent]) -> Usage:
    """The last counts that a vendor gave, if the answer came to its end. Where it broke off, or gave none, what is missing
    of them is estimated from the prompt and from what arrived."""
    told = next((event.usage for event in reversed(events) if isinstance(event, ModelUsage)), None)
    if told is not None and isinstance(events[-1], ModelStop) and (told.input_tokens or told == Usage()):
        return told
    told = told or Usage()
    read, written = told.input_tokens or prompt_tokens(request), max(told.output_tokens, _output_tokens(events))
    return replace(told, input_tokens=read, output_tokens=written, estimated=True)


def _output_tokens(events: Iterable[ModelEvent]) -> int:
    parts: list[str] = []
    for event in events:
        match event:
            case ModelText(text=text) | ModelThinking(text=text):
                parts.append(text)
            case ModelCall(call=call):
                parts.append(call.name + json.dumps(dict(call.arguments), ensure_ascii=False))
    text = "".join(parts)
    return estimated_tokens(text) if text else 0
