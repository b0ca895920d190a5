"""How much the models of OpenAI-compatible servers read, each server in its own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from bot.core.http import Http
from bot.providers.proof import listed
from bot.providers.windows import count_in

_KEYS: Final = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")
"""Of an entry of ``/v1/models``: vLLM and SGLang; OpenRouter and Fireworks; Groq; Mistral; LiteLLM."""
_NESTED: Final = (("top_provider", "context_length"), ("metadata", "context_length"), ("meta", "n_ctx"))
"""OpenRouter's own limit for whom it passes the question on to, which may be less; DeepInfra; newer llama.cpp."""


async def window_at(http: Http, base_url: str, headers: Mapping[str, str], model: str) -> int | None:
    """Tokens; None where the server does not say. Raises ``ProviderError``, ``TransportError``."""
    entry = _entry(await listed(http, f"{base_url}/models", headers), model)
    if entry is None:
        return None
    if found := [*_counts(entry)]:
        return min(found)
    root = base_url.rstrip("/").removesuffix("/v1")
    match str(entry.get("owned_by") or "").lower():
        case "llamacpp":
            return await _at_llamacpp(http, root, headers, entry)
        case "organization_owner" | "organization-owner":
            return await _at_lm_studio(http, root, headers, model)
        case "library":
            return await _at_ollama(http, root, headers, model)
    return None


def _entry(told: Mapping[str, Any], model: str) -> Mapping[str, Any] | None:
    """What is listed under the model's name; a server of one model answers to any."""
    data = told.get("data")
    entries = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
    named = next((one for one in entries if one.get("id") == model), None)
    return named or (entries[0] if len(entries) == 1 else None)


def _counts(entry: Mapping[str, Any]) -> Iterator[int]:
    for key in _KEYS:
        if tokens := count_in(entry.get(key)):
            yield tokens
    for outer, inner in _NESTED:
        held = entry.get(outer)
        if isinstance(held, dict) and (tokens := count_in(held.get(inner))):
            yield tokens


async def _at_llamacpp(http: Http, root: str, headers: Mapping[str, str], entry: Mapping[str, Any]) -> int | None:
    """``/props`` has what one question may take of the memory that was set aside; the list only what the model was made
    for."""
    props = await listed(http, f"{root}/props", headers)
    settings = props.get("default_generation_settings")
    own = count_in(settings.get("n_ctx")) if isinstance(settings, dict) else None
    meta = entry.get("meta")
    return own or (count_in(meta.get("n_ctx_train")) if isinstance(meta, dict) else None)


async def _at_lm_studio(http: Http, root: str, headers: Mapping[str, str], model: str) -> int | None:
    """What the model was loaded with; what it could be loaded with says nothing."""
    told = await listed(http, f"{root}/api/v0/models/{quote(model, safe='/')}", headers)
    return count_in(told.get("loaded_context_length"))


async def _at_ollama(http: Http, root: str, headers: Mapping[str, str], model: str) -> int | None:
    """What the model was loaded with: behind this API no question can ask for more, and longer ones are cut silently."""
    running = (await listed(http, f"{root}/api/ps", headers)).get("models")
    for one in running if isinstance(running, list) else ():
        if isinstance(one, dict) and one.get("name") in (model, f"{model}:latest"):
            return count_in(one.get("context_length"))
    return None
