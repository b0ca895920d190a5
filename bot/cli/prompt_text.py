"""A prompt as lines for a person: which model, the system text, the tools, the messages with their blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def prompt_lines(step: int, request: Mapping[str, Any]) -> Iterator[str]:
    """``request`` as ``bot.brain.shown_prompt`` writes it."""
    yield f"=== step {step}: {request['model']}, at most {request['max_tokens']} tokens ==="
    yield "--- system ---"
    yield str(request["system"])
    if request["tools"]:
        yield f"--- tools (choice: {request['tool_choice']}) ---"
        for tool in request["tools"]:
            yield f"{tool['name']}: {tool['description']}"
            yield f"    {json.dumps(tool['parameters'], ensure_ascii=False)}"
    for message in request["messages"]:
        yield f"--- {message['role']} ---"
        for block in message["content"]:
            yield _block(block)
    yield ""


def _block(block: Mapping[str, Any]) -> str:
    match block["kind"]:
        case "text":
            return str(block["text"])
        case "thinking":
            return f"[thinking] {block['text']}"
        case "call":
            return f"[call {block['id']}] {block['name']} {json.dumps(block['arguments'], ensure_ascii=False)}"
        case "result":
            return f"[result {block['id']}{' failed' if block['error'] else ''}] {block['text']}"
    return f"[picture, {block['media_type']}, {block['bytes']} bytes]"
