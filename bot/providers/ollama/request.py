"""A `ModelRequest` in the words of Ollama's native ``/api/chat`` (https://docs.ollama.com/api/chat)."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from bot.core.model import CallBlock, ImageBlock, Message, ModelRequest, ResultBlock, ThinkingBlock
from bot.providers.chat_request import chat_tools, joined_text, result_text
from bot.providers.replay import replayable, wire_name

_BYTES_PER_TOKEN: Final = 4
_MOST_BYTES_PER_TOKEN: Final = 8


def chat_body(
    request: ModelRequest,
    vendor: str,
    *,
    window_tokens: int,
    think: bool | str | None = None,
    keep_alive: str | None = None,
    without: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The body of ``POST /api/chat``.

    ``num_ctx`` always goes along, because the server cuts a longer prompt without a word. There is no ``tool_choice``:
    "none" leaves the tools out. ``without`` names what this model has refused ("tools", "thinking", "format").
    """
    model = request.model
    options: dict[str, Any] = {"num_ctx": window_tokens, "num_predict": model.max_tokens}
    if model.temperature is not None:
        options["temperature"] = model.temperature
    body: dict[str, Any] = {
        "model": model.model,
        "messages": _messages(request, vendor),
        "stream": not request.whole,
        "options": options,
    }
    if request.tools and request.tool_choice == "auto" and "tools" not in without:
        body["tools"] = chat_tools(request.tools)
    if think is not None and "thinking" not in without:
        body["think"] = think
    if request.schema is not None and "format" not in without:
        body["format"] = dict(request.schema)
    if keep_alive is not None:
        body["keep_alive"] = keep_alive
    return body


def estimated_tokens(body: dict[str, Any]) -> tuple[int, int]:
    """How long the prompt is: a fair guess, and a length below which it surely is not (4 and 8 bytes a token)."""
    messages = [{key: value for key, value in message.items() if key != "images"} for message in body["messages"]]
    size = len(json.dumps([messages, body.get("tools")], ensure_ascii=False).encode("utf-8", "replace"))
    return size // _BYTES_PER_TOKEN, size // _MOST_BYTES_PER_TOKEN


def _messages(request: ModelRequest, vendor: str) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": request.system}] if request.system.strip() else []
    for message in replayable(request.messages, vendor):
        messages += [_assistant(message)] if message.role == "assistant" else _user(message)
    return messages


def _assistant(message: Message) -> dict[str, Any]:
    """Calls have no ids here: their order tells which result is whose."""
    said: dict[str, Any] = {"role": "assistant", "content": joined_text(message.content)}
    calls = [
        {"function": {"name": wire_name(block.call.name), "arguments": dict(block.call.arguments)}}
        for block in message.content
        if isinstance(block, CallBlock)
    ]
    if calls:
        said["tool_calls"] = calls
    for block in message.content:
        if isinstance(block, ThinkingBlock):
            said |= json.loads(block.raw)
    return said


def _user(message: Message) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = [
        {"role": "tool", "tool_name": wire_name(block.name), "content": result_text(block)}
        for block in message.content
        if isinstance(block, ResultBlock)
    ]
    text = joined_text(message.content)
    images = [base64.b64encode(block.data).decode() for block in message.content if isinstance(block, ImageBlock)]
    if text or images:
        said.append({"role": "user", "content": text} | ({"images": images} if images else {}))
    return said
