"""What the daemon says of itself: to the page, to ``/status``, to ``bowerbird status``."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from bot.app.trouble import LANGUAGES, hangs_sentence, local_sentence, loss_sentence, store_sentence
from bot.core.errors import StoreError
from bot.core.faults import LOCAL
from bot.core.model import ModelRef
from bot.core.ports import Channel, Clock
from bot.store.repair import Loss
from bot.web.health import channel_words


@cache
def version() -> str:
    """The installed version; ``0`` in a source tree that was never installed."""
    try:
        return metadata.version("bowerbird")
    except metadata.PackageNotFoundError:
        return "0"


@dataclass(slots=True)
class About:
    """Implements ``bot.core.ports.Control``. The callables are asked at every reading; ``trouble`` is what keeps the store
    in ``data_dir`` from being written, None when nothing does; ``faults`` says in a language which providers cannot
    answer, ``resting`` which are left alone until when; ``loss`` is what a damaged store cost; ``stale`` names the channels
    that give no sign of life. ``language`` is the configuration's: with ``auto``, who reads of trouble has it in their
    own."""

    name: str
    clock: Clock
    channels: Mapping[str, Channel]
    chain: Callable[[], list[ModelRef]]
    local: Callable[[], Mapping[str, Any]]
    live: Callable[[], tuple[int, int]]
    data_dir: Path
    language: str = "auto"
    stale: Callable[[], Collection[str]] = tuple[str, ...]
    urls: list[str] = field(default_factory=list)
    trouble: StoreError | None = None
    faults: Callable[[str], Collection[str]] = lambda language: ()
    resting: Callable[[], Collection[Mapping[str, str]]] = tuple
    loss: Loss | None = None
    began: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.clock.monotonic()

    def __call__(self) -> dict[str, Any]:
        """``trouble`` is for nobody in particular, ``troubles`` has it by language."""
        chain = self.chain()
        turns, lanes = self.live()
        troubles = self._troubles(chain)
        return {
            "name": self.name,
            "version": version(),
            "pid": os.getpid(),
            "uptime_seconds": round(self.clock.monotonic() - self.began, 1),
            "channels": self.words(),
            "urls": list(self.urls),
            "model": self._model(chain),
            "chain": [str(ref) for ref in chain],
            "models": [str(ref) for ref in chain],
            "windows": {str(ref): ref.window_tokens or 0 for ref in chain},
            "resting": list(self.resting()),
            "live_turns": turns,
            "live_lanes": lanes,
            "trouble": troubles["en"],
            "troubles": troubles,
        }

    def words(self) -> dict[str, str]:
        """How each channel is, in one word."""
        return channel_words({name: channel.connected for name, channel in self.channels.items()}, self.stale())

    async def status(self) -> Mapping[str, Any]:
        return {key: value for key, value in self().items() if key != "troubles"}

    def _model(self, chain: list[ModelRef]) -> dict[str, Any]:
        if _has_local(chain[:1]):
            return {**self.local(), "demo": True}
        return {"name": str(chain[0]) if chain else "", "state": "ready" if chain else "absent", "demo": False}

    def _troubles(self, chain: list[ModelRef]) -> dict[str, str]:
        """Where the embedded model is the first, its state is told as the model's own."""
        local = self.local() if _has_local(chain[1:]) else {}
        broken = str(local["reason"]) if local.get("state") == "failed" else ""
        stale = self.stale()

        def told(language: str) -> str:
            sentences = (
                store_sentence(self.trouble, language, self.data_dir),
                loss_sentence(self.loss, language),
                *self.faults(language),
                *(hangs_sentence(channel, language) for channel in stale),
                *(channel.trouble(language) for channel in self.channels.values() if hasattr(channel, "trouble")),
                local_sentence(broken, language) if broken else "",
            )
            return " ".join(filter(None, sentences))

        return {reader: told(reader if self.language == "auto" else self.language) for reader in LANGUAGES}


def _has_local(chain: list[ModelRef]) -> bool:
    return any(model.provider == LOCAL for model in chain)
