"""A model request as JSON that a person can read: what was sent, but for pictures."""

from __future__ import annotations

import json
from typing import Any

from bot.core.model import Block, CallBlock, ImageBlock, ModelRequest, ResultBlock, TextBlock, ThinkingBlock


def as_json(request: ModelRequest) -> str:
    """``model``, ``max_tokens``, ``system``, ``tools``, ``tool_choice`` and ``messages`` with their blocks in order."""
    return json.dumps(
        {
            "model": str(request.model),
            "max_tokens": request.model.max_tokens,
            "system": request.system,
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
                for tool in request.tools
            ],
            "tool_choice": request.tool_choice,
            "messages": [
                {"role": message.role, "content": [_block(block) for block in message.content]}
                for message in request.messages
            ],
        },
        ensure_ascii=False,
        default=str,
    )


def _block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text=text):
            return {"kind": "text", "text": text}
        case ThinkingBlock(text=text):
            return {"kind": "thinking", "text": text}
        case CallBlock(call=call):
            return {"kind": "call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)}
        case ResultBlock(call_id=call_id, name=name, text=text, error=error):
            return {"kind": "result", "id": call_id, "name": name, "text": text, "error": error}
        case ImageBlock(media_type=media_type, data=data):
            return {"kind": "image", "media_type": media_type, "bytes": len(data)}
