"""The three vendors side by side: how each is told apart, refuses, measures a prompt and answers a chat request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.sim.llm import anthropic_rules, ollama_rules, openai_rules
from tests.sim.llm.anthropic import AnthropicEncoder
from tests.sim.llm.faults import KINDS, Refusal
from tests.sim.llm.ollama import OllamaEncoder
from tests.sim.llm.openai import OpenAIEncoder
from tests.sim.llm.reply import Encoder, Occasion
from tests.sim.llm.signatures import ThinkingMemory
from tests.sim.llm.tokens import BreakpointCache, PromptTokens, RecentPrompts, estimate


@dataclass
class Settings:
    """What kind of account and machine the simulator plays.

    `default` answers what nothing in the script fits: "error" (500 and a violation) or "echo". `window_tokens` refuses
    longer prompts, and is what those servers tell that tell windows. `server` is whose OpenAI-compatible server it plays.
    `binds_thinking` is an Anthropic account made after 31 Aug 2026, whose thinking blocks are valid
    only behind an unchanged prefix. `ollama_num_ctx` is the server's default context, which also cuts prompts to
    `ollama_models` on the OpenAI-style endpoint. `ollama_parameters` are those of each model's own set-up, `ollama_remote` the host
    its models really run on.
    """

    default: Literal["error", "echo"] = "error"
    api_key: str | None = None
    window_tokens: int | None = None
    server: Literal["openai", "vllm", "llamacpp", "lmstudio", "openrouter", "groq", "ollama"] = "openai"
    cache_floor_tokens: int = 1024
    binds_thinking: bool = True
    ollama_num_ctx: int = 4096
    ollama_parameters: str = ""
    ollama_remote: str = ""
    ollama_capabilities: tuple[str, ...] = ("completion", "tools", "thinking", "vision")
    ollama_models: tuple[str, ...] = ("qwen3:8b", "llama3.2:3b", "nomic-embed-text:latest")
    anthropic_models: tuple[str, ...] = (
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-sonnet-4-5",
    )
    openai_models: tuple[str, ...] = ("gpt-5.1", "gpt-5-mini", "gpt-4.1-mini", "text-embedding-3-small")


@dataclass
class Memory:
    """What a vendor remembers between requests: signed thinking and prompt caches."""

    thinking: ThinkingMemory = field(default_factory=ThinkingMemory)
    breakpoints: BreakpointCache = field(default_factory=BreakpointCache)
    prompts: RecentPrompts = field(default_factory=RecentPrompts)


def complaints(
    vendor: str, endpoint: str, body: Mapping[str, Any], headers: Mapping[str, str], settings: Settings, memory: Memory
) -> Iterator[Refusal]:
    """Everything wrong with a request, the vendor's first complaint first."""
    if endpoint == "embeddings":
        return openai_rules.embedding_complaints(body) if vendor == "openai" else iter(())
    if vendor == "anthropic":
        counting = endpoint == "count_tokens"
        return anthropic_rules.complaints(
            body, headers, memory.thinking, counting=counting, binding=settings.binds_thinking
        )
    if vendor == "openai":
        return openai_rules.complaints(body)
    return ollama_rules.complaints(body, settings.ollama_capabilities)


def too_long(vendor: str, body: Mapping[str, Any], settings: Settings) -> Refusal | None:
    """The refusal of a prompt beyond the window; Ollama never refuses, it cuts."""
    total = prompt_size(body)
    if settings.window_tokens is None or total <= settings.window_tokens or vendor == "ollama":
        return None
    usual = KINDS[vendor, "context_length"]
    message = f"prompt is too long: {total} tokens > {settings.window_tokens} maximum"
    if vendor == "openai":
        message = (
            f"This model's maximum context length is {settings.window_tokens} tokens. However, your messages resulted in"
            f" {total} tokens. Please reduce the length of the messages."
        )
    return Refusal(message, usual.status, usual.type, usual.param, usual.code)


def prompt_size(body: Mapping[str, Any]) -> int:
    """Tokens of everything that makes up the prompt."""
    return sum(estimate(body.get(name)) for name in ("tools", "system", "messages", "input"))


def measure(vendor: str, body: Mapping[str, Any], now: float, settings: Settings, memory: Memory) -> PromptTokens:
    """The prompt tokens the vendor reports: with its cache, or silently cut to the context size."""
    if vendor == "anthropic":
        return memory.breakpoints.measure(body, now, settings.cache_floor_tokens)
    if vendor == "openai" and body.get("model") not in settings.ollama_models:
        return memory.prompts.measure(body)
    asked = (body.get("options") or {}).get("num_ctx") if vendor == "ollama" else None
    window = asked if isinstance(asked, int) else settings.ollama_num_ctx
    return PromptTokens(min(prompt_size(body), window))


def encoder(vendor: str, occasion: Occasion, memory: Memory) -> Encoder:
    if vendor == "anthropic":
        return AnthropicEncoder(occasion, memory.thinking)
    return OpenAIEncoder(occasion) if vendor == "openai" else OllamaEncoder(occasion)


def streams(vendor: str, body: Mapping[str, Any]) -> bool:
    """Ollama streams unless told not to; the others only when told to."""
    return bool(body.get("stream", vendor == "ollama"))
