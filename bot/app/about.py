"""What the daemon says of itself: to the page, to ``/status``, to ``bowerbird status``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from bot.core.model import ModelRef
from bot.core.ports import Channel, Clock


def version() -> str:
    """The installed version; ``0`` in a source tree that was never installed."""
    try:
        return metadata.version("bowerbird")
    except metadata.PackageNotFoundError:
        return "0"


@dataclass(slots=True)
class About:
    """Implements ``bot.core.ports.Control``. The callables are asked at every reading; ``trouble`` is a sentence while
    something keeps the daemon from working (a full disk), "" otherwise; ``faults`` are sentences by provider."""

    name: str
    clock: Clock
    channels: Mapping[str, Channel]
    chain: Callable[[], list[ModelRef]]
    local: Callable[[], Mapping[str, Any]]
    live: Callable[[], tuple[int, int]]
    urls: list[str] = field(default_factory=list)
    trouble: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    began: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.clock.monotonic()

    def __call__(self) -> dict[str, Any]:
        chain = self.chain()
        first_is_local = bool(chain) and chain[0].provider == "local"
        turns, lanes = self.live()
        model: dict[str, Any] = {
            "name": str(chain[0]) if chain else "",
            "state": "ready" if chain else "absent",
            "demo": False,
        }
        if first_is_local:
            model = {**self.local(), "demo": True}
        return {
            "name": self.name,
            "version": version(),
            "pid": os.getpid(),
            "uptime_seconds": round(self.clock.monotonic() - self.began, 1),
            "channels": {
                name: "connected" if channel.connected else "disconnected" for name, channel in self.channels.items()
            },
            "urls": list(self.urls),
            "model": model,
            "chain": [str(ref) for ref in chain],
            "models": [str(ref) for ref in chain],
            "live_turns": turns,
            "live_lanes": lanes,
            "trouble": " ".join(filter(None, (self.trouble, *self.faults.values()))),
        }

    async def status(self) -> Mapping[str, Any]:
        return self()
