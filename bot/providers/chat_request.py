"""A `ModelRequest` in the words of OpenAI's chat completions, as OpenAI and every server that copies it read them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

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
from bot.core.tool import ToolSpec
from bot.providers.replay import replayable, wire_id, wire_name
from bot.providers.schemas import is_strict


def chat_messages(request: ModelRequest, vendor: str) -> list[dict[str, Any]]:
    """``messages``: the system text first, each result as its own ``tool`` message right behind its call.

    ``vendor`` is the name under which this provider signs ``ThinkingBlock``s; other vendors' reasoning is left out.
    """
    messages = [{"role": "system", "content": request.system}] if request.system.strip() else []
    for message in replayable(request.messages, vendor):
        messages += [_assistant(message)] if message.role == "assistant" else _user(message)
    return messages


def chat_tools(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def chat_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``response_format`` for one JSON object; strict where the schema allows it."""
    named = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": named}


def result_text(block: ResultBlock) -> str:
    """A result for vendors that have no mark for failures."""
    return f"Error: {block.text}" if block.error and not block.text.lower().startswith("error") else block.text


def joined_text(content: Sequence[Block]) -> str:
    return "\n\n".join(block.text for block in content if isinstance(block, TextBlock))


def _assistant(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": joined_text(message.content) or None}
    calls = [
        {
            "id": wire_id(block.call.id),
            "type": "function",
            "function": {
                "name": wire_name(block.call.name),
                "arguments": json.dumps(dict(block.call.arguments), ensure_ascii=False),
            },
        }
        for block in message.content
        if isinstance(block, CallBlock)
    ]
    if calls:
        said["tool_calls"] = calls
    for block in message.content:
        if isinstance(block, ThinkingBlock):
            said |= json.loads(block.raw)
    if not calls and said["content"] is None:
        said["content"] = ""
    return said


def _user(message: Message) -> list[dict[str, Any]]:
    results = [
        {"role": "tool", "tool_call_id": wire_id(block.call_id), "content": result_text(block)}
        for block in message.content
        if isinstance(block, ResultBlock)
    ]
    images = [_image(block) for block in message.content if isinstance(block, ImageBlock)]
    text = joined_text(message.content)
    if not images:
        return [*results, {"role": "user", "content": text}] if text else results
    parts = [{"type": "text", "text": text}] if text else []
    return [*results, {"role": "user", "content": [*parts, *images]}]


def _image(block: ImageBlock) -> dict[str, Any]:
    data = base64.b64encode(block.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{block.media_type};base64,{data}"}}
