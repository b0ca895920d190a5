"""What keeps a model from answering, in one sentence for whoever can act: the same one in a chat, on the page and in the log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
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
)
from bot.core.texts import say

FAULTS: Final[Mapping[type[ProviderError], str]] = {
    KeyRefused: "key_refused",
    NoCredit: "no_credit",
    ModelMissing: "model_missing",
    RequestRefused: "request_refused",
    ContextTooLong: "context_too_long",
    ProviderBusy: "busy",
    ProviderFailed: "failed",
    ProviderUnreachable: "unreachable",
    StreamStalled: "stalled",
    StreamCut: "cut",
    StreamGarbled: "garbled",
}
"""The key in the table of sentences, less its ``fault_``."""
LIMITED_SECONDS: Final = 60.0
"""A vendor that wants to be left alone for longer has set a limit; until then it is only busy."""
DAY_SECONDS: Final = 86_400.0
LOCAL: Final = "local"
"""The name of the model on this machine: no key, address or account of its own could be mended."""


def fault_sentence(kind: type[ProviderError], language: str, *, provider: str, model: str = "", until: str = "") -> str:
    """``until`` is a time of day, for a vendor that has said when it takes requests again."""
    key = next(FAULTS[base] for base in (*kind.__mro__, ProviderFailed) if base in FAULTS)
    if key == "busy" and until:
        key = "limited"
    if provider == LOCAL and key not in ("context_too_long", "request_refused"):
        key = "local_busy" if key == "busy" else "local"
    return say(f"fault_{key}", language, provider=provider, model=model, until=until)


def until_words(retry_after: float | None, now: float, zone: str) -> str:
    """When ``retry_after`` seconds from ``now`` (Unix time) are over, by the clock of ``zone``; "" for a short wait."""
    if retry_after is None or retry_after <= LIMITED_SECONDS:
        return ""
    moment = datetime.fromtimestamp(now + retry_after, UTC).astimezone(ZoneInfo(zone))
    return f"{moment:%H:%M %Z}" if retry_after < DAY_SECONDS / 2 else f"{moment:%Y-%m-%d %H:%M %Z}"
