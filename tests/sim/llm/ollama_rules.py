"""What an Ollama server refuses in a request, in the words of its Go decoder."""

import base64
import binascii
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.sim.llm.faults import Refusal

GO_NAMES = {str: "string", list: "array", dict: "object", int: "number", float: "number", bool: "bool"}


def _mismatch(value: Any, where: str, wanted: str) -> Refusal:
    kind = GO_NAMES.get(type(value), "string")
    return Refusal(f"json: cannot unmarshal {kind} into Go struct field ChatRequest.{where} of type {wanted}")


def complaints(body: Mapping[str, Any], capabilities: Collection[str]) -> Iterator[Refusal]:
    """Everything wrong with a chat request to a model that has these capabilities."""
    model = body.get("model")
    if not isinstance(model, str) or not model:
        yield Refusal("model is required")
    messages = body.get("messages") or []
    if not isinstance(messages, list):
        yield _mismatch(messages, "messages", "[]api.Message")
    for message in messages:
        yield from _message_complaints(message)
    if body.get("tools") and "tools" not in capabilities:
        yield Refusal(f"registry.ollama.ai/library/{model} does not support tools")
    if body.get("think") and "thinking" not in capabilities:
        yield Refusal(f'"{model}" does not support thinking')
    options = body.get("options")
    if options is not None and not isinstance(options, Mapping):
        yield _mismatch(options, "options", "map[string]interface {}")


def _message_complaints(message: Any) -> Iterator[Refusal]:
    if not isinstance(message, Mapping):
        yield _mismatch(message, "messages", "api.Message")
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        yield _mismatch(content, "messages.content", "string")
    images = message.get("images") or []
    for image in images:
        if not isinstance(image, str):
            yield _mismatch(image, "messages.images", "api.ImageData")
        try:
            base64.b64decode(image, validate=True)
        except binascii.Error:
            yield Refusal("illegal base64 data at input byte 0")
    for call in message.get("tool_calls") or []:
        arguments = (call.get("function") or {}).get("arguments")
        if not isinstance(arguments, Mapping):
            yield _mismatch(arguments, "messages.tool_calls.function.arguments", "api.ToolCallFunctionArguments")
