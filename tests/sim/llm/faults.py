"""The error bodies of the three vendors, by HTTP status and by the well-known kinds of trouble."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a vendor says no. `param` and `code` reach the wire at OpenAI only."""

    message: str
    status: int = 400
    type: str | None = None
    param: str | None = None
    code: str | None = None


ANTHROPIC_TYPES = {
    400: ("invalid_request_error", "Error"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There is an issue with your billing or payment information."),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: not found"),
    408: ("request_timeout_error", "Request timed out"),
    409: ("conflict_error", "The request conflicts with the current state of the resource."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    500: ("api_error", "Internal server error"),
    503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}

OPENAI_TYPES = {
    400: ("invalid_request_error", None, "Bad request"),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: {masked}."),
    402: ("billing_error", None, "Payment required"),
    403: ("permission_error", None, "You are not allowed to use this resource."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    408: ("timeout", None, "Request timed out."),
    413: ("invalid_request_error", "request_too_large", "Request entity too large."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached. Please try again in 20s."),
    500: ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    503: ("server_error", "service_unavailable", "The engine is currently overloaded, please try again later."),
}

OLLAMA_MESSAGES = {
    400: "invalid request",
    401: "unauthorized",
    402: "payment required",
    403: "this model requires a subscription, upgrade for access",
    404: "model not found",
    429: "too many concurrent requests",
    500: "llama runner process has terminated: exit status 2",
    503: "server busy, please try again.  maximum pending requests exceeded",
}

KINDS: Mapping[tuple[str, str], Refusal] = {
    ("openai", "insufficient_quota"): Refusal(
        "You exceeded your current quota, please check your plan and billing details.",
        429,
        "insufficient_quota",
        code="insufficient_quota",
    ),
    ("openai", "context_length"): Refusal(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens."
        " Please reduce the length of the messages.",
        400,
        "invalid_request_error",
        "messages",
        "context_length_exceeded",
    ),
    ("openai", "quotes_key"): Refusal(
        "Incorrect API key provided: {key}.", 401, "invalid_request_error", None, "invalid_api_key"
    ),
    ("anthropic", "insufficient_quota"): Refusal(
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
        400,
        "invalid_request_error",
    ),
    ("anthropic", "context_length"): Refusal(
        "prompt is too long: 208310 tokens > 200000 maximum", 400, "invalid_request_error"
    ),
    ("anthropic", "quotes_key"): Refusal("invalid API key: {key}", 401, "authentication_error"),
    ("ollama", "quotes_key"): Refusal("unauthorized: {key}", 401),
}


def mask_like_openai(key: str) -> str:
    return f"{key[:8]}{'*' * max(0, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "*" * len(key)


def known(vendor: str, status: int, kind: str | None) -> Refusal:
    """The vendor's usual words for a status, or for a kind of trouble at that status."""
    if kind is not None:
        named = KINDS.get((vendor, kind)) or Refusal(kind, status, kind, code=kind)
        return Refusal(named.message, status, named.type, named.param, named.code)
    family = 400 if status < 500 else 500
    if vendor == "anthropic":
        type_, message = ANTHROPIC_TYPES.get(status) or ANTHROPIC_TYPES[family]
        return Refusal(message, status, type_)
    if vendor == "openai":
        openai_type, code, message = OPENAI_TYPES.get(status) or OPENAI_TYPES[family]
        return Refusal(message, status, openai_type, None, code)
    return Refusal(OLLAMA_MESSAGES.get(status) or OLLAMA_MESSAGES[family], status)


def body_of(vendor: str, refusal: Refusal, request_id: str) -> dict[str, Any]:
    """The JSON body as the vendor shapes it."""
    if vendor == "anthropic":
        type_ = refusal.type or (ANTHROPIC_TYPES.get(refusal.status) or ANTHROPIC_TYPES[400])[0]
        return {"type": "error", "error": {"type": type_, "message": refusal.message}, "request_id": request_id}
    if vendor == "openai":
        type_ = refusal.type or (OPENAI_TYPES.get(refusal.status) or OPENAI_TYPES[400])[0]
        return {
            "error": {"message": refusal.message, "type": type_, "param": refusal.param, "code": refusal.code},
        }
    return {"error": refusal.message}
