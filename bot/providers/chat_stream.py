"""The chunks of a chat-completions stream, as OpenAI and the servers that copy it really send them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bot.core.errors import ProviderFailed
from bot.core.model import (
    ModelEvent,
    ModelRequest,
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
from bot.providers.prose import Prose, block_json, whole_characters
from bot.providers.wire import parsed

_REASONS: Final[Mapping[str, ModelStopReason]] = {
    "stop": ModelStopReason.END,
    "tool_calls": ModelStopReason.TOOL_USE,
    "function_call": ModelStopReason.TOOL_USE,
    "length": ModelStopReason.MAX_TOKENS,
    "content_filter": ModelStopReason.REFUSED,
    "safety": ModelStopReason.REFUSED,
    "prohibited_content": ModelStopReason.REFUSED,
    "sensitive": ModelStopReason.REFUSED,
}
_FAILURES: Final = ("error", "network_error", "insufficient_system_resource")
_REASONING_FIELDS: Final = ("reasoning_content", "reasoning")


@dataclass(slots=True)
class _OpenCall:
    """A call whose fragments are still coming. ``id`` and ``index`` as the server gave them, if it did."""

    id: str
    index: int | None
    name: str = ""
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


class _Fragments:
    """Calls out of fragments. An id that is new opens a call; without one the index tells whose fragment it is, and
    without both it continues the last call, unless it names a tool."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, fragment: Mapping[str, Any]) -> bool:
        """Whether the fragment brought anything."""
        function = fragment.get("function") or {}
        call_id, index, name = fragment.get("id") or "", fragment.get("index"), function.get("name") or ""
        call = self._continued(call_id, index, name)
        if call is None:
            call = _OpenCall(call_id, index)
            self._calls.append(call)
        call.name = call.name or name
        arguments = function.get("arguments")
        if arguments is not None:
            call.parts.append(arguments if isinstance(arguments, str) else json.dumps(arguments))
        return bool(name or arguments)

    def finished(self, ids: CallIds) -> list[ToolCall]:
        """All calls, in index order where every one has its own."""
        indexes = [call.index for call in self._calls]
        numbered = all(index is not None for index in indexes) and len(set(indexes)) == len(indexes)
        calls = sorted(self._calls, key=lambda call: call.index or 0) if numbered else self._calls
        return [called(ids.take(call.id), call.name, call.text) for call in calls]

    def _continued(self, call_id: str, index: int | None, name: str) -> _OpenCall | None:
        newest_first = list(reversed(self._calls))
        if call_id:
            same = (call for call in newest_first if call.id == call_id and index in (call.index, None))
            return next(same, None)
        if index is not None:
            same = (call for call in newest_first if call.index == index)
            return next(same, None if name or not newest_first else newest_first[0])
        last = newest_first[0] if newest_first else None
        return None if last is None or (name and not _is_open(last, name)) else last


def _is_open(call: _OpenCall, name: str) -> bool:
    """Whether a fragment that repeats the name still belongs to the call: its arguments have begun and not ended."""
    return call.name == name and bool(called("", name, call.text).invalid)


class ChatStream:
    """One answer. Feed it the ``data`` of each event (or the body of an answer that was not streamed); it gives model
    events and ends with ``ModelStop``, or raises ``ProviderError``.

    ``vendor`` signs the reasoning for replay. ``writes_calls``: the model may be one of those that write their calls as
    text; where tools were offered, such calls count.
    """

    def __init__(
        self, request: ModelRequest, faults: Faults, ids: CallIds, *, vendor: str, writes_calls: bool = True
    ) -> None:
        self._faults, self._ids, self._vendor = faults, ids, vendor
        offered = request.tools if writes_calls and request.tool_choice == "auto" else ()
        self._prose = Prose({tool.name for tool in offered})
        self._fragments = _Fragments()
        self._reasoning: dict[str, list[str]] = {}
        self._finish: str | None = None
        self._refused = False
        self._closed = False

    @property
    def complete(self) -> bool:
        return self._finish is not None

    @property
    def closed(self) -> bool:
        return self._closed

    def feed(self, payload: str) -> list[ModelEvent]:
        if payload.strip() == "[DONE]":
            return self._concluded(marked=True)
        chunk = parsed(payload, self._faults)
        if chunk.get("error") or chunk.get("object") == "error":
            raise self._faults.complaint(complaint_of(chunk))
        events: list[ModelEvent] = []
        if isinstance(usage := chunk.get("usage"), dict) and (counted := usage_of(usage)) != Usage():
            events.append(ModelUsage(counted))
        choices = chunk.get("choices") or []
        if choices and isinstance(choices[0], dict):
            events += self._choice(choices[0])
        return events

    def end(self) -> list[ModelEvent]:
        return self._concluded(marked=False)

    def _choice(self, choice: Mapping[str, Any]) -> list[ModelEvent]:
        delta = choice.get("delta") or choice.get("message") or {}
        events = self._reasoned(delta)
        content = delta.get("content")
        for part in content if isinstance(content, list) else [content]:
            events += self._content(part)
        if refusal := delta.get("refusal"):
            self._refused = True
            events.append(ModelText(str(refusal)))
        for fragment in delta.get("tool_calls") or []:
            if self._fragments.add(fragment):
                events.append(ModelThinking(""))  # it grows, though there is nothing to show
        if choice.get("finish_reason"):
            self._finish = str(choice["finish_reason"])
        return events

    def _content(self, part: Any) -> list[ModelEvent]:
        if isinstance(part, Mapping):
            part = part.get("text") if part.get("type") == "text" else None
        return self._prose.feed(part) if isinstance(part, str) and part else []

    def _reasoned(self, delta: Mapping[str, Any]) -> list[ModelEvent]:
        for name in _REASONING_FIELDS:
            if isinstance(text := delta.get(name), str) and text:
                self._reasoning.setdefault(name, []).append(text)
                return [ModelThinking(text)]
        return []

    def _concluded(self, *, marked: bool) -> list[ModelEvent]:
        """``marked``: the server sent its end mark. That alone ends an answer of whole calls, never one of text."""
        events, spoken = self._prose.end()
        calls = self._fragments.finished(self._ids)
        if not calls:
            calls = [called(self._ids.take(None), call.name, call.arguments) for call in spoken]
        if self._finish is None and not (marked and calls and not any(call.invalid for call in calls)):
            raise self._faults.cut("no finish_reason")
        self._closed = True
        raw = self._finish or ""
        if raw in _FAILURES:
            raise self._faults.error(ProviderFailed, f"finish_reason {raw}")
        reason = ModelStopReason.REFUSED if self._refused else _REASONS.get(raw.lower(), ModelStopReason.END)
        return [*events, *self._thoughts(), *conclude(calls, reason, raw)]

    def _thoughts(self) -> Iterable[ModelEvent]:
        if self._reasoning:
            said = {name: "".join(parts) for name, parts in self._reasoning.items()}
            text = whole_characters("".join(said.values()))
            yield ModelThought(ThinkingBlock(self._vendor, text, block_json(said)))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """Token counts of a chat completion; servers leave out or null what they do not count."""
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return Usage(
        input_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
        cache_read_tokens=int(cached),
    )
