"""What the Anthropic Messages API refuses inside messages: content blocks, and calls without results."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.sim.llm.faults import Refusal
from tests.sim.llm.tokens import MARK, as_blocks

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")
IMAGE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
KEYS = {
    "text": {"text", "citations"},
    "image": {"source", "transformations"},
    "document": {"source", "title", "context", "citations"},
    "search_result": {"source", "title", "content", "citations"},
    "tool_use": {"id", "name", "input", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "toolset_name"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
ALLOWED = {
    "user": {"text", "image", "document", "search_result", "tool_result"},
    "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
    "system": {"text"},
}


def block_complaints(message: Mapping[str, Any], n: int, *, last: bool) -> Iterator[Refusal]:
    """What is wrong with the content of message `n` on its own."""
    role, content = message["role"], message.get("content")
    if not isinstance(content, str | list):
        yield Refusal(f"messages.{n}.content: Input should be a valid list")
    blocks = as_blocks(content)
    if not content and not (role == "assistant" and last):
        yield Refusal(
            f"messages.{n}: all messages must have non-empty content except for the optional final assistant message"
        )
    for k, block in enumerate(blocks):
        where = f"messages.{n}.content.{k}"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if kind not in ALLOWED[role]:
            allowed = ", ".join(sorted(ALLOWED[role]))
            yield Refusal(f"{where}: Input tag '{kind}' does not match any of the expected tags: {allowed}")
        for extra in sorted(set(block) - KEYS[str(kind)] - {"type", MARK}):
            yield Refusal(f"{where}.{kind}.{extra}: Extra inputs are not permitted")
        yield from _RULES[str(kind)](block, where)
        if role == "user" and kind == "text" and block.get("citations"):
            yield Refusal(f"{where}.text.citations: citations are not permitted on text blocks in user messages")


def _text_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    text = block.get("text")
    if not isinstance(text, str):
        yield Refusal(f"{where}.text.text: Input should be a valid string")
    if text == "" and block.get(MARK):
        yield Refusal(f"{where}: cache_control cannot be set for empty text blocks")
    if text == "":
        yield Refusal("messages: text content blocks must be non-empty")
    if not str(text).strip():
        yield Refusal("messages: text content blocks must contain non-whitespace text")


def _image_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    source = block.get("source")
    if not isinstance(source, Mapping) or source.get("type") not in ("base64", "url", "file"):
        yield Refusal(f"{where}.image.source: Field required")
        return
    if source["type"] != "base64":
        return
    if source.get("media_type") not in IMAGE_TYPES:
        yield Refusal(f"{where}.image.source.base64.media_type: Input should be {', '.join(IMAGE_TYPES)}")
    try:
        base64.b64decode(str(source.get("data", "")), validate=True)
    except binascii.Error:
        yield Refusal(f"{where}.image.source.base64.data: Invalid base64 data")


def _source_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    if not block.get("source"):
        yield Refusal(f"{where}.{block['type']}.source: Field required")


def _call_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    if not CALL_ID.fullmatch(str(block.get("id", ""))):
        yield Refusal(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not TOOL_NAME.fullmatch(str(block.get("name", ""))):
        yield Refusal(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'")
    if not isinstance(block.get("input"), Mapping):
        yield Refusal(f"{where}.tool_use.input: Input should be a valid dictionary")


def _result_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    if not isinstance(block.get("tool_use_id"), str):
        yield Refusal(f"{where}.tool_result.tool_use_id: Field required")
    content = block.get("content")
    if content is not None and not isinstance(content, str | list):
        yield Refusal(f"{where}.tool_result.content: Input should be a valid string or list")
    if block.get("is_error") and not content:
        yield Refusal(f"{where}.tool_result: content cannot be empty if `is_error` is true")
    for k, part in enumerate(content if isinstance(content, list) else []):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in ("text", "image", "document", "search_result", "tool_reference"):
            yield Refusal(
                f"{where}.tool_result.content.{k}: Input tag '{kind}' does not match any of the expected tags"
            )
        if kind == "text" and not str(part.get("text", "")):
            yield Refusal("messages: text content blocks must be non-empty")


def _thinking_complaints(block: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    for name in sorted(KEYS[block["type"]]):
        if not isinstance(block.get(name), str):
            yield Refusal(f"{where}.{block['type']}.{name}: Field required")
    if block.get(MARK):
        yield Refusal(f"{where}.{block['type']}.cache_control: Extra inputs are not permitted")


_RULES = {
    "text": _text_complaints,
    "image": _image_complaints,
    "document": _source_complaints,
    "search_result": _source_complaints,
    "tool_use": _call_complaints,
    "tool_result": _result_complaints,
    "thinking": _thinking_complaints,
    "redacted_thinking": _thinking_complaints,
}


def _ids(message: Mapping[str, Any] | None, kind: str, key: str) -> list[str]:
    content = message["content"] if message is not None else []
    return [block[key] for block in as_blocks(content) if block["type"] == kind]


def tool_pairing_complaints(messages: Sequence[Mapping[str, Any]]) -> Iterator[Refusal]:
    """Every tool_use is answered in the very next message, every tool_result answers the message right before it."""
    known: set[str] = set()
    for n, message in enumerate(messages):
        calls = _ids(message, "tool_use", "id") if message["role"] == "assistant" else []
        if known & set(calls) or len(set(calls)) != len(calls):
            yield Refusal(f"messages.{n}.content: `tool_use` ids must be unique")
        known |= set(calls)
        following = messages[n + 1] if n + 1 < len(messages) else None
        answered = _ids(following, "tool_result", "tool_use_id")
        if missing := [call for call in calls if call not in answered]:
            yield Refusal(
                f"messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after:"
                f" {', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the"
                " next message."
            )
        yield from _orphan_complaints(message, messages[n - 1] if n else None, n)


def _orphan_complaints(message: Mapping[str, Any], before: Mapping[str, Any] | None, n: int) -> Iterator[Refusal]:
    called = _ids(before, "tool_use", "id") if before is not None else []
    results = _ids(message, "tool_result", "tool_use_id")
    for k, result in enumerate(results):
        if result not in called:
            yield Refusal(
                f"messages.{n}.content.{k}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each"
                " `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if results.count(result) > 1:
            yield Refusal(
                f"messages.{n}.content.{k}: each tool_use must have a single result."
                f" Found multiple `tool_result` blocks with id: {result}"
            )
    kinds = [block["type"] == "tool_result" for block in as_blocks(message["content"])]
    if kinds != sorted(kinds, reverse=True):
        yield Refusal(f"messages.{n}: `tool_result` blocks must come first in the content of a user message")
