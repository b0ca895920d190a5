"""The configured providers by name: built when first asked for, each behind its watchdog, its retries and its cooldown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final, Protocol, runtime_checkable

from bot.core.errors import ContextTooLong, KeyRefused, ModelMissing, ModelResting, ProviderError
from bot.core.http import Http
from bot.core.model import Audio, ModelEvent, ModelRef, ModelRequest, Transcript
from bot.core.ports import Clock, Notes, Provider, Transcribing
from bot.providers.cooldown import Cooldown, Cooling, resting
from bot.providers.discovery import Entry, built
from bot.providers.downgrade import Downgrade
from bot.providers.parking import LASTING, Parked, Parking, credential_of
from bot.providers.retry import Retry
from bot.providers.settings import ProviderConfig
from bot.providers.watchdog import Patience, Watchdog
from bot.providers.windows import Telling, Windows

CLOSE_SECONDS: Final = 3.0
AGAIN_SECONDS: Final = 1.0
MOST_AGAIN_SECONDS: Final = 10.0


@runtime_checkable
class Warming(Protocol):
    """A provider whose first request would have to wait for something that can be made ready beforehand."""

    def warm(self, endpoint: str = "") -> None:
        """Make it ready for requests to ``endpoint``; called in a thread, perhaps more than once."""
        ...


class Models:
    """Implements ``Provider`` for all of them: ``request.model.provider`` says which one is meant."""

    def __init__(
        self,
        entries: Iterable[Entry],
        clock: Clock,
        random: Random,
        data_dir: Path,
        http: Http,
        notes: Notes | None = None,
    ) -> None:
        """``http`` carries the requests of all of them; it is not theirs to close. ``notes`` keep over a restart which keys
        are parked and how much the models read."""
        self._entries = {entry.name: entry for entry in entries}
        self._clock, self._random, self._data_dir, self._http = clock, random, data_dir, http
        self._bare: dict[str, Provider] = {}
        self._built: dict[str, Provider] = {}
        self._warmed: set[tuple[str, str]] = set()
        self._cooling, self._parking = Cooling(clock), Parking(clock, notes)
        self._windows = Windows(clock, notes, self._window_key, self._ask_window)

    async def load(self) -> None:
        """Know which keys were parked when the last process ended, and what was told of windows."""
        await self._parking.load({credential_of(entry) for entry in self._entries.values()})
        await self._windows.load()

    def window(self, model: ModelRef) -> int | None:
        """How many tokens the model reads, as far as its provider has told by now."""
        return self._windows.of(model)

    async def learn_windows(self) -> None:
        """Until cancelled: ask how much the models read that are in use."""
        await self._windows.run()

    async def reset(self) -> Sequence[str]:
        """Ask every model again that is being left alone; returns the names of the providers of which that was true."""
        rested = {*(one.provider for one in self._parking.all()), *self._cooling.providers()}
        self._cooling.clear()
        await self._parking.clear()
        return sorted(rested)

    def parked(self) -> Sequence[Parked]:
        """What is left alone for hours, because only a person can mend it."""
        return self._parking.all()

    async def proven(self, name: str) -> None:
        """The provider's own key was accepted when a free question was put to it."""
        if entry := self._entries.get(name):
            await self._parking.proven(credential_of(entry))

    def usable(self, model: ModelRef) -> bool:
        """Whether the provider of this model is configured and can be used at the model's address."""
        entry = self._entries.get(model.provider)
        return entry is not None and not _missing(entry, model.endpoint)

    def provider(self, name: str, endpoint: str = "") -> Provider:
        """The provider called ``name``. Raises ``ModelMissing`` where none is configured, ``KeyRefused`` where it
        cannot be used."""
        entry = self._entries.get(name)
        if entry is None:
            raise ModelMissing(f"No provider called {name} is configured. Add it under providers.")
        if missing := _missing(entry, endpoint):
            raise KeyRefused(_sentence(entry, missing))
        if name not in self._built:
            self._built[name] = self._wrapped(entry)
        return self._built[name]

    def warm(self, model: ModelRef) -> None:
        """Import the vendor's library, about a second's work, before a first request has to wait for it. For a thread."""
        if not self.usable(model):
            return
        provider = self.bare(model.provider)
        if isinstance(provider, Warming):
            provider.warm(model.endpoint)
        self._warmed.add((model.provider, model.endpoint))

    def bare(self, name: str) -> Provider:
        """The provider itself, without watchdog and retries: for what only its own kind can do. Built if need be."""
        if name not in self._bare:
            made = built(self._entries[name], self._clock, self._data_dir, self._http)
            return self._bare.setdefault(name, made)
        return self._bare[name]

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        model = request.model
        provider = self.provider(model.provider, model.endpoint)
        if (model.provider, model.endpoint) not in self._warmed:
            await asyncio.to_thread(self.warm, model)
        asked = True
        try:
            async with provider.stream(request) as events:
                yield events
        except ModelResting:
            asked = False
            raise
        except ContextTooLong as error:
            await self._windows.heard(model, error.detail)
            raise
        finally:
            if asked:
                self._windows.want(model)

    async def transcribe(self, model: ModelRef, audio: Audio) -> Transcript:
        """Raises ``ProviderError``, ``ModelMissing`` where the model's provider writes no speech down."""
        self.provider(model.provider, model.endpoint)
        entry, provider = self._entries[model.provider], self.bare(model.provider)
        if not isinstance(provider, Transcribing):
            raise ModelMissing(f"The provider {model.provider} writes no speech down.")
        credential, began = credential_of(entry, model.endpoint), self._clock.monotonic()
        if parked := self._parking.of(credential, model.model):
            raise resting(parked, model.model)
        if (model.provider, model.endpoint) not in self._warmed:
            await asyncio.to_thread(self.warm, model)
        try:
            return await self._heard(provider, model, audio)
        except LASTING as error:
            kept = not model.endpoint
            await self._parking.refused(entry, credential, model.model, error, began, kept=kept)
            raise

    async def _heard(self, provider: Transcribing, model: ModelRef, audio: Audio) -> Transcript:
        try:
            return await provider.transcribe(model, audio)
        except ProviderError as error:
            if not error.retryable:
                raise
            await self._clock.sleep(min(error.retry_after or AGAIN_SECONDS, MOST_AGAIN_SECONDS))
        return await provider.transcribe(model, audio)

    async def aclose(self) -> None:
        """Close every provider that was built; each gets 3 s."""
        self._built.clear()
        bare, self._bare = self._bare, {}
        async with AsyncExitStack() as stack:
            for provider in bare.values():
                stack.push_async_callback(_closed, provider)

    def _window_key(self, model: ModelRef) -> str:
        """Of the model at its address, and of what its provider is taken to read where nobody says more."""
        entry = self._entries.get(model.provider)
        if entry is None:
            return str(model)
        usual = entry.config.window(model.model, model.endpoint) if isinstance(entry.config, ProviderConfig) else None
        return f"{credential_of(entry, model.endpoint)}/{model.model}/{usual or ''}"

    async def _ask_window(self, model: ModelRef) -> int | None:
        provider = self.bare(model.provider) if model.provider in self._entries else None
        return await provider.window(model) if isinstance(provider, Telling) else None

    def _wrapped(self, entry: Entry) -> Provider:
        inner = self.bare(entry.name)
        if isinstance(entry.config, ProviderConfig):
            own = entry.config
            patience = Patience(own.first_seconds, own.silence_seconds, own.alive_seconds, own.whole_seconds)
            inner = Watchdog(inner, entry.name, patience)
        inner = Retry(Downgrade(inner, entry.name, self._clock), entry.name, self._clock, self._random)
        return Cooldown(inner, entry, self._clock, self._cooling, self._parking)


def _missing(entry: Entry, endpoint: str = "") -> str:
    return entry.config.missing(endpoint) if isinstance(entry.config, ProviderConfig) else ""


def _sentence(entry: Entry, missing: str) -> str:
    return f"The provider {entry.name} cannot be used. {missing}"


async def _closed(provider: Provider) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await provider.aclose()
