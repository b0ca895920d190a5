"""Whether the daemon is ready: every channel that is switched on has its line to its platform."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping


class Health:
    """``channels`` tells, for each channel that is on, whether it is connected; it is asked at every request."""

    def __init__(self, channels: Callable[[], Mapping[str, bool]]) -> None:
        self._channels = channels

    def ready(self) -> tuple[int, str]:
        """Status (200 or 503) and JSON body; the body has the same shape either way."""
        channels = dict(self._channels())
        ready = all(channels.values())
        body = {
            "status": "ready" if ready else "starting",
            "channels": {name: "connected" if up else "disconnected" for name, up in sorted(channels.items())},
        }
        return (200 if ready else 503), json.dumps(body)
