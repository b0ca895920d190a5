"""How much each model reads, as its provider tells it: asked beside the work, remembered for a day and over restarts."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from bot.core.errors import ProviderError, StoreError, TransportError
from bot.core.model import ModelRef
from bot.core.ports import Clock, Notes

log = logging.getLogger(__name__)

NOTE: Final = "windows"
DAY: Final = 24 * 3600.0
KEPT_SECONDS: Final = 30 * DAY
"""What nobody has asked for in so long is forgotten."""
AGAIN_SECONDS: Final = 15 * 60.0
"""After a question that failed; twice as long after each further one, a day at most."""
ASK_SECONDS: Final = 20.0
LEAST_TOKENS: Final = 512
"""Less is no window but a mistake."""
_IN_COMPLAINTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum (?:context|prompt) length (?:is|of) (?:only )?(\d[\d,]*)",
        r"\d tokens > (\d[\d,]*) maximum",
        r"exceed context limit: [\d,]+ \+ [\d,]+ > (\d[\d,]*)",
        r"available context size \((\d[\d,]*)",
        r"context length of only (\d[\d,]*)",
        r">= n_ctx \((\d[\d,]*)\)",
        r"model with (\d[\d,]*) maximum context length",
        r"maximum number of tokens allowed \((\d[\d,]*)\)",
        r"model token limit: (\d[\d,]*)",
    )
)
"""How vendors name the window in the refusal of a prompt that is too long (Anthropic, OpenAI and vLLM, llama.cpp, LM
Studio, Mistral, Gemini, Moonshot)."""


@runtime_checkable
class Telling(Protocol):
    """A provider that may know how much its models read."""

    async def window(self, model: ModelRef) -> int | None:
        """Tokens; None where it does not say. Raises ``ProviderError``, ``TransportError``."""
        ...


@dataclass(frozen=True, slots=True)
class _Told:
    """``tokens`` is 0 where the provider does not say; ``at`` is the Unix time of its answer."""

    tokens: int
    at: float


@dataclass(slots=True)
class _Failed:
    until: float
    wait: float


class Windows:
    """``key`` names a model together with all that its window hangs on; ``ask`` puts the question to its provider."""

    def __init__(
        self,
        clock: Clock,
        notes: Notes | None,
        key: Callable[[ModelRef], str],
        ask: Callable[[ModelRef], Awaitable[int | None]],
    ) -> None:
        self._clock, self._notes, self._key, self._ask = clock, notes, key, ask
        self._told: dict[str, _Told] = {}
        self._looked_up: set[str] = set()
        self._failed: dict[str, _Failed] = {}
        self._waiting: dict[str, ModelRef] = {}
        self._wake = asyncio.Event()

    async def load(self) -> None:
        """Know what was told to the last process."""
        text = await self._notes.read(NOTE) if self._notes is not None else None
        since = self._clock.now() - KEPT_SECONDS
        self._told = {key: one for key, one in _read(text or "").items() if one.at >= since}

    def of(self, model: ModelRef) -> int | None:
        """Tokens, as far as its provider has told; what is older than a day holds until there is something newer."""
        key = self._key(model)
        self._looked_up.add(key)
        told = self._told.get(key)
        return told.tokens or None if told is not None else None

    def want(self, model: ModelRef) -> None:
        """The model is in use: have its provider asked, if anybody wants to know and it is time. Never waits."""
        key, now = self._key(model), self._clock.now()
        if key not in self._looked_up:
            return
        told, failed = self._told.get(key), self._failed.get(key)
        if (told is not None and now - told.at < DAY) or (failed is not None and now < failed.until):
            return
        self._waiting.setdefault(key, model)
        self._wake.set()

    async def heard(self, model: ModelRef, complaint: str) -> None:
        """A prompt was refused for its length; many vendors name the window with it."""
        if tokens := named_in(complaint):
            await self._keep(model, tokens)

    async def run(self) -> None:
        """Until cancelled: ask what is wanted, one after the other."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                key, model = next(iter(self._waiting.items()))
                try:
                    await self._learn(key, model)
                finally:
                    self._waiting.pop(key, None)

    async def _learn(self, key: str, model: ModelRef) -> None:
        try:
            async with asyncio.timeout(ASK_SECONDS):
                tokens = await self._ask(model)
        except (ProviderError, TransportError, TimeoutError) as error:
            before = self._failed.get(key)
            wait = min(DAY, before.wait * 2) if before is not None else AGAIN_SECONDS
            self._failed[key] = _Failed(self._clock.now() + wait, wait)
            log.debug("%s does not tell how much it reads: %s", model, type(error).__name__)
            return
        self._failed.pop(key, None)
        await self._keep(model, tokens or 0)

    async def _keep(self, model: ModelRef, tokens: int) -> None:
        tokens = tokens if tokens >= LEAST_TOKENS else 0
        if tokens and tokens != self.of(model):
            log.info("%s reads %d tokens, its provider says", model, tokens)
        self._told[self._key(model)] = _Told(tokens, self._clock.now())
        if self._notes is None:
            return
        try:
            await self._notes.write(NOTE, json.dumps({key: [one.tokens, one.at] for key, one in self._told.items()}))
        except StoreError as error:
            log.warning("how much %s reads could not be noted: %s", model, error)


def named_in(complaint: str) -> int | None:
    """The window that the refusal of a long prompt names; None where it names none."""
    for pattern in _IN_COMPLAINTS:
        if found := pattern.search(complaint):
            return int(found[1].replace(",", ""))
    return None


def count_in(value: Any) -> int | None:
    """A number of tokens as servers write it; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _read(text: str) -> dict[str, _Told]:
    """What was noted; nothing where it cannot be read."""
    try:
        noted = json.loads(text or "{}")
        return {str(key): _Told(int(tokens), float(at)) for key, (tokens, at) in noted.items()}
    except (ValueError, TypeError, AttributeError):
        log.warning("what was noted of the models' windows cannot be read; they are asked again")
        return {}
