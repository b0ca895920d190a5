"""The lines of an Ollama chat answer: pieces of text, whole calls, and counts in the last line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.core.model import (
    ModelEvent,
    ModelRequest,
    ModelStopReason,
    ModelThinking,
    ModelThought,
    ModelUsage,
    ThinkingBlock,
    Usage,
)
from bot.core.tool import ToolCall
from bot.providers.calls import CallIds, called, conclude
from bot.providers.faults import Faults, complaint_of
from bot.providers.prose import Prose, block_json, whole_characters
from bot.providers.wire import parsed

_REASONS: Final[Mapping[str, ModelStopReason]] = {"length": ModelStopReason.MAX_TOKENS}


class OllamaStream:
    """One answer: feed it each line. Calls get ids of ours, in their order; ``vendor`` signs the reasoning for replay."""

    def __init__(self, request: ModelRequest, faults: Faults, ids: CallIds, *, vendor: str) -> None:
        self._faults, self._ids, self._vendor = faults, ids, vendor
        offered = request.tools if request.tool_choice == "auto" else ()
        self._prose = Prose({tool.name for tool in offered})
        self._calls: list[ToolCall] = []
        self._thinking: list[str] = []
        self._closed = False
        self.prompt_tokens: int | None = None

    @property
    def complete(self) -> bool:
        return self._closed

    @property
    def closed(self) -> bool:
        return self._closed

    def feed(self, payload: str) -> list[ModelEvent]:
        """Lines of unknown kinds (progress reports) are passed over."""
        line = parsed(payload, self._faults)
        if line.get("error"):
            raise self._faults.complaint(complaint_of(line))
        message = line.get("message") or {}
        events: list[ModelEvent] = []
        if thinking := message.get("thinking"):
            self._thinking.append(thinking)
            events.append(ModelThinking(thinking))
        if content := message.get("content"):
            events += self._prose.feed(content)
        for call in message.get("tool_calls") or []:
            function = call["function"]
            arguments = function.get("arguments")
            self._calls.append(called(self._ids.take(None), function.get("name") or "", arguments))
            events.append(ModelThinking(""))  # the stream is alive, though there is nothing to show
        return events + self._last(line) if line.get("done") else events

    def end(self) -> list[ModelEvent]:
        raise self._faults.cut("no line with done")

    def _last(self, line: Mapping[str, Any]) -> list[ModelEvent]:
        self._closed = True
        events, spoken = self._prose.end()
        calls = self._calls or [called(self._ids.take(None), call.name, call.arguments) for call in spoken]
        if self._thinking:
            text = "".join(self._thinking)
            block = ThinkingBlock(self._vendor, whole_characters(text), block_json({"thinking": text}))
            events.append(ModelThought(block))
        if line.get("prompt_eval_count") is not None:
            self.prompt_tokens = int(line["prompt_eval_count"])
        if self.prompt_tokens or line.get("eval_count"):  # a prompt that was read before may not be counted again
            events.append(ModelUsage(Usage(self.prompt_tokens or 0, int(line.get("eval_count") or 0))))
        reason = str(line.get("done_reason") or "")
        return [*events, *conclude(calls, _REASONS.get(reason, ModelStopReason.END), reason)]
