"""What the simulator answers where no model speaks: model lists, token counts, embeddings, Ollama's own questions."""

from collections.abc import Mapping
from typing import Any

from tests.sim.llm.embedding import OLLAMA_DIMENSIONS, OPENAI_DIMENSIONS, as_base64, embed
from tests.sim.llm.faults import Refusal
from tests.sim.llm.ollama import timestamp
from tests.sim.llm.tokens import estimate
from tests.sim.llm.vendors import Settings, prompt_size

OLLAMA_VERSION = "0.24.0"
RELEASED = 1_790_000_000.0
ABOUT_ONE = ("model", "show", "props", "loaded", "running")
"""Questions about one model, or about what runs now."""
MADE_FOR = 40_960
"""What the models of servers on one's own machine could read, given the memory."""
OLLAMA_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "qwen3",
    "families": ["qwen3"],
    "parameter_size": "8.2B",
    "quantization_level": "Q4_K_M",
}


def models(vendor: str, settings: Settings) -> dict[str, Any]:
    if vendor == "anthropic":
        names = settings.anthropic_models
        data = [_claude(name, settings) for name in names]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}
    if vendor == "openai":
        names = (*settings.openai_models, *settings.ollama_models)
        data = [_listed(name, settings) for name in names]
        return {"object": "list", "data": data}
    shared = {"modified_at": timestamp(RELEASED), "size": 5_200_000_000, "digest": "0" * 64, "details": OLLAMA_DETAILS}
    return {"models": [{"name": name, "model": name, **shared} for name in settings.ollama_models]}


def _claude(name: str, settings: Settings) -> dict[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": timestamp(RELEASED),
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": settings.window_tokens or 200_000,
    }


def _listed(name: str, settings: Settings) -> dict[str, Any]:
    """An entry of ``/v1/models`` as each server writes it."""
    tokens = settings.window_tokens or 32_768
    owners = {"llamacpp": "llamacpp", "lmstudio": "organization_owner", "ollama": "library", "vllm": "vllm"}
    own: dict[str, dict[str, Any]] = {
        "vllm": {"root": name, "parent": None, "max_model_len": tokens},
        "llamacpp": {"meta": {"vocab_type": 2, "n_ctx_train": MADE_FOR, "n_params": 8_190_735_360}},
        "openrouter": {"context_length": MADE_FOR, "top_provider": {"context_length": tokens, "is_moderated": False}},
        "groq": {"active": True, "context_window": tokens, "public_apps": None},
    }
    common = {"id": name, "object": "model", "created": int(RELEASED)}
    return {**common, "owned_by": owners.get(settings.server, "sim"), **own.get(settings.server, {})}


def model(vendor: str, body: Mapping[str, Any], settings: Settings) -> dict[str, Any] | Refusal:
    name = str(body["model"])
    if vendor == "anthropic":
        known = name in settings.anthropic_models
        return _claude(name, settings) if known else Refusal(f"model: {name}", 404, "not_found_error")
    known = name in (*settings.openai_models, *settings.ollama_models)
    return _listed(name, settings) if known else Refusal(f"The model '{name}' does not exist", 404)


def props(settings: Settings) -> dict[str, Any] | Refusal:
    if settings.server != "llamacpp":
        return Refusal("File Not Found", 404)
    return {"default_generation_settings": {"n_ctx": settings.window_tokens or 32_768}, "total_slots": 1}


def loaded(body: Mapping[str, Any], settings: Settings) -> dict[str, Any] | Refusal:
    if settings.server != "lmstudio":
        return Refusal("Unexpected endpoint or method.", 404)
    about = {"id": body["model"], "object": "model", "type": "llm", "state": "loaded", "max_context_length": MADE_FOR}
    return {**about, "loaded_context_length": settings.window_tokens or 32_768}


def running(settings: Settings) -> dict[str, Any]:
    shared = {"size": 6_000_000_000, "size_vram": 0, "details": OLLAMA_DETAILS}
    tokens = settings.window_tokens or settings.ollama_num_ctx
    models = [{"name": name, "model": name, **shared, "context_length": tokens} for name in settings.ollama_models]
    return {"models": models}


def show(body: Mapping[str, Any], settings: Settings) -> dict[str, Any] | Refusal:
    name = str(body.get("model") or body.get("name") or "")
    if name not in settings.ollama_models and f"{name}:latest" not in settings.ollama_models:
        return Refusal(f"model '{name}' not found", 404)
    elsewhere = {"remote_model": name, "remote_host": settings.ollama_remote} if settings.ollama_remote else {}
    return {
        **elsewhere,
        "modelfile": f"FROM {name}\n",
        "parameters": settings.ollama_parameters,
        "template": "{{ .Prompt }}",
        "details": OLLAMA_DETAILS,
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": MADE_FOR},
        "capabilities": list(settings.ollama_capabilities),
        "modified_at": timestamp(RELEASED),
    }


def count_tokens(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"input_tokens": prompt_size(body)}


def _inputs(body: Mapping[str, Any]) -> list[str]:
    given = body.get("input", "")
    if isinstance(given, str):
        return [given] if given else []
    return [item if isinstance(item, str) else str(item) for item in given]


def openai_embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors of the model's usual length or `dimensions`; base64 where asked for, as the openai library does."""
    model = str(body["model"])
    dimensions = body.get("dimensions") or OPENAI_DIMENSIONS.get(model, OPENAI_DIMENSIONS["text-embedding-3-small"])
    packed = body.get("encoding_format") == "base64"
    vectors = [embed(text, dimensions) for text in _inputs(body)]
    data = [
        {"object": "embedding", "index": n, "embedding": as_base64(vector) if packed else vector}
        for n, vector in enumerate(vectors)
    ]
    tokens = estimate(_inputs(body))
    return {"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def ollama_embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    dimensions = body.get("dimensions") or OLLAMA_DIMENSIONS
    return {
        "model": body.get("model"),
        "embeddings": [embed(text, dimensions) for text in _inputs(body)],
        "total_duration": 1_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_count": estimate(_inputs(body)),
    }


def answer(vendor: str, endpoint: str, body: Mapping[str, Any], settings: Settings) -> dict[str, Any] | Refusal:
    """The body for an endpoint other than chat."""
    match endpoint:
        case "models":
            return models(vendor, settings)
        case "count_tokens":
            return count_tokens(body)
        case "embeddings":
            return openai_embeddings(body) if vendor == "openai" else ollama_embeddings(body)
        case "model":
            return model(vendor, body, settings)
        case "props":
            return props(settings)
        case "loaded":
            return loaded(body, settings)
        case "running":
            return running(settings)
        case "show":
            return show(body, settings)
    return {"version": OLLAMA_VERSION}
