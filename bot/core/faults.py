"""What keeps a model from answering, in one sentence for whoever can act: the same one in a chat, on the page and in the log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.core.errors import (
    ContentRefused,
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    ModelResting,
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
    ModelForbidden: "forbidden",
    NoCredit: "no_credit",
    ModelMissing: "model_missing",
    RequestRefused: "request_refused",
    ContextTooLong: "context_too_long",
    ContentRefused: "content_refused",
    ProviderBusy: "busy",
    ProviderFailed: "failed",
    ProviderUnreachable: "unreachable",
    StreamStalled: "stalled",
    StreamCut: "cut",
    StreamGarbled: "garbled",
    ModelResting: "resting",
}
"""The key in the table of sentences, less its ``fault_``."""
LIMITED_SECONDS: Final = 60.0
"""A vendor that wants to be left alone for longer has set a limit; until then it is only busy."""
DAY_SECONDS: Final = 86_400.0
LOCAL: Final = "local"
"""The name of the model on this machine: no key, address or account of its own could be mended."""


_OF_THE_REQUEST: Final = ("context_too_long", "request_refused", "content_refused")
_TO_MEND: Final = (KeyRefused, NoCredit, ModelMissing, StreamGarbled)
"""Faults that no waiting mends."""


def fault_sentence(
    kind: type[ProviderError], language: str, *, provider: str, model: str = "", until: str = "", again: str = ""
) -> str:
    """``until`` is a time of day, for a vendor that has said when it takes requests again; ``again`` are words for when the
    next model of the chain can be asked (``again_words``), "" where that is not known."""
    key = next(FAULTS[base] for base in (*kind.__mro__, ProviderFailed) if base in FAULTS)
    if key == "busy" and until:
        key = "limited"
    if provider == LOCAL and key not in _OF_THE_REQUEST:
        key = "local_busy" if key == "busy" else "local"
    when = again or say("again_then" if key == "limited" else "again_soon", language)
    return say(f"fault_{key}", language, provider=provider, model=model, until=until, again=when)


def parked_sentence(language: str, until: float, now: float, zone: str) -> str:
    """What stands behind the fault of a key that is not tried again before ``until`` (Unix time)."""
    return say("fault_and_parked", language, time=clock_words(until, now, zone))


def others_sentence(kind: type[ProviderError], language: str, again: str) -> str:
    """What stands behind a fault that no waiting mends, where another model can be asked ``again``; "" elsewhere."""
    return say("fault_and_others", language, again=again) if again and issubclass(kind, _TO_MEND) else ""


def in_a_row(*sentences: str) -> str:
    """Those that are not empty; after a Chinese one comes no blank."""
    return " ".join(filter(None, sentences)).replace("。 ", "。")


def until_words(retry_after: float | None, now: float, zone: str) -> str:
    """When ``retry_after`` seconds from ``now`` (Unix time) are over, by the clock of ``zone``; "" for a short wait."""
    if retry_after is None or retry_after <= LIMITED_SECONDS:
        return ""
    return clock_words(now + retry_after, now, zone)


def again_words(at: float | None, now: float, zone: str, language: str) -> str:
    """When it can be tried again, in words that a sentence can end with; "" where ``at`` (Unix time) is not known."""
    if at is None:
        return ""
    if at - now <= LIMITED_SECONDS:
        return say("again_minute", language)
    return say("again_at", language, time=clock_words(at, now, zone))


def clock_words(at: float, now: float, zone: str) -> str:
    """The first full minute from ``at`` on, with its date where that is not obvious."""
    moment = datetime.fromtimestamp(math.ceil(at / 60) * 60, UTC).astimezone(ZoneInfo(zone))
    return f"{moment:%H:%M %Z}" if at - now < DAY_SECONDS / 2 else f"{moment:%Y-%m-%d %H:%M %Z}"
