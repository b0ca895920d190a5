"""Parts of a request that a model turned out to refuse: left out from then on, instead of failing every turn."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Final

from bot.core.errors import RequestRefused

log = logging.getLogger(__name__)

_REFUSING: Final = (
    "not support",
    "unsupported",
    "not permitted",
    "not allowed",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "invalid format",
)
_SAID_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "output_config": ("output_config", "output format", "structured output"),
    "response_format": ("response_format", "json_schema", "guided_json", "structured output"),
}
"""Parts that refusals also call by other words."""


class Concessions:
    """Remembers by model, for the life of the process, what may not be sent."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._made: dict[str, set[str]] = {}

    def of(self, model: str) -> frozenset[str]:
        return frozenset(self._made.get(model, ()))

    def learn(self, model: str, refusal: RequestRefused, parts: Collection[str]) -> bool:
        """True when the refusal names one of the ``parts`` that the request had; that one is now left out."""
        words = refusal.detail.lower()
        if not any(word in words for word in _REFUSING):
            return False
        for part in parts:
            if any(name in words for name in _SAID_AS.get(part, (part,))) and part not in self.of(model):
                self._made.setdefault(model, set()).add(part)
                log.warning("%s refuses %s for %s; going on without it", self._provider, part, model)
                return True
        return False
