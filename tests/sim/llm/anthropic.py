"""How the Anthropic Messages API puts an answer on the wire: typed SSE events around indexed content blocks."""

import json
from collections.abc import Mapping
from typing import Any

from tests.sim.llm.claude import claude
from tests.sim.llm.reply import Occasion, Reply, Said
from tests.sim.llm.signatures import ThinkingMemory, prefix_of, signed
from tests.sim.llm.steps import (
    CallClose,
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

NATURAL = {"cut": "max_tokens", "filtered": "refusal"}


def event(name: str, data: Mapping[str, Any]) -> bytes:
    payload = json.dumps({"type": name, **data}, ensure_ascii=False)
    return f"event: {name}\ndata: {payload}\n\n".encode()


class AnthropicEncoder:
    """Blocks open and close as the steps change kind; calls may stay open side by side when the script interleaves them."""

    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, occasion: Occasion, memory: ThinkingMemory) -> None:
        self._on = occasion
        self._memory = memory
        self._prefix = prefix_of(occasion.body)
        self._said = Reply()
        self._indexes: dict[int, int] = {}  # id of an open Said -> its block index
        self._opened = 0
        self._stopped = False

    def begin(self, first: Spoken | None) -> list[bytes]:
        message = self._message([], None, None)
        if self._on.usage.absent:
            del message["usage"]
        else:
            message["usage"]["output_tokens"] = 1
        return [event("message_start", {"message": message})]

    def spoken(self, step: Spoken) -> list[bytes]:
        before = len(self._said.blocks)
        frames = self._close_for(step)
        self._said.take(step)
        if len(self._said.blocks) > before:
            frames.append(self._open(self._said.blocks[-1]))
        frames += self._delta(step)
        if isinstance(step, CallClose):
            frames += self._close(self._said.call(step.id))
        if isinstance(step, Stop):
            frames.append(self._message_delta(step))
        return frames + [frame for said in self._said.blocks if said.closed for frame in self._close(said)]

    def finale(self) -> list[bytes]:
        return [event("message_stop", {})]

    def ping(self) -> list[bytes]:
        return [event("ping", {})]

    def empty_choices(self) -> list[bytes]:
        return []

    def garbage(self, step: Garbage) -> bytes:
        delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'
        match step.kind:
            case "json":
                return f"event: content_block_delta\ndata: {delta}oo\n\n".encode()
            case "utf8":
                return b"event: content_block_delta\ndata: " + delta.encode() + b'\xe2\x82"}}\n\n'
            case "event":
                return event("content_block_mystery", {"index": 0, "mystery": True})

    def error(self, step: ErrorEvent) -> bytes:
        error = {"type": step.type, "message": step.message, "details": None}
        return event("error", {"error": error, "request_id": f"req_sim_{self._on.number:04}"})

    def whole(self, reply: Reply) -> dict[str, Any]:
        self._said = reply
        content = [self._block(said) for said in reply.blocks]
        stop = reply.stop
        message = self._message(content, self._reason(stop, reply), stop)
        if self._on.usage.absent:
            del message["usage"]
        else:
            message["usage"]["output_tokens"] = self._on.output_tokens(reply)
        for said, block in zip(reply.blocks, content, strict=True):
            self._remember(said, block)
        return message

    def _open(self, said: Said) -> bytes:
        self._indexes[id(said)] = self._opened
        self._opened += 1
        starts: dict[str, dict[str, Any]] = {
            "text": {"type": "text", "text": ""},
            "thinking": {"type": "thinking", "thinking": "", "signature": ""},
            "redacted": {"type": "redacted_thinking", "data": said.text},
            "call": {"type": "tool_use", "id": said.call_id, "name": said.name, "input": {}},
        }
        return event("content_block_start", {"index": self._indexes[id(said)], "content_block": starts[said.kind]})

    def _delta(self, step: Spoken) -> list[bytes]:
        match step:
            case Text(text) if text is not None:
                return [self._delta_event(self._said.blocks[-1], "text_delta", "text", text)]
            case Thinking(text) if not self._omits_thinking:
                return [self._delta_event(self._said.blocks[-1], "thinking_delta", "thinking", text)]
            case CallOpen(_, _, first) if first:
                return [self._delta_event(self._said.blocks[-1], "input_json_delta", "partial_json", first)]
            case CallMore(key, fragment):
                return [self._delta_event(self._said.call(key), "input_json_delta", "partial_json", fragment or "")]
        return []

    def _delta_event(self, said: Said, kind: str, name: str, value: str) -> bytes:
        return event("content_block_delta", {"index": self._indexes[id(said)], "delta": {"type": kind, name: value}})

    def _close_for(self, step: Spoken) -> list[bytes]:
        """End the blocks that cannot go on beside this step."""
        keep = {"text"} if isinstance(step, Text) else {"thinking"} if isinstance(step, Thinking) else set()
        if isinstance(step, CallOpen | CallMore | CallClose):
            keep = {"call"}
        if isinstance(step, Redacted | Stop):
            keep = set()
        return [frame for said in self._said.blocks if said.kind not in keep for frame in self._close(said)]

    def _close(self, said: Said) -> list[bytes]:
        index = self._indexes.pop(id(said), None)
        if index is None:
            return []
        said.closed = True
        block, frames = self._block(said), []
        if block.get("signature"):
            delta = {"type": "signature_delta", "signature": block["signature"]}
            frames.append(event("content_block_delta", {"index": index, "delta": delta}))
        self._remember(said, block)
        return [*frames, event("content_block_stop", {"index": index})]

    def _block(self, said: Said) -> dict[str, Any]:
        match said.kind:
            case "text":
                return {"type": "text", "text": said.text}
            case "redacted":
                return {"type": "redacted_thinking", "data": said.text}
            case "thinking":
                signature = signed(said.text) if said.signature is None else said.signature
                shown = "" if self._omits_thinking else said.text
                return {"type": "thinking", "thinking": shown, "signature": signature}
        return {"type": "tool_use", "id": said.call_id, "name": said.name, "input": parsed_or_empty(said.text)}

    def _remember(self, said: Said, block: dict[str, Any]) -> None:
        if said.kind in ("thinking", "redacted") and block.get("signature", block.get("data")):
            self._memory.note(block, self._on.model, self._prefix)
        if said.kind == "call" and self._said_thinking():
            self._memory.note_call(str(said.call_id))
        self._prefix.add("assistant", block)

    def _said_thinking(self) -> bool:
        return bool(self._said.of("thinking") or self._said.of("redacted"))

    @property
    def _omits_thinking(self) -> bool:
        display = (self._on.body.get("thinking") or {}).get("display")
        return claude(self._on.model).omits_thinking_by_default if display is None else bool(display == "omitted")

    def _reason(self, stop: Stop | None, reply: Reply) -> str | None:
        if stop is None or stop.reason is None:
            return None
        natural = {"auto": "tool_use" if reply.of("call") else "end_turn", **NATURAL}
        return natural.get(stop.reason, stop.reason)

    def _message_delta(self, stop: Stop) -> bytes:
        delta = {
            "stop_reason": self._reason(stop, self._said),
            "stop_sequence": stop.sequence,
            "stop_details": stop.details,
        }
        if self._on.usage.absent:
            return event("message_delta", {"delta": delta})
        usage = {**self._usage(), "output_tokens": self._on.output_tokens(self._said)}
        return event("message_delta", {"delta": delta, "usage": usage})

    def _usage(self) -> dict[str, Any]:
        prompt, usage = self._on.prompt, self._on.usage
        return {
            "input_tokens": prompt.fresh if usage.input is None else usage.input,
            "cache_creation_input_tokens": prompt.written if usage.written is None else usage.written,
            "cache_read_input_tokens": self._on.cached_tokens(),
        }

    def _message(self, content: list[Any], reason: str | None, stop: Stop | None) -> dict[str, Any]:
        prompt = self._on.prompt
        created = {"ephemeral_5m_input_tokens": prompt.written_5m, "ephemeral_1h_input_tokens": prompt.written_1h}
        return {
            "id": f"msg_sim_{self._on.number:04}",
            "type": "message",
            "role": "assistant",
            "model": self._on.model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": stop.sequence if stop else None,
            "stop_details": stop.details if stop else None,
            "usage": {**self._usage(), "cache_creation": created, "output_tokens": 0, "service_tier": "standard"},
        }


def parsed_or_empty(text: str) -> dict[str, Any]:
    """Arguments as the object a whole (not streamed) answer carries; what does not parse becomes {}."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
