"""Which providers cannot answer at the moment and why: told to the owner until the cause is gone, as far as can be known."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.core.errors import (
    ContentRefused,
    ContextTooLong,
    KeyRefused,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.faults import LOCAL, clock_words, fault_sentence, in_a_row, until_words
from bot.core.model import ModelRef
from bot.core.ports import Clock
from bot.core.texts import say
from bot.providers.parking import Parked

LOOK_SECONDS: Final = 60.0
PASSING_SECONDS: Final = 300.0
"""How long a fault that mends itself is told when nobody asks that provider again."""
LASTING_SECONDS: Final = 3600.0
"""The same for one that the owner must mend and no free question can prove mended: an account that was topped up."""

_PASSING: Final = (ProviderBusy, ProviderFailed, StreamStalled, StreamCut)
_PROVABLE: Final = (KeyRefused, ProviderUnreachable, StreamGarbled)
_OF_THE_REQUEST: Final = (ContextTooLong, ContentRefused, RequestRefused)


@dataclass(frozen=True, slots=True)
class Fault:
    """``until`` in the clock's monotonic seconds. ``again`` is the time of day from which the provider takes requests, ""
    where it named none. ``provable``: a free question to it shows whether this is mended."""

    model: ModelRef
    kind: type[ProviderError]
    again: str
    until: float
    provable: bool

    def sentence(self, language: str) -> str:
        return fault_sentence(
            self.kind, language, provider=self.model.provider, model=self.model.model, until=self.again
        )


class ModelFaults:
    """One fault a provider: the latest. ``works`` asks a provider by name a question that costs nothing; ``parked`` tells
    what is left alone for hours, of which some may be known from before the start."""

    def __init__(
        self,
        clock: Clock,
        zone: str,
        works: Callable[[str], Awaitable[bool]] | None = None,
        parked: Callable[[], Sequence[Parked]] = tuple,
    ) -> None:
        self._clock, self._zone, self._works, self._parked = clock, zone, works, parked
        self._faults: dict[str, Fault] = {}

    def met(self, model: ModelRef, error: ProviderError) -> None:
        """A call failed. The model on this machine tells its own state, and a wrong request is no fault of a provider."""
        if model.provider == LOCAL or isinstance(error, _OF_THE_REQUEST):
            return
        again = until_words(error.retry_after, self._clock.now(), self._zone)
        seconds = PASSING_SECONDS if isinstance(error, _PASSING) else LASTING_SECONDS
        if again and error.retry_after is not None:
            seconds = error.retry_after
        provable = isinstance(error, _PROVABLE) and not model.endpoint and self._works is not None
        self._faults[model.provider] = Fault(model, type(error), again, self._clock.monotonic() + seconds, provable)

    def answered(self, provider: str) -> None:
        self._faults.pop(provider, None)

    def sentences(self, language: str) -> list[str]:
        parked = self._parked()
        told = {(one.provider, one.error) for one in parked}
        faults = (fault for fault in self._standing().values() if (fault.model.provider, fault.kind) not in told)
        rests = say("fault_and_rested", language)
        return [
            *(fault.sentence(language) for fault in faults),
            *(
                in_a_row(fault_sentence(one.error, language, provider=one.provider, model=one.model), rests)
                for one in parked
            ),
        ]

    def resting(self) -> list[dict[str, str]]:
        """What is left alone for hours, and until when."""
        now = self._clock.now()
        return [
            {
                "provider": one.provider,
                "model": one.model or say("every_model"),
                "until": clock_words(one.until, now, self._zone),
            }
            for one in self._parked()
        ]

    async def watch(self) -> None:
        """Until cancelled: ask the providers of which an answer would tell that the fault is gone."""
        while True:
            await self._clock.sleep(LOOK_SECONDS)
            for provider in self._provable():
                fault = self._faults.get(provider)
                if await self._proven(provider) and self._faults.get(provider) is fault:
                    self.answered(provider)

    def _provable(self) -> Sequence[str]:
        standing = (name for name, fault in self._standing().items() if fault.provable)
        parked = (one.provider for one in self._parked() if one.is_provable)
        return tuple(dict.fromkeys((*standing, *parked)))

    async def _proven(self, provider: str) -> bool:
        return self._works is not None and await self._works(provider)

    def _standing(self) -> Mapping[str, Fault]:
        now = self._clock.monotonic()
        self._faults = {name: fault for name, fault in self._faults.items() if fault.until > now}
        return dict(self._faults)
