"""The embedded model as the daemon sees it: whether it is there, how far its preparation is, how it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

from bot.config.loaded import Config
from bot.core.model import FREE, ModelRef
from bot.providers.models import Models

NAME: Final = "local"
ANSWER_TOKENS: Final = 1024


class _State(Protocol):
    phase: str
    model: str
    done_bytes: int
    total_bytes: int
    reason: str


class _Local(Protocol):
    @property
    def state(self) -> _State: ...

    @property
    def profile(self) -> str: ...

    async def run(self) -> None: ...

    async def stand_by(self) -> None: ...


class LocalModel:
    """``ref`` is None where the engine is not installed or the provider was taken out of the configuration."""

    def __init__(self, config: Config, models: Models) -> None:
        entry = config.providers.get(NAME)
        self._provider: _Local | None = None
        self.ref: ModelRef | None = None
        if entry is None or not entry.on or not entry.module:
            return
        self._provider = cast(_Local, models.bare(NAME))
        context = int(getattr(entry.config, "context", 4096))
        self.ref = ModelRef(
            NAME,
            str(getattr(entry.config, "model", "auto")),
            max_tokens=ANSWER_TOKENS,
            window_tokens=context,
            price=FREE,
        )

    @property
    def profile(self) -> str:
        """The short system prompt; "" where there is no local model."""
        return self._provider.profile if self._provider else ""

    def state(self) -> Mapping[str, Any]:
        """``state`` is absent, downloading, loading, ready or failed; ``done`` and ``total`` are bytes."""
        if self._provider is None:
            return {"state": "absent", "name": "", "done": 0, "total": 0, "reason": ""}
        state = self._provider.state
        return {
            "state": str(state.phase),
            "name": state.model,
            "done": state.done_bytes,
            "total": state.total_bytes,
            "reason": state.reason,
        }

    async def run(self) -> None:
        """Until cancelled: fetch, load and warm the model, and keep its engine running."""
        if self._provider is not None:
            await self._provider.run()

    async def stand_by(self) -> None:
        """Until cancelled, while others answer: know what would keep the model from being loaded."""
        if self._provider is not None:
            await self._provider.stand_by()
        await asyncio.get_running_loop().create_future()
