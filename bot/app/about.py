"""What the daemon says of itself: to the page, to ``/status``, to ``bowerbird status``."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from bot.core.model import ModelRef
from bot.core.ports import Channel, Clock
from bot.core.texts import say
from bot.store.repair import Loss
from bot.web.health import channel_words


def version() -> str:
    """The installed version; ``0`` in a source tree that was never installed."""
    try:
        return metadata.version("bowerbird")
    except metadata.PackageNotFoundError:
        return "0"


@dataclass(slots=True)
class About:
    """Implements ``bot.core.ports.Control``. The callables are asked at every reading; ``trouble`` is a sentence while
    something keeps the daemon from working (a full disk), "" otherwise; ``faults`` says which providers cannot answer;
    ``loss`` what a damaged store cost; ``stale`` names the channels that give no sign of life."""

    name: str
    clock: Clock
    channels: Mapping[str, Channel]
    chain: Callable[[], list[ModelRef]]
    local: Callable[[], Mapping[str, Any]]
    live: Callable[[], tuple[int, int]]
    stale: Callable[[], Collection[str]] = tuple[str, ...]
    urls: list[str] = field(default_factory=list)
    trouble: str = ""
    faults: Callable[[], Collection[str]] = tuple[str, ...]
    loss: str = ""
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
            "channels": self.words(),
            "urls": list(self.urls),
            "model": model,
            "chain": [str(ref) for ref in chain],
            "models": [str(ref) for ref in chain],
            "live_turns": turns,
            "live_lanes": lanes,
            "trouble": " ".join(filter(None, (self.trouble, self.loss, *self.faults(), *map(_hangs, self.stale())))),
        }

    def words(self) -> dict[str, str]:
        """How each channel is, in one word."""
        return channel_words({name: channel.connected for name, channel in self.channels.items()}, self.stale())

    async def status(self) -> Mapping[str, Any]:
        return self()


def _hangs(channel: str) -> str:
    return f"The channel {channel} gives no sign of life and is being started again."


def loss_sentence(loss: Loss | None, language: str) -> str:
    """What a damaged store cost, for its owner; "" for a sound one. It is told until the next start."""
    if loss is None:
        return ""
    told = say("store_damaged", language, saved=loss.saved, aside=loss.aside)
    cut = say("store_damaged_cut", language, tables=", ".join(loss.tables_cut)) if loss.tables_cut else ""
    return f"{told} {cut}".strip()
