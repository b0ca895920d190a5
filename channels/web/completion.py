"""The shapes of the OpenAI chat completions API: chunks, whole answers, errors, usage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.core.model import Usage
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import Row, StepRow

_FINISH: Final = {
    StopReason.TRUNCATED: "length",
    StopReason.TOKEN_BUDGET: "length",
    StopReason.TIME_LIMIT: "length",
    StopReason.TOOL_LIMIT: "length",
    StopReason.REFUSED: "content_filter",
}
_BROKEN: Final = frozenset(
    {
        StopReason.PROVIDER_UNAVAILABLE,
        StopReason.NO_MODEL,
        StopReason.INTERNAL_ERROR,
        StopReason.PARKED,
        StopReason.CONTEXT_OVERFLOW,
        StopReason.EMPTY,
        StopReason.UNREADABLE,
        StopReason.STOPPED,
        StopReason.TOOL_INTERRUPTED,
    }
)
_REFUSALS: Final[Mapping[str, str]] = {
    "key_refused": "upstream_key_refused",
    "no_credit": "insufficient_quota",
    "model_missing": "model_not_found",
    "request_refused": "upstream_request_refused",
    "garbled": "upstream_garbled",
}
DONE: Final = b"data: [DONE]\n\n"
PING: Final = b": beat\n\n"


def finish_reason(stop: StopReason, calls: Sequence[ToolCall]) -> str:
    return "tool_calls" if calls else _FINISH.get(stop, "stop")


def until(text: str, ends: Sequence[str], *, final: bool) -> tuple[str, bool]:
    """What of ``text`` stands before the first of ``ends``, and whether one was met. While more may come, what may be the
    beginning of one is held back."""
    met = [at for end in ends if (at := text.find(end)) >= 0]
    if met:
        return text[: min(met)], True
    if final:
        return text, False
    held = max((n for end in ends for n in range(1, len(end)) if text.endswith(end[:n])), default=0)
    return text[: len(text) - held], False


def is_failure(stop: StopReason) -> bool:
    """True where the client must see an error rather than an answer."""
    return stop in _BROKEN


def status_of(stop: StopReason, fault: str = "") -> int:
    """Of an error. What a vendor refuses us is no passing trouble (503), and no fault of the client's own key (401)."""
    if stop in (StopReason.CONTEXT_OVERFLOW, StopReason.UNREADABLE):
        return 400
    if fault in _REFUSALS:
        return 502
    return 503 if stop in (StopReason.PROVIDER_UNAVAILABLE, StopReason.NO_MODEL) else 500


def code_of(stop: StopReason, fault: str = "") -> str:
    """The machine-readable word beside the sentence; OpenAI's own where it has one for this."""
    return _REFUSALS.get(fault, stop.value)


def fault_in(rows: Sequence[Row]) -> str:
    """What was wrong with the model that was wanted, where no model answered."""
    steps = [row.body for row in rows if isinstance(row.body, StepRow)]
    return steps[-1].fault if steps and not steps[-1].stop else ""


def error_body(message: str, kind: str, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def sse(body: dict[str, Any]) -> bytes:
    raw = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return b"data: " + raw + b"\n\n"


def spent(rows: Sequence[Row]) -> Usage:
    """What all model calls of a turn took together."""
    steps = [row.body.usage for row in rows if isinstance(row.body, StepRow)]
    return Usage(
        sum(usage.input_tokens for usage in steps),
        sum(usage.output_tokens for usage in steps),
        sum(usage.cache_read_tokens for usage in steps),
    )


def usage_body(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    }


def _function(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)}


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. ``id`` and ``created`` stand in every piece of it."""

    id: str
    created: int
    model: str
    include_usage: bool

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._chunk([choice], {"usage": None} if self.include_usage else {})

    def calls_chunk(self, calls: Sequence[ToolCall]) -> bytes:
        pieces = [
            {"index": at, "id": call.id, "type": "function", "function": _function(call)}
            for at, call in enumerate(calls)
        ]
        return self.chunk({"tool_calls": pieces})

    def usage_chunk(self, usage: Usage) -> bytes:
        return self._chunk([], {"usage": usage_body(usage)})

    def _chunk(self, choices: list[dict[str, Any]], extra: dict[str, Any]) -> bytes:
        return sse(
            {
                "id": self.id,
                "object": "chat.completion.chunk",
                "created": self.created,
                "model": self.model,
                "system_fingerprint": None,
                "choices": choices,
                **extra,
            }
        )

    def whole(self, text: str, calls: Sequence[ToolCall], finish: str, usage: Usage) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else ""), "refusal": None}
        if calls:
            message["tool_calls"] = [{"id": call.id, "type": "function", "function": _function(call)} for call in calls]
        return {
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "system_fingerprint": None,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
            "usage": usage_body(usage),
        }
