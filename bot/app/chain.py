"""Which models answer, in which order: the configured ones that can be used, Ollama if it runs, the local one last."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from bot.config.loaded import Config
from bot.core.errors import ProviderError, ProviderUnreachable, TransportError
from bot.core.http import Timeouts
from bot.core.model import ModelRef
from bot.core.ports import Clock
from bot.net.http import Transport
from bot.providers.ollama.served import served

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS: Final = 30.0
LOOK_TIMEOUTS: Final = Timeouts(connect=1.0, silence=2.0, total=3.0)


class Chain:
    """``local`` is the embedded model, None when its engine is not installed. ``met`` hears what keeps the model wanted
    most from being asked at all. ``window`` is how many tokens a model reads, as far as its provider has told."""

    def __init__(
        self,
        config: Config,
        transport: Transport,
        clock: Clock,
        local: ModelRef | None,
        met: Callable[[ModelRef, ProviderError], None] = lambda model, error: None,
        window: Callable[[ModelRef], int | None] = lambda model: None,
    ) -> None:
        self._config, self._transport, self._clock, self._local = config, transport, clock, local
        self._met, self._window = met, window
        llm = config.brain.llm
        self._wanted = [config.ref(entry) for entry in (llm.default, *llm.fallback)]
        routing = llm.routing
        routed = (*routing.rules, routing.alternative, routing.classify_model)
        self._routed = [config.ref(entry) for entry in routed if entry is not None]
        self._served: dict[str, tuple[str, ...]] = {}
        self._told: dict[str, str] = {}

    def models(self) -> Sequence[ModelRef]:
        """The chain of a turn that starts now, the model wanted most first; empty when there is none at all."""
        chain = [served for model in self._wanted if (served := self.served(model)) is not None]
        if self._local is not None and self._local not in chain:
            chain.append(self._local)
        return chain

    @property
    def needs_local(self) -> bool:
        """Whether nothing but the embedded model can answer."""
        return self._local is not None and list(self.models())[:1] == [self._local]

    async def left_alone(self) -> None:
        """Until nothing but the embedded model can answer."""
        while not self.needs_local:
            await self._clock.sleep(LOOK_AGAIN_SECONDS)

    async def watch(self) -> None:
        """Until cancelled: look whether the Ollama servers of the chain run, and what they serve."""
        while any(self._is_ollama(model) for model in (*self._wanted, *self._routed)):
            await self.look()
            await self._clock.sleep(LOOK_AGAIN_SECONDS)

    async def look(self) -> None:
        for name in {model.provider for model in (*self._wanted, *self._routed) if self._is_ollama(model)}:
            await self._look_at(name)

    async def _look_at(self, name: str) -> None:
        config, first = self._config.providers[name].config, self._wanted[0]
        fault: ProviderError | None = None
        try:
            address, key = str(getattr(config, "base_url", "")), getattr(config, "api_key", None)
            names = await served(self._transport, address, key, LOOK_TIMEOUTS)
        except TransportError as error:
            names, fault = (), ProviderUnreachable(str(error))
        except ProviderError as error:
            names, fault = (), error
        self._served[name] = tuple(one for one in names if "embed" not in one)
        told = (
            "" if isinstance(fault, ProviderUnreachable) else str(fault or ", ".join(self._served[name]) or "nothing")
        )
        if told != self._told.get(name, ""):
            log.log(
                logging.WARNING if fault else logging.INFO, "Ollama (%s): %s", name, told or "does not run any more"
            )
        self._told[name] = told
        if fault and first.provider == name and not first.endpoint:
            self._met(first, fault)

    def served(self, model: ModelRef) -> ModelRef | None:
        """The model as it can be asked, with its window; None when it cannot. An Ollama that lacks the model of a
        fallback offers what it has; the default model is never replaced."""
        found = self._found(model)
        return self.sized(found) if found is not None else None

    def sized(self, model: ModelRef) -> ModelRef:
        """The model with its window, as far as that is known."""
        return model if model.window_tokens else self._config.sized(model, self._window(model))

    def _found(self, model: ModelRef) -> ModelRef | None:
        if not self._config.usable(model):
            return None
        if self._local is not None and model.provider == self._local.provider:
            return self._local
        if not self._is_ollama(model) or model.endpoint:
            return model
        names = self._served.get(model.provider, ())
        if not names:
            return None
        known = model.model in names or f"{model.model}:latest" in names
        return model if known or model == self._wanted[0] or model in self._routed else replace(model, model=names[0])

    def _is_ollama(self, model: ModelRef) -> bool:
        entry = self._config.providers.get(model.provider)
        return entry is not None and entry.kind == "ollama"
