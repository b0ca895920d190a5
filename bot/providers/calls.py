"""Tool calls as vendors send them: their ids, and what becomes of them when the answer ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.core.model import (
    CallBlock,
    ModelCall,
    ModelEvent,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelThought,
)
from bot.core.ports import Clock
from bot.core.tool import ToolCall
from bot.providers.arguments import Arguments, arguments_of
from bot.providers.prose import whole_characters

CUT_OFF: Final = "cut off by the output limit"
_NEVER_RUN: Final = {
    ModelStopReason.MAX_TOKENS: CUT_OFF,
    ModelStopReason.CONTEXT_FULL: CUT_OFF,
    ModelStopReason.REFUSED: "the answer was stopped before the call was finished",
    ModelStopReason.PAUSED: "the answer was paused before the call was finished",
}


class CallIds:
    """Ids for the calls of one answer: the vendor's own where it has one that is new, else one of ours.

    Ours hold the time, so that they differ from those of other answers of the same conversation.
    """

    def __init__(self, request: ModelRequest, clock: Clock) -> None:
        blocks = (block for message in request.messages for block in message.content)
        self._taken = {block.call.id for block in blocks if isinstance(block, CallBlock)}
        self._stem = f"call_{int(clock.now() * 1000):x}"
        self._count = 0

    def take(self, offered: str | None) -> str:
        """``offered`` if no call has it yet, else a new id."""
        chosen = offered or ""
        while not chosen or chosen in self._taken:
            chosen = f"{self._stem}_{self._count}"
            self._count += 1
        self._taken.add(chosen)
        return chosen


def called(call_id: str, name: str, arguments: Any) -> ToolCall:
    """The call with these arguments (JSON text or a value); without a name it is invalid."""
    read = arguments_of(arguments) if name else Arguments(invalid="the call names no tool")
    return ToolCall(call_id, whole_characters(name), read.values, read.invalid)


def conclude(rest: Sequence[ToolCall | ModelThought], reason: ModelStopReason, raw: str) -> Iterable[ModelEvent]:
    """The last events of an answer: its calls, with reasoning that stood between them, then the stop.

    Calls make it a tool use whatever the vendor called its end; where the answer was not finished they are handed over
    as invalid, however whole they look.
    """
    calls = any(isinstance(item, ToolCall) for item in rest)
    if calls and reason is ModelStopReason.END:
        reason = ModelStopReason.TOOL_USE
    elif not calls and reason is ModelStopReason.TOOL_USE:
        reason = ModelStopReason.END
    spoilt = _NEVER_RUN.get(reason, "")
    for item in rest:
        if isinstance(item, ModelThought):
            yield item
        else:
            yield ModelCall(replace(item, arguments={}, invalid=spoilt) if spoilt else item)
    yield ModelStop(reason, raw)
