"""What the OpenAI Chat Completions and Embeddings APIs refuse in a request, in their own words."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.sim.llm.asked import plain_text
from tests.sim.llm.faults import Refusal
from tests.sim.llm.tokens import estimate_text

NAME = re.compile(r"[a-zA-Z0-9_-]+")
OWN_MODEL = re.compile(r"(gpt-|o\d|chatgpt-)")
REASONING_MODEL = re.compile(r"(gpt-5|o\d)")
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
PART_TYPES = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
    "system": {"text"},
    "developer": {"text"},
}
MAX_NAME, MAX_CALL_ID, MAX_TOOLS = 64, 40, 128
MAX_INPUTS, MAX_INPUT_TOKENS = 2048, 8192
BODY_KEYS = frozenset(
    {
        "messages",
        "model",
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)


def bad(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    return Refusal(message, 400, "invalid_request_error", param, code)


def complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    """Everything wrong with a chat completion request. Unknown parameters pass for models that are not OpenAI's own."""
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield bad("you must provide a model parameter")
    if "messages" not in body:
        yield bad("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    if not isinstance(body["messages"], list) or not body["messages"]:
        yield bad(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.", "messages", "empty_array"
        )
    yield from _parameter_complaints(body)
    yield from _tool_complaints(body)
    yield from _format_complaints(body)
    for n, message in enumerate(body["messages"]):
        yield from _message_complaints(message, n)
    yield from _pairing_complaints(body["messages"])


def _parameter_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    model = body["model"]
    if OWN_MODEL.match(model):
        for name in sorted(set(body) - BODY_KEYS):
            yield bad(f"Unrecognized request argument supplied: {name}", None, None)
    if REASONING_MODEL.match(model):
        if body.get("max_tokens") is not None:
            yield bad(
                "Unsupported parameter: 'max_tokens' is not supported with this model."
                " Use 'max_completion_tokens' instead.",
                "max_tokens",
                "unsupported_parameter",
            )
        for name in ("temperature", "top_p"):
            if body.get(name) not in (None, 1):
                yield bad(
                    f"Unsupported value: '{name}' does not support {body[name]} with this model."
                    " Only the default (1) value is supported.",
                    name,
                    "unsupported_value",
                )
    if body.get("stream_options") is not None and not body.get("stream"):
        yield bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    for name in ("max_tokens", "max_completion_tokens"):
        if isinstance(limit := body.get(name), int) and limit < 1:
            yield bad(f"Invalid '{name}': integer below minimum value.", name, "integer_below_min_value")


def _name_complaints(name: Any, where: str) -> Iterator[Refusal]:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        pattern = "'^[a-zA-Z0-9_-]+$'"
        text = (
            f"Invalid '{where}': string does not match pattern. Expected a string that matches the pattern {pattern}."
        )
        yield bad(text, where, "invalid_value")
    if len(name) > MAX_NAME:
        text = f"string too long. Expected a string with maximum length {MAX_NAME}, but got a string with length {len(name)}"
        yield bad(f"Invalid '{where}': {text} instead.", where, "string_above_max_length")


def _tool_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) not in (None, "none"):
                yield bad(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
        return
    if not tools:
        yield bad("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools", "empty_array")
    if len(tools) > MAX_TOOLS:
        yield bad(
            f"Invalid 'tools': array too long. Expected maximum length {MAX_TOOLS}.", "tools", "array_above_max_length"
        )
    for n, tool in enumerate(tools):
        if tool.get("type") != "function":
            yield bad(
                f"Missing required parameter: 'tools[{n}].type'.", f"tools[{n}].type", "missing_required_parameter"
            )
        function = tool.get("function") or {}
        yield from _name_complaints(function.get("name"), f"tools[{n}].function.name")
        schema = function.get("parameters")
        if schema is not None and schema.get("type") != "object":
            yield bad(
                f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of 'type: \"object\"',"
                f" got 'type: \"{schema.get('type')}\"'.",
                f"tools[{n}].function.parameters",
                "invalid_function_parameters",
            )


def _format_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object":
        texts = " ".join(plain_text(message.get("content")) for message in body["messages"])
        if "json" not in texts.lower():
            yield bad(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
            )
    if wanted.get("type") != "json_schema":
        return
    named = wanted.get("json_schema") or {}
    yield from _name_complaints(named.get("name"), "response_format.json_schema.name")
    schema = named.get("schema")
    if not isinstance(schema, Mapping):
        where = "response_format.json_schema.schema"
        yield bad(f"Missing required parameter: '{where}'.", where, "missing_required_parameter")
        return
    if named.get("strict") and schema.get("additionalProperties") is not False:
        yield bad(
            f"Invalid schema for response_format '{named['name']}': In context=(), 'additionalProperties' is required to be"
            " supplied and to be false.",
            "response_format",
        )


def _message_complaints(message: Any, n: int) -> Iterator[Refusal]:
    role = message.get("role") if isinstance(message, Mapping) else None
    if role not in ROLES:
        yield bad(
            f"Invalid value: '{role}'. Supported values are: {', '.join(ROLES)}.",
            f"messages[{n}].role",
            "invalid_value",
        )
    content, calls = message.get("content"), message.get("tool_calls")
    where = f"messages[{n}].content"
    if content is None and not calls:
        yield bad("Invalid value for 'content': expected a string, got null.", where)
    if not isinstance(content, str | list | None):
        yield bad(f"Invalid type for '{where}': expected one of a string or array of objects.", where, "invalid_type")
    for k, part in enumerate(content if isinstance(content, list) else []):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in PART_TYPES.get(str(role), {"text"}):
            yield bad(f"Invalid value: '{kind}'.", f"{where}[{k}].type", "invalid_value")
    if calls is not None and not calls:
        name = f"messages[{n}].tool_calls"
        yield bad(f"Invalid '{name}': empty array. Expected an array with minimum length 1.", name, "empty_array")
    for k, call in enumerate(calls or []):
        yield from _call_complaints(call, f"messages[{n}].tool_calls[{k}]")


def _call_complaints(call: Mapping[str, Any], where: str) -> Iterator[Refusal]:
    if not isinstance(call.get("id"), str) or not call["id"]:
        yield bad(f"Missing required parameter: '{where}.id'.", f"{where}.id", "missing_required_parameter")
    if len(call["id"]) > MAX_CALL_ID:
        text = f"Invalid '{where}.id': string too long. Expected a string with maximum length {MAX_CALL_ID}"
        yield bad(
            f"{text}, but got a string with length {len(call['id'])} instead.", f"{where}.id", "string_above_max_length"
        )
    if call.get("type") != "function":
        yield bad(f"Missing required parameter: '{where}.type'.", f"{where}.type", "missing_required_parameter")
    function = call.get("function") or {}
    yield from _name_complaints(function.get("name"), f"{where}.function.name")
    arguments, name = function.get("arguments"), f"{where}.function.arguments"
    if not isinstance(arguments, str):
        yield bad(f"Invalid type for '{name}': expected a string.", name, "invalid_type")
        return
    try:
        parsed = json.loads(arguments)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        yield bad(f"Invalid '{name}': the arguments must be a JSON object in a string.", name, "invalid_value")


def _pairing_complaints(messages: Sequence[Mapping[str, Any]]) -> Iterator[Refusal]:
    """Tool messages answer the assistant message before them, and each of its calls is answered before anything else."""
    pending: list[str] = []
    asked: set[str] = set()
    for n, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            if not isinstance(call_id, str):
                where = f"messages[{n}].tool_call_id"
                yield bad(f"Missing required parameter: '{where}'.", where, "missing_required_parameter")
            if call_id not in asked:
                yield bad(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
                    " 'tool_calls'.",
                    f"messages[{n}].role",
                )
            pending = [waiting for waiting in pending if waiting != call_id]
            continue
        if pending:
            break
        asked = {call["id"] for call in message.get("tool_calls") or []}
        pending = sorted(asked)
    if pending:
        yield bad(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
            f" The following tool_call_ids did not have response messages: {', '.join(pending)}",
            "messages",
        )


def embedding_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    """Everything wrong with an embeddings request."""
    if not isinstance(body.get("model"), str):
        yield bad("you must provide a model parameter")
    given = body.get("input")
    inputs = given if isinstance(given, list) else [given]
    if not inputs or len(inputs) > MAX_INPUTS or any(item in ("", None) for item in inputs):
        yield bad(
            "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference."
        )
    if any(isinstance(item, str) and estimate_text(item) > MAX_INPUT_TOKENS for item in inputs):
        yield bad(
            f"This model's maximum context length is {MAX_INPUT_TOKENS} tokens.", "input", "context_length_exceeded"
        )
