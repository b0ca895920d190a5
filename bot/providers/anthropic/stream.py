"""The events of an Anthropic message stream: indexed content blocks that open, grow and close."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.core.model import (
    ModelEvent,
    ModelStopReason,
    ModelText,
    ModelThinking,
    ModelThought,
    ModelUsage,
    ThinkingBlock,
    Usage,
)
from bot.core.tool import ToolCall
from bot.providers.calls import CallIds, called, conclude
from bot.providers.faults import Faults, complaint_of
from bot.providers.prose import Characters, block_json, whole_characters
from bot.providers.wire import parsed

_REASONS: Final[Mapping[str, ModelStopReason]] = {
    "end_turn": ModelStopReason.END,
    "stop_sequence": ModelStopReason.END,
    "tool_use": ModelStopReason.TOOL_USE,
    "max_tokens": ModelStopReason.MAX_TOKENS,
    "pause_turn": ModelStopReason.PAUSED,
    "refusal": ModelStopReason.REFUSED,
    "model_context_window_exceeded": ModelStopReason.CONTEXT_FULL,
}
_THINKING: Final = ("thinking", "redacted_thinking")


class MessageStream:
    """One answer: feed it the ``data`` of each event, or the body of an answer that was not streamed. ``vendor`` signs the
    reasoning for replay.

    Calls are given at the end, when the stop reason has said whether they are whole; so is reasoning that stands behind
    the first call, to keep the order in which it must be replayed.
    """

    def __init__(self, faults: Faults, ids: CallIds, *, vendor: str) -> None:
        self._faults, self._ids, self._vendor = faults, ids, vendor
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._thoughts: dict[int, ModelThought] = {}
        self._characters = Characters()
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._closed = False

    @property
    def complete(self) -> bool:
        return self._stop is not None

    @property
    def closed(self) -> bool:
        return self._closed

    def feed(self, payload: str) -> list[ModelEvent]:
        """Events of unknown kinds, and pings, are passed over: the API reserves the right to add some."""
        event = parsed(payload, self._faults)
        match event.get("type"):
            case "message_start":
                return self._counted(event["message"].get("usage"))
            case "content_block_start":
                return self._opened(event["index"], event["content_block"])
            case "content_block_delta":
                return self._grown(event["index"], event["delta"])
            case "content_block_stop":
                return self._shut(event["index"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                return self._counted(event.get("usage"))
            case "message_stop":
                return self.end()
            case "message":
                return self._whole(event)
            case "error":
                raise self._faults.complaint(complaint_of(event))
        return []

    def end(self) -> list[ModelEvent]:
        if self._stop is None:
            raise self._faults.cut("no stop_reason")
        self._closed = True
        rest: list[ToolCall | ModelThought] = []
        for index in sorted(self._blocks):
            if self._blocks[index]["type"] == "tool_use":
                rest.append(self._call(index))
            elif index in self._thoughts:
                rest.append(self._thoughts[index])
        half = self._characters.end()
        texts: list[ModelEvent] = [ModelText(half)] if half else []
        return [*texts, *conclude(rest, _REASONS.get(self._stop, ModelStopReason.END), self._stop)]

    def _whole(self, message: Mapping[str, Any]) -> list[ModelEvent]:
        """An answer that was not streamed, in the same events."""
        events = self._counted(message.get("usage"))
        for index, block in enumerate(message["content"]):
            events += [*self._opened(index, block), *self._shut(index)]
        self._stop = message.get("stop_reason")
        return [*events, *self.end()]

    def _opened(self, index: int, block: dict[str, Any]) -> list[ModelEvent]:
        self._blocks[index] = block
        if block["type"] == "tool_use":
            self._inputs[index] = []
        if block["type"] == "text":
            return self._text(block.get("text") or "")
        return [ModelThinking(str(block.get("thinking") or ""))]

    def _grown(self, index: int, delta: Mapping[str, Any]) -> list[ModelEvent]:
        match delta["type"]:
            case "text_delta":
                return self._text(delta["text"])
            case "thinking_delta":
                block = self._blocks[index]
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
                return [ModelThinking(delta["thinking"])] if delta["thinking"] else []
            case "signature_delta":
                self._blocks[index]["signature"] = delta["signature"]
            case "input_json_delta":
                if index in self._inputs:
                    self._inputs[index].append(delta["partial_json"] or "")
                return [ModelThinking("")] if delta["partial_json"] else []  # it grows, though there is nothing to show
        return []

    def _text(self, text: str) -> list[ModelEvent]:
        whole = self._characters.feed(text)
        return [ModelText(whole)] if whole else []

    def _shut(self, index: int) -> list[ModelEvent]:
        block = self._blocks[index]
        if block["type"] not in _THINKING or block.get("signature") == "":
            return []  # reasoning that ran into the output limit is never signed, and refused without a signature
        text = whole_characters(block.get("thinking") or "")
        thought = ModelThought(ThinkingBlock(self._vendor, text, block_json(block)))
        if not self._inputs:
            return [thought]
        self._thoughts[index] = thought
        return []

    def _call(self, index: int) -> ToolCall:
        """A proxy may send the whole input with the start of the block, and no pieces."""
        block = self._blocks[index]
        written = "".join(self._inputs[index])
        return called(self._ids.take(block.get("id")), block.get("name") or "", written or block.get("input"))

    def _counted(self, usage: Mapping[str, Any] | None) -> list[ModelEvent]:
        """The counts are totals so far; what an event leaves out stays. ``input_tokens`` leaves the cached parts out."""
        if not usage:
            return []
        self._usage |= {name: count for name, count in usage.items() if isinstance(count, int)}
        read, written = self._usage.get("cache_read_input_tokens", 0), self._usage.get("cache_creation_input_tokens", 0)
        total = self._usage.get("input_tokens", 0) + read + written
        return [ModelUsage(Usage(total, self._usage.get("output_tokens", 0), read, written))]
