"""How the OpenAI Chat Completions API (and servers that copy it) put an answer on the wire: SSE chunks of choices."""

import json
from typing import Any

from tests.sim.llm.reply import Occasion, Reply, Said
from tests.sim.llm.steps import (
    CallMore,
    CallOpen,
    ErrorEvent,
    Garbage,
    Redacted,
    Spoken,
    Stop,
    Text,
    Thinking,
)

NATURAL = {"cut": "length", "filtered": "content_filter"}


def data_line(value: Any) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


class OpenAIEncoder:
    """Tool calls travel as numbered pieces; the number is left out or odd where the script says so."""

    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, occasion: Occasion) -> None:
        self._on = occasion
        self._said = Reply()
        self._wants_usage = bool((occasion.body.get("stream_options") or {}).get("include_usage"))

    def begin(self, first: Spoken | None) -> list[bytes]:
        null = isinstance(first, CallOpen | CallMore) or first == Text(None)
        return [self._chunk({"role": "assistant", "content": None if null else "", "refusal": None})]

    def spoken(self, step: Spoken) -> list[bytes]:
        self._said.take(step)
        match step:
            case Text(text):
                return [self._chunk({"content": text})]
            case Thinking(text, _, name):
                return [self._chunk({name: text})]
            case CallOpen(_, _, first):
                return [self._call_chunk(self._said.blocks[-1], first, head=True)]
            case CallMore(key, fragment, repeat_head):
                return [self._call_chunk(self._said.call(key), fragment, head=repeat_head)]
            case Stop():
                return [self._chunk({}, finish=self._reason(step, self._said))]
            case Redacted():
                return []
        return []

    def finale(self) -> list[bytes]:
        frames = []
        if self._wants_usage and not self._on.usage.absent:
            frames.append(data_line({**self._skeleton(), "choices": [], "usage": self._usage(self._said)}))
        return [*frames, b"data: [DONE]\n\n"]

    def ping(self) -> list[bytes]:
        return [b": keep-alive\n\n"]

    def empty_choices(self) -> list[bytes]:
        filters = {"hate": {"filtered": False, "severity": "safe"}}
        results = [{"prompt_index": 0, "content_filter_results": filters}]
        return [data_line({**self._skeleton(), "choices": [], "prompt_filter_results": results})]

    def garbage(self, step: Garbage) -> bytes:
        match step.kind:
            case "json":
                return b'data: {"choices": [{"index": 0, "delta": {"content": "oo\n\n'
            case "utf8":
                return b'data: {"choices": [{"index": 0, "delta": {"content": "\xe2\x82"}}]}\n\n'
            case "event":
                return b'event: mystery\ndata: {"object": "mystery"}\n\n'

    def error(self, step: ErrorEvent) -> bytes:
        return data_line({"error": {"message": step.message, "type": step.type, "param": None, "code": step.code}})

    def whole(self, reply: Reply) -> dict[str, Any]:
        texts, calls = reply.of("text"), [self._whole_call(said) for said in reply.of("call")]
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(said.text for said in texts) if texts else None,
            "refusal": None,
            "annotations": [],
        }
        for said in reply.of("thinking"):
            message[said.field_name] = message.get(said.field_name, "") + said.text
        if calls:
            message["tool_calls"] = calls
        reason = self._reason(reply.stop, reply)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        completion = {**self._skeleton(), "object": "chat.completion", "choices": [choice]}
        return completion if self._on.usage.absent else {**completion, "usage": self._usage(reply)}

    def _whole_call(self, said: Said) -> dict[str, Any]:
        arguments = None if said.null and not said.pieces else said.text
        return {"id": said.call_id, "type": "function", "function": {"name": said.name, "arguments": arguments}}

    def _call_chunk(self, said: Said, arguments: str | None, *, head: bool) -> bytes:
        piece: dict[str, Any] = {} if said.index is None else {"index": said.index}
        function: dict[str, Any] = {"arguments": arguments}
        if head:
            piece |= {"id": said.call_id, "type": "function"}
            function = {"name": said.name, "arguments": arguments}
        return self._chunk({"tool_calls": [{**piece, "function": function}]})

    def _skeleton(self) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-sim{self._on.number:04}",
            "object": "chat.completion.chunk",
            "created": int(self._on.now),
            "model": self._on.model,
            "service_tier": "default",
            "system_fingerprint": "fp_sim",
        }

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunk = {**self._skeleton(), "choices": [choice]}
        return data_line({**chunk, "usage": None} if self._wants_usage else chunk)

    def _reason(self, stop: Stop | None, reply: Reply) -> str | None:
        if stop is None or stop.reason is None:
            return None
        natural = {"auto": "tool_calls" if reply.of("call") else "stop", **NATURAL}
        return natural.get(stop.reason, stop.reason)

    def _usage(self, reply: Reply) -> dict[str, Any]:
        prompt, output = self._on.input_tokens(), self._on.output_tokens(reply)
        reasoning = sum(len(said.text) // 4 for said in reply.of("thinking"))
        return {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": self._on.cached_tokens(), "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
        }
