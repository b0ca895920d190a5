"""A `ModelRequest` in the words of Anthropic's Messages API (version 2026-10-21)."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, Final

from bot.core.model import (
    Block,
    CallBlock,
    ImageBlock,
    Message,
    ModelRequest,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
)
from bot.providers.replay import replayable, turn_start, wire_id, wire_name
from bot.providers.schemas import closed, told

_MARK: Final = {"type": "ephemeral"}
_UNMARKABLE: Final = ("thinking", "redacted_thinking")
MOST_WHOLE_TOKENS: Final = 21_333
"""The vendor's own library streams what may be longer, because connections do not live that long."""


def messages_body(
    request: ModelRequest,
    vendor: str,
    *,
    effort: str = "default",
    thinking: dict[str, Any] | None = None,
    without: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The body of ``POST /v1/messages``. No sampling parameters: the API refuses them. ``without`` names what this model
    has refused: "output_config" (schemas) and "prefill".

    At most four cache marks, the number the API allows: the last tool, the system text, the end of the history before
    the person's newest message (found again in the next turn), and the end of all (found again in the next step).
    """
    most = min(request.model.max_tokens, MOST_WHOLE_TOKENS) if request.whole else request.model.max_tokens
    body: dict[str, Any] = {"model": request.model.model, "max_tokens": most, "stream": not request.whole}
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _MARK}]
    if request.tools:
        body["tools"] = _tools(request)
        if request.tool_choice == "none":
            body["tool_choice"] = {"type": "none"}
    holds = request.schema is not None and "output_config" not in without
    said = request if holds else told(request)
    body["messages"] = _messages(said.messages, vendor)
    if begins := prefilled(request, thinking=bool(thinking), without=without):
        body["messages"].append({"role": "assistant", "content": [{"type": "text", "text": begins}]})
    output: dict[str, Any] = {"effort": effort} if effort != "default" else {}
    if holds and request.schema is not None:
        output |= {"format": {"type": "json_schema", "schema": closed(request.schema)}}
    if output:
        body["output_config"] = output
    if thinking:
        body["thinking"] = thinking
    return body


def prefilled(request: ModelRequest, *, thinking: bool, without: frozenset[str]) -> str:
    """The beginning from which the model is to go on; "" where it cannot: it is held to a schema, it reasons first, or it
    has refused that before. The API takes none that ends in blanks."""
    held = request.schema is not None and "output_config" not in without
    return "" if held or thinking or "prefill" in without else request.prefill.rstrip()


def holds_thinking(request: ModelRequest, vendor: str) -> bool:
    """Whether reasoning would be replayed with this request."""
    messages = replayable(request.messages, vendor)
    return any(isinstance(block, ThinkingBlock) for message in messages for block in message.content)


def _tools(request: ModelRequest) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
        for tool in request.tools
    ]
    tools[(request.lasting_tools or len(tools)) - 1]["cache_control"] = _MARK
    return tools


def _messages(history: Sequence[Message], vendor: str) -> list[dict[str, Any]]:
    messages = replayable(history, vendor)
    said = [{"role": message.role, "content": _content(message)} for message in messages]
    if said:
        before_newest = turn_start(messages) - 1
        for place in {before_newest, len(said) - 1}:
            if place >= 0:
                _mark(said[place]["content"])
    if said and said[0]["role"] == "assistant":
        said.insert(0, {"role": "user", "content": [{"type": "text", "text": "(Earlier messages are left out.)"}]})
    return said


def _mark(content: Any) -> None:
    """Set a cache mark on the last block that can carry one."""
    block = next((block for block in reversed(content) if block["type"] not in _UNMARKABLE), None)
    if block is not None:
        block["cache_control"] = _MARK


def _content(message: Message) -> list[dict[str, Any]]:
    return [_block(block) for block in message.content]


def _block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ThinkingBlock(raw=raw):
            thinking: dict[str, Any] = json.loads(raw)
            return thinking
        case CallBlock(call):
            return {
                "type": "tool_use",
                "id": wire_id(call.id),
                "name": wire_name(call.name),
                "input": dict(call.arguments),
            }
        case ResultBlock():
            return _result(block)
        case ImageBlock(media_type, data):
            source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
            return {"type": "image", "source": source}


def _result(block: ResultBlock) -> dict[str, Any]:
    """An empty failure is refused, and so is an empty text block."""
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": wire_id(block.call_id)}
    text = block.text if block.text.strip() else ("It failed without a message." if block.error else "")
    if text:
        result["content"] = [{"type": "text", "text": text}]
    if block.error:
        result["is_error"] = True
    return result
