"""Models that failed just now are left alone for a while, around any provider; keys that are refused, for hours."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from bot.core.errors import (
    ModelResting,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    StreamCut,
    StreamStalled,
)
from bot.core.faults import fault_sentence
from bot.core.model import ModelEvent, ModelRequest, ModelStop
from bot.core.ports import Clock, Provider
from bot.providers.discovery import Entry
from bot.providers.parking import LASTING, Parked, Parking, credential_of

log = logging.getLogger(__name__)

COOLDOWN_SECONDS: Final = (30.0, 60.0, 300.0)
"""After the first, the second and every further failure in a row."""
_COOLING: Final = (ProviderBusy, ProviderFailed, ProviderUnreachable, StreamCut, StreamStalled)


@dataclass(slots=True)
class Cooled:
    """How a model rests. Monotonic seconds: until when the model is left alone, and until when the vendor asked for that."""

    failures: int
    failed_at: float
    until: float
    asked_until: float
    error: ProviderError
    provider: str


class Cooling:
    """Which models cool, by credential and name; siblings at the same vendor are asked all the while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cooled: dict[tuple[str, str], Cooled] = {}

    def of(self, key: tuple[str, str]) -> Cooled | None:
        found = self._cooled.get(key)
        return found if found is not None and found.until > self._clock.monotonic() else None

    def failed(self, key: tuple[str, str], provider: str, error: ProviderError, began: float) -> Cooled:
        """A failure met by a request that ``began`` then (monotonic). Requests that were under way side by side count
        once; a wait that the vendor asks for is kept in full, however long."""
        now = self._clock.monotonic()
        before = self._cooled.get(key)
        asked_until = now + (error.retry_after or 0.0)
        if before is not None and began < before.failed_at:
            before.asked_until = max(before.asked_until, asked_until)
            before.until = max(before.until, asked_until)
            return before
        failures = before.failures + 1 if before is not None else 1
        rest = COOLDOWN_SECONDS[min(failures, len(COOLDOWN_SECONDS)) - 1]
        self._cooled[key] = Cooled(failures, now, max(now + rest, asked_until), asked_until, error, provider)
        return self._cooled[key]

    def answered(self, key: tuple[str, str], began: float) -> None:
        """An answer that was under way when the model failed shows nothing of what came since."""
        cooled = self._cooled.get(key)
        if cooled is not None and began >= cooled.failed_at:
            del self._cooled[key]

    def clear(self) -> None:
        self._cooled.clear()

    def providers(self) -> Collection[str]:
        """Whose models cool now."""
        now = self._clock.monotonic()
        return {cooled.provider for cooled in self._cooled.values() if cooled.until > now}

    def unix(self, monotonic: float) -> float:
        return self._clock.now() + monotonic - self._clock.monotonic()


class Cooldown:
    """Implements ``Provider``; raises ``ModelResting`` without asking while the model cools or its key is parked.

    A request that insists is sent although the model cools by our own caution, never against a wait that the vendor asked
    for, or a parked key. Errors that pass say until when the model rests now.
    """

    def __init__(self, inner: Provider, entry: Entry, clock: Clock, cooling: Cooling, parking: Parking) -> None:
        self._inner, self._entry, self._clock = inner, entry, clock
        self._cooling, self._parking = cooling, parking

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        credential = credential_of(self._entry, request.model.endpoint)
        self._check(credential, request)
        began = self._clock.monotonic()
        async with AsyncExitStack() as stack:
            try:
                events = await stack.enter_async_context(self._inner.stream(request))
            except ProviderError as error:
                await self._failed(credential, request, error, began)
                raise
            yield await stack.enter_async_context(aclosing(self._watched(events, credential, request, began)))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _check(self, credential: str, request: ModelRequest) -> None:
        model = request.model.model
        if parked := self._parking.of(credential, model):
            raise resting(parked, model)
        cooled = self._cooling.of((credential, model))
        if cooled is None:
            return
        yields = cooled.asked_until <= self._clock.monotonic()
        if yields and (request.insist or request.tried):
            return
        told = fault_sentence(ModelResting, "en", provider=self._entry.name, model=model)
        raise ModelResting(told, cooled.error, self._cooling.unix(cooled.until), yields=yields)

    async def _watched(
        self, events: AsyncIterator[ModelEvent], credential: str, request: ModelRequest, began: float
    ) -> AsyncGenerator[ModelEvent, None]:
        try:
            async for event in events:
                if isinstance(event, ModelStop):
                    self._cooling.answered((credential, request.model.model), began)
                    await self._parking.answered(credential, request.model.model, began)
                yield event
        except ProviderError as error:
            await self._failed(credential, request, error, began)
            raise

    async def _failed(self, credential: str, request: ModelRequest, error: ProviderError, began: float) -> None:
        model = request.model
        if isinstance(error, LASTING):
            kept = not model.endpoint
            parked = await self._parking.refused(self._entry, credential, model.model, error, began, kept=kept)
            error.until = parked.until
        elif isinstance(error, _COOLING):
            cooled = self._cooling.failed((credential, model.model), self._entry.name, error, began)
            error.until = self._cooling.unix(cooled.until)
            rest = cooled.until - self._clock.monotonic()
            log.info("%s: %s is left alone for %.0f s (%s)", self._entry.name, model.model, rest, type(error).__name__)


def resting(parked: Parked, model: str) -> ModelResting:
    """The error for a model whose key is parked."""
    told = fault_sentence(parked.error, "en", provider=parked.provider, model=model)
    cause = parked.error(told)
    cause.until = parked.until
    return ModelResting(told, cause, parked.until, parked=True)
