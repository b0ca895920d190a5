"""Which models answer, in which order: the configured ones that can be used, Ollama if it runs, the local one last."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.config.loaded import Config
from bot.core.errors import TransportError
from bot.core.http import Timeouts
from bot.core.model import ModelRef
from bot.core.ports import Clock
from bot.net.http import Transport

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS: Final = 30.0
LOOK_TIMEOUTS: Final = Timeouts(connect=1.0, silence=2.0, total=3.0)


class Chain:
    """``local`` is the embedded model, None when its engine is not installed."""

    def __init__(self, config: Config, transport: Transport, clock: Clock, local: ModelRef | None) -> None:
        self._config, self._transport, self._clock, self._local = config, transport, clock, local
        llm = config.brain.llm
        self._wanted = [llm.default.ref(), *(entry.ref() for entry in llm.fallback)]
        self._served: dict[str, tuple[str, ...]] = {}

    def models(self) -> Sequence[ModelRef]:
        """The chain of a turn that starts now, the model wanted most first; empty when there is none at all."""
        chain = [served for model in self._wanted if (served := self._as_served(model)) is not None]
        if self._local is not None and self._local not in chain:
            chain.append(self._local)
        return chain

    @property
    def needs_local(self) -> bool:
        """Whether nothing but the embedded model can answer."""
        return self._local is not None and list(self.models())[:1] == [self._local]

    async def watch(self) -> None:
        """Until cancelled: look whether the Ollama servers of the chain run, and what they serve."""
        while any(self._is_ollama(model) for model in self._wanted):
            await self.look()
            await self._clock.sleep(LOOK_AGAIN_SECONDS)

    async def look(self) -> None:
        for name in {model.provider for model in self._wanted if self._is_ollama(model)}:
            served = await self._tags(str(getattr(self._config.providers[name].config, "base_url", "")))
            if served != self._served.get(name, ()):
                log.info("Ollama (%s) serves %s", name, ", ".join(served) or "nothing, or does not run")
            self._served[name] = served

    async def _tags(self, base_url: str) -> tuple[str, ...]:
        try:
            answer = await self._transport.fetch("GET", f"{base_url.rstrip('/')}/api/tags", timeouts=LOOK_TIMEOUTS)
            return tuple(
                name for model in json.loads(answer.body)["models"] if "embed" not in (name := str(model["name"]))
            )
        except (TransportError, ValueError, KeyError, TypeError):
            return ()

    def _as_served(self, model: ModelRef) -> ModelRef | None:
        """The model as it can be asked; None when it cannot. An Ollama that lacks the model of a
        fallback offers what it has; the default model is never replaced."""
        if not self._config.usable(model):
            return None
        if self._local is not None and model.provider == self._local.provider:
            return self._local
        if not self._is_ollama(model) or model.endpoint:
            return model
        served = self._served.get(model.provider, ())
        if not served:
            return None
        known = model.model in served or f"{model.model}:latest" in served
        return model if known or model == self._wanted[0] else replace(model, model=served[0])

    def _is_ollama(self, model: ModelRef) -> bool:
        entry = self._config.providers.get(model.provider)
        return entry is not None and entry.kind == "ollama"
