"""How Ollama's native chat API puts an answer on the wire: one JSON object a line, tool calls whole, counts at the end."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.sim.llm.reply import Occasion, Reply, Said
from tests.sim.llm.steps import CallClose, ErrorEvent, Garbage, Spoken, Stop, Text, Thinking

NATURAL = {"auto": "stop", "cut": "length", "filtered": "stop"}


def line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def timestamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")


class OllamaEncoder:
    """A call is sent when its arguments are complete; arguments that do not parse are sent as the string they are."""

    content_type = "application/x-ndjson"

    def __init__(self, occasion: Occasion) -> None:
        self._on = occasion
        self._said = Reply()

    def begin(self, first: Spoken | None) -> list[bytes]:
        return []

    def spoken(self, step: Spoken) -> list[bytes]:
        self._said.take(step)
        match step:
            case Text(text) if text is not None:
                return [self._line({"content": text})]
            case Thinking(text):
                return [self._line({"content": "", "thinking": text})]
            case CallClose(key):
                return [self._line({"content": "", "tool_calls": [self._call(self._said.call(key))]})]
            case Stop():
                late = [said for said in self._said.of("call") if not said.closed]
                frames = [self._line({"content": "", "tool_calls": [self._call(said)]}) for said in late]
                return [*frames, line({**self._head({"content": ""}), **self._done(step, self._said)})]
        return []

    def finale(self) -> list[bytes]:
        return []

    def ping(self) -> list[bytes]:
        return []

    def empty_choices(self) -> list[bytes]:
        return []

    def garbage(self, step: Garbage) -> bytes:
        match step.kind:
            case "json":
                return b'{"model":"sim","message":{"role":"assistant","con\n'
            case "utf8":
                return b'{"model":"sim","message":{"role":"assistant","content":"\xe2\x82"},"done":false}\n'
            case "event":
                return b'{"status":"pulling manifest"}\n'

    def error(self, step: ErrorEvent) -> bytes:
        return line({"error": step.message})

    def whole(self, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"content": "".join(said.text for said in reply.of("text"))}
        if thoughts := reply.of("thinking"):
            message["thinking"] = "".join(said.text for said in thoughts)
        if calls := reply.of("call"):
            message["tool_calls"] = [self._call(said) for said in calls]
        if reply.stop is None:
            return {**self._head(message), "done": False}
        return {**self._head(message), **self._done(reply.stop, reply)}

    def _head(self, message: dict[str, Any]) -> dict[str, Any]:
        created = timestamp(self._on.now)
        return {"model": self._on.model, "created_at": created, "message": {"role": "assistant", **message}}

    def _line(self, message: dict[str, Any]) -> bytes:
        return line({**self._head(message), "done": False})

    def _call(self, said: Said) -> dict[str, Any]:
        function: dict[str, Any] = {"name": said.name, "arguments": self._arguments(said.text)}
        if said.index is not None:
            function["index"] = said.index
        return {"id": said.call_id, "function": function} if said.call_id else {"function": function}

    @staticmethod
    def _arguments(text: str) -> Any:
        try:
            return json.loads(text or "{}")
        except ValueError:
            return text

    def _done(self, stop: Stop, reply: Reply) -> dict[str, Any]:
        done: dict[str, Any] = {"done": True}
        if stop.reason is not None:
            done["done_reason"] = NATURAL.get(stop.reason, stop.reason)
        if self._on.usage.absent:
            return done
        durations = dict.fromkeys(
            ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 1_000_000
        )
        counts = {"prompt_eval_count": self._on.input_tokens(), "eval_count": self._on.output_tokens(reply)}
        return done | durations | counts
