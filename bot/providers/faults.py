"""What goes wrong at a vendor, in the words of the house: statuses and error bodies in, `ProviderError` out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Final

from bot.core.errors import (
    ContentRefused,
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
    TransportError,
    TransportTimeout,
)
from bot.core.faults import fault_sentence

# A spent account, a long prompt and a content filter come under many statuses; these words, from the vendors' error
# references, tell.
_SPENT = (
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "spend_limit_reached",
    "insufficient_balance",
    "insufficient balance",
    "insufficient credits",
    "credit balance is too low",
)
_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "exceed context limit",
    "exceed_context_size",
    "exceeds the available context",
    "maximum prompt length",
    "context window",
    "context length of only",
    "exceeds the context length",
    "greater than the context length",
    "context size has been exceeded",
    "exceeded max context length",
    "cannot truncate prompt",
    "input token count",
    "input is too long",
    "prompt too long",
    "prompt exceeds max length",
    "range of input length",
    "exceeded model token limit",
    "request_too_large",
)
_FILTERED = (
    "content_filter",
    "content filter",
    "content filtering",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "content management policy",
    "flagged as potentially violating",
    "input was flagged",
    "safety system",
    "prohibited_content",
    "data_inspection_failed",
    "datainspectionfailed",
    "content exists risk",
    "considered high risk",
)
_FILTERS_SAY: Final = frozenset({400, 403, 422, 451, 500})
"""Statuses under which vendors tell that a filter stopped a request; 500 is that of an error event without a code."""
_IN_STREAM: Final[Mapping[str, int]] = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "service_unavailable": 503,
    "timeout_error": 504,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "invalid_request_error": 400,
}
_BY_STATUS: Final[Mapping[int, type[ProviderError]]] = {
    401: KeyRefused,
    402: NoCredit,
    403: ModelForbidden,
    404: ModelMissing,
    408: ProviderBusy,
    409: ProviderBusy,
    413: ContextTooLong,
    429: ProviderBusy,
    503: ProviderBusy,
    529: ProviderBusy,
}
_BUSY_WORDS = ("overloaded", "busy", "rate limit", "too many requests")
_DETAIL_CHARS = 500
_KEYLIKE = re.compile(
    r"(?i)(?:\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*.\-]{4,})|(?:\baiza[\w\-]{10,})|(?:\bbearer\s+[^\s\"',]+)|(?:[?&](?:key|api_key|token)=[^&\s\"']+)"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A vendor's error, as far as it could be read. ``status`` is None for one that came inside a stream."""

    status: int | None = None
    kind: str = ""
    code: str = ""
    message: str = ""
    request_id: str = ""
    retry_after: float | None = None

    @property
    def words(self) -> str:
        return f"{self.kind} {self.code} {self.message}".lower()


def complaint_of(
    body: Any, status: int | None = None, headers: Mapping[str, str] | None = None, now: float = 0.0
) -> Complaint:
    """Read an error body of any shape: ``{"error": {…}}``, ``{"error": "…"}``, ``{"message": …}``, or plain text."""
    held = body.get("error", body) if isinstance(body, Mapping) else body
    fields: Mapping[str, Any] = held if isinstance(held, Mapping) else {"message": held}
    details = fields.get("details")
    code = fields.get("code") or (details.get("error_code") if isinstance(details, Mapping) else None)
    sent = headers or {}
    return Complaint(
        status=status,
        kind=str(fields.get("type") or ""),
        code=str(code or ""),
        message=str(fields.get("message") or ""),
        request_id=sent.get("request-id") or sent.get("x-request-id") or "",
        retry_after=retry_after(sent, now),
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (a number or an HTTP date); None if not said."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now)
    except (ValueError, TypeError):
        return None


def error_class(complaint: Complaint) -> type[ProviderError]:
    """Which error of the house this is; the vendor's words go before the status."""
    words, status = complaint.words, complaint.status
    if status is None:
        status = _status_in_stream(complaint)
    if any(word in words for word in _SPENT):
        return NoCredit
    if status != 429 and any(word in words for word in _LONG):
        return ContextTooLong
    if status in _FILTERS_SAY and any(word in words for word in _FILTERED):
        return ContentRefused
    if "model_not_found" in words:
        return ModelMissing
    known = _BY_STATUS.get(status)
    return known or (ProviderFailed if status >= 500 else RequestRefused)


def _status_in_stream(complaint: Complaint) -> int:
    if complaint.code.isdecimal() and 400 <= int(complaint.code) < 600:
        return int(complaint.code)
    for name in (complaint.code, complaint.kind):
        if name in _IN_STREAM:
            return _IN_STREAM[name]
    return 503 if any(word in complaint.words for word in _BUSY_WORDS) else 500


def redacted(text: str, secrets: tuple[str, ...]) -> str:
    """``text`` without the given secrets, without anything that looks like a key, and short enough for a log line."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return _KEYLIKE.sub("***", text)[:_DETAIL_CHARS]


@dataclass(frozen=True, slots=True)
class Faults:
    """Makes the errors of one configured provider. ``name`` is what the person called it; ``secrets`` never get out."""

    name: str
    model: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def error(self, kind: type[ProviderError], detail: str = "", retry_after: float | None = None) -> ProviderError:
        sentence = fault_sentence(kind, "en", provider=self.name, model=self.model)
        return kind(sentence, detail=redacted(detail, self.secrets), retry_after=retry_after)

    def complaint(self, complaint: Complaint) -> ProviderError:
        """The error for what the vendor said, over HTTP or inside a stream."""
        said = [f"HTTP {complaint.status}" if complaint.status is not None else "in the stream"]
        said += [part for part in (complaint.kind, complaint.code, complaint.message) if part]
        said += [f"request {complaint.request_id}"] if complaint.request_id else []
        return self.error(error_class(complaint), ": ".join(said), complaint.retry_after)

    def lost(self, error: TransportError) -> ProviderError:
        """The error for an answer under way whose connection fails."""
        return self.error(StreamStalled if isinstance(error, TransportTimeout) else StreamCut, str(error))

    def unreached(self, error: TransportError) -> ProviderError:
        """The error for a request that got no answer."""
        return self.lost(error) if error.sent else self.error(ProviderUnreachable, str(error))

    def garbled(self, detail: str) -> ProviderError:
        return self.error(StreamGarbled, detail)

    def cut(self, detail: str) -> ProviderError:
        return self.error(StreamCut, detail)
