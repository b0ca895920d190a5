"""What the Anthropic Messages API refuses in a request, in its own words. Rules yield complaints; the first one wins."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.sim.llm.anthropic_blocks import block_complaints, tool_pairing_complaints
from tests.sim.llm.claude import Claude, claude
from tests.sim.llm.faults import Refusal
from tests.sim.llm.signatures import BINDING_BETA, ThinkingMemory
from tests.sim.llm.tokens import MARK, as_blocks

VERSIONS = ("2023-06-01", "2026-10-21")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_MARKS = 4
BODY_KEYS = frozenset(
    {
        "max_tokens",
        "messages",
        "model",
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "metadata",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "system",
        "thinking",
        "tool_choice",
        "tools",
        "user_profile_id",
        "workspace_id",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "context_management",
        "fallbacks",
        "mcp_servers",
    }
)
TOOL_KEYS = frozenset(
    {
        "name",
        "input_schema",
        "description",
        "type",
        "cache_control",
        "allowed_callers",
        "eager_input_streaming",
        "input_examples",
        "strict",
        "defer_loading",
    }
)


def complaints(
    body: Mapping[str, Any], headers: Mapping[str, str], memory: ThinkingMemory, *, counting: bool, binding: bool
) -> Iterator[Refusal]:
    """Everything wrong with a Messages or (`counting`) token counting request. `binding`: the account checks prefixes."""
    version = headers.get("anthropic-version")
    if version is None:
        yield Refusal("anthropic-version: header is required")
    if version not in VERSIONS:
        yield Refusal(f'anthropic-version: "{version}" is not a valid version')
    yield from _parameter_complaints(body, counting)
    model = claude(body["model"])
    yield from _thinking_parameter_complaints(body, headers, model)
    if (body.get("output_config") or {}).get("format") and not model.takes_schemas:
        yield Refusal("output_config.format: This model does not support structured outputs.")
    yield from _tool_complaints(body, model)
    yield from _system_complaints(body)
    yield from _message_complaints(body, model)
    yield from _mark_complaints(body)
    yield from tool_pairing_complaints(body["messages"])
    yield from memory.complaints(body, binding and model.binds_thinking and not _drops_blocks(body))
    yield from _missing_thinking_complaints(body, memory)


def _parameter_complaints(body: Mapping[str, Any], counting: bool) -> Iterator[Refusal]:
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            yield Refusal(f"{name}: Field required")
    if not isinstance(body["model"], str) or not body["model"]:
        yield Refusal("model: Input should be a valid string")
    limit = body.get("max_tokens", 1)
    if not isinstance(limit, int) or isinstance(limit, bool):
        yield Refusal("max_tokens: Input should be a valid integer")
    if limit < 1:
        yield Refusal("max_tokens: Input should be greater than or equal to 1")
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            yield Refusal(f"{name}: this parameter is not supported in API version 2026-10-21")
    for name in sorted(set(body) - BODY_KEYS):
        yield Refusal(f"{name}: Extra inputs are not permitted")


def _thinking_parameter_complaints(
    body: Mapping[str, Any], headers: Mapping[str, str], model: Claude
) -> Iterator[Refusal]:
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, Mapping) else None
    if kind not in ("enabled", "adaptive", "disabled", "between_tools"):
        yield Refusal(f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    if kind not in model.thinking_types:
        yield Refusal(
            f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and'
            ' "output_config.effort" to control thinking behavior.'
        )
    budget = thinking.get("budget_tokens")
    if kind == "enabled" and not isinstance(budget, int):
        yield Refusal("thinking.enabled.budget_tokens: Field required")
    if kind == "enabled" and budget < 1024:
        yield Refusal("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if kind == "enabled" and budget >= body.get("max_tokens", budget + 1):
        yield Refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if "block_binding" in thinking and BINDING_BETA not in headers.get("anthropic-beta", ""):
        yield Refusal("thinking.block_binding: Extra inputs are not permitted")


def _tool_complaints(body: Mapping[str, Any], model: Claude) -> Iterator[Refusal]:
    names: set[str] = set()
    for n, tool in enumerate(body.get("tools") or []):
        name = str(tool.get("name", ""))
        if not TOOL_NAME.fullmatch(name):
            yield Refusal(f"tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if name in names:
            yield Refusal("tools: Tool names must be unique.")
        names.add(name)
        if tool.get("type", "custom") != "custom":
            continue
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping):
            yield Refusal(f"tools.{n}.custom.input_schema: Field required")
        if schema.get("type") != "object":
            yield Refusal(f"tools.{n}.custom.input_schema.type: Input should be 'object'")
        for extra in sorted(set(tool) - TOOL_KEYS):
            yield Refusal(f"tools.{n}.custom.{extra}: Extra inputs are not permitted")
    choice = body.get("tool_choice") or {}
    if choice and not names:
        yield Refusal("tool_choice: tool_choice may only be specified while providing tools")
    if choice.get("type") in ("any", "tool"):
        if not model.allows_forced_tools:
            yield Refusal(f'tool_choice.type "{choice["type"]}" is not supported for this model. Use "auto" or "none".')
        if (body.get("thinking") or {}).get("type") in ("enabled", "adaptive"):
            yield Refusal("Thinking may not be enabled when tool_choice forces tool use.")
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield Refusal(f"Tool '{choice.get('name')}' not found in provided tools")


def _system_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    if "system" not in body:
        return
    if not isinstance(body["system"], str | list):
        yield Refusal("system: Input should be a valid list")
    for n, block in enumerate(as_blocks(body["system"])):
        if not isinstance(block, Mapping) or block.get("type") != "text":
            yield Refusal(f"system.{n}.type: Input should be 'text'")
        if not str(block.get("text", "")).strip():
            yield Refusal("system: text content blocks must be non-empty")


def _message_complaints(body: Mapping[str, Any], model: Claude) -> Iterator[Refusal]:
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        yield Refusal("messages: at least one message is required")
    for n, message in enumerate(messages):
        if not isinstance(message, Mapping):
            yield Refusal(f"messages.{n}: Input should be a valid dictionary or object to extract fields from")
        if message.get("role") not in ("user", "assistant", "system"):
            yield Refusal(f"messages.{n}.role: Input should be 'user', 'assistant' or 'system'")
        for extra in sorted(set(message) - {"role", "content", "output_config"}):
            yield Refusal(f"messages.{n}.{extra}: Extra inputs are not permitted")
        yield from block_complaints(message, n, last=n == len(messages) - 1)
    yield from _order_complaints(messages, model)


def _order_complaints(messages: list[Mapping[str, Any]], model: Claude) -> Iterator[Refusal]:
    roles = [message["role"] for message in messages]
    if roles[0] == "system":
        yield Refusal("messages.0: use the top-level 'system' parameter for the initial system prompt")
    if roles[0] != "user":
        yield Refusal('messages: first message must use the "user" role')
    for n, role in enumerate(roles):
        if role != "system":
            continue
        if not model.allows_system_messages:
            yield Refusal(f"messages.{n}: role 'system' is not supported on this model")
        if roles[n - 1] != "user" or (n + 1 < len(roles) and roles[n + 1] != "assistant"):
            yield Refusal(f"messages.{n}: a system message must follow a user message and precede an assistant message")
    if roles[-1] == "assistant" and not model.allows_prefill:
        yield Refusal(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if roles[-1] == "assistant":
        blocks = as_blocks(messages[-1]["content"])
        if blocks and str(blocks[-1].get("text", "")).endswith((" ", "\n", "\t")):
            yield Refusal("messages: final assistant content cannot end with trailing whitespace")


def _mark_complaints(body: Mapping[str, Any]) -> Iterator[Refusal]:
    blocks = [*(body.get("tools") or []), *as_blocks(body.get("system"))]
    for message in body["messages"]:
        blocks += as_blocks(message["content"])
    marks = [block[MARK] for block in blocks if block.get(MARK)] + ([body[MARK]] if body.get(MARK) else [])
    for mark in marks:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            yield Refusal("cache_control: Input should be {'type': 'ephemeral', 'ttl': '5m' or '1h'}")
    if len(marks) > MAX_MARKS:
        yield Refusal(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    ttls = [mark.get("ttl", "5m") for mark in marks]
    if "1h" in ttls[ttls.index("5m") :] if "5m" in ttls else False:
        yield Refusal("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")


def _drops_blocks(body: Mapping[str, Any]) -> bool:
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    return bool(binding.get("prefix_mismatch_behavior") == "drop_block")


def _missing_thinking_complaints(body: Mapping[str, Any], memory: ThinkingMemory) -> Iterator[Refusal]:
    """With a fixed thinking budget the running tool loop must start with the thinking it was sent with."""
    if (body.get("thinking") or {}).get("type") != "enabled":
        return
    messages = body["messages"]
    latest = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    blocks = as_blocks(messages[latest]["content"]) if latest >= 0 else []
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if any(memory.thought_before(call) for call in calls) and blocks[0]["type"] not in (
        "thinking",
        "redacted_thinking",
    ):
        yield Refusal(
            f"messages.{latest}.content.0.type: Expected `thinking` or `redacted_thinking`, but found"
            f" `{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a thinking"
            " block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )
