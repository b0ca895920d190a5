"""Whether the daemon is ready: every channel that is switched on has its line to its platform, and none hangs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping


class Health:
    """``channels`` tells, for each channel that is on, whether it is connected, and ``stale`` names those that give no
    sign of life; both are asked at every request."""

    def __init__(
        self, channels: Callable[[], Mapping[str, bool]], stale: Callable[[], Collection[str]] = tuple[str, ...]
    ) -> None:
        self._channels, self._stale = channels, stale

    def ready(self) -> tuple[int, str]:
        """Status (200 or 503) and JSON body; the body has the same shape either way."""
        words = channel_words(dict(sorted(self._channels().items())), self._stale())
        ready = all(word == "connected" for word in words.values())
        status = "ready" if ready else "stale" if "stale" in words.values() else "starting"
        return (200 if ready else 503), json.dumps({"status": status, "channels": words})


def channel_words(connected: Mapping[str, bool], stale: Collection[str]) -> dict[str, str]:
    """How each channel is, in one word: ``connected``, ``disconnected`` or ``stale``."""
    return {name: "stale" if name in stale else "connected" if up else "disconnected" for name, up in connected.items()}
