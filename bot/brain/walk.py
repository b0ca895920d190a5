"""Which model of a chain is asked next, how often, and when nobody is left to ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.core.errors import KeyRefused, ModelResting, NoCredit, ProviderError, StreamStalled
from bot.core.model import ModelRef

FIRST_ATTEMPTS: Final = 3
FALLBACK_ATTEMPTS: Final = 2
"""How often a model may be asked for one step: the first of the chain, and each behind it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """``tried`` and ``insist`` as in ``ModelRequest``."""

    model: ModelRef
    attempts: int
    tried: int = 0
    insist: bool = False


class Walk:
    """Iterate over whom to ask, and tell of each that ``failed`` before the next is taken.

    A model that rests is passed over. Before nobody is left, the last that rests by our own caution alone is asked after
    all, once: a person who asks must not be refused because of one blip minutes ago.
    """

    def __init__(self, chain: Sequence[ModelRef]) -> None:
        self._chain = tuple(dict.fromkeys(chain))
        self._again: Ask | None = None
        self._resting: Ask | None = None
        self._over = False
        self._until: dict[ModelRef, float] = {}
        self.first: ProviderError | None = None

    def __iter__(self) -> Iterator[Ask]:
        for place, model in enumerate(self._chain):
            yield from self._asks(Ask(model, FALLBACK_ATTEMPTS if place else FIRST_ATTEMPTS))
        if self._resting is not None:
            yield from self._asks(replace(self._resting, attempts=1, insist=True))

    @property
    def again_at(self) -> float | None:
        """Unix time from which on a model of the chain will be asked again; None where none rests, but for those that are
        parked until their owner mends them."""
        return min(self._until.values(), default=None)

    def failed(self, ask: Ask, error: ProviderError, *, wrote: bool, milder: bool) -> None:
        """``wrote``: some of its answer was seen. ``milder``: it refused the request, and there is a milder one."""
        resting = isinstance(error, ModelResting)
        self.first = self.first or (error.cause if isinstance(error, ModelResting) else error)
        self._until.pop(ask.model, None)
        if error.until is not None and not _is_parked(error):
            self._until[ask.model] = error.until
        if isinstance(error, ModelResting) and error.yields and not ask.insist:
            self._resting = ask
        self._over = not error.next_model
        tried = max(ask.tried + 1, error.attempt)
        if milder:
            self._again = ask
        elif error.retryable and wrote and not resting and tried < self._allowed(ask, error):
            self._again = replace(ask, tried=tried)

    def _allowed(self, ask: Ask, error: ProviderError) -> int:
        """Silence has cost a long wait: after some of the answer another model is the better next one, if there is one."""
        if isinstance(error, StreamStalled):
            return 1 if len(self._chain) > 1 else 2
        return ask.attempts

    def _asks(self, ask: Ask) -> Iterator[Ask]:
        self._again = ask
        while self._again is not None and not self._over:
            ask, self._again = self._again, None
            yield ask


def _is_parked(error: ProviderError) -> bool:
    return error.parked if isinstance(error, ModelResting) else isinstance(error, KeyRefused | NoCredit)
