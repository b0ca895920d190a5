"""Keys that a vendor refuses, or whose account is empty: left alone for hours, over restarts, until somebody mends it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from pydantic import SecretStr, TypeAdapter, ValidationError

from bot.core.errors import KeyRefused, ModelForbidden, NoCredit, ProviderError, StoreError
from bot.core.ports import Clock, Notes
from bot.providers.discovery import Entry

log = logging.getLogger(__name__)

HOUR: Final = 3600.0
FIRST_SECONDS: Final = 5 * HOUR
LONGEST_SECONDS: Final = 24 * HOUR
NOTE: Final = "parked"
LASTING: Final[tuple[type[ProviderError], ...]] = (KeyRefused, NoCredit)
"""What time alone does not mend."""
_KINDS: Final = {kind.__name__: kind for kind in (KeyRefused, ModelForbidden, NoCredit)}


@dataclass(frozen=True, slots=True)
class Parked:
    """``model`` is "" for all models of the credential. ``until`` is Unix time, ``times`` how often in a row it came to
    this, ``kind`` the name of the error's class, ``kept`` whether it outlives the process."""

    credential: str
    provider: str
    model: str
    kind: str
    until: float
    times: int
    kept: bool = True

    @property
    def is_provable(self) -> bool:
        """Whether a free question may show that the key is accepted. It is believed once: some servers answer such
        questions to anybody."""
        return self.error is KeyRefused and self.kept and self.times == 1

    @property
    def error(self) -> type[ProviderError]:
        return _KINDS.get(self.kind, KeyRefused)


_NOTED: Final = TypeAdapter(list[Parked])


def credential_of(entry: Entry, endpoint: str = "") -> str:
    """A name for the key that a request carries and the address it goes to, which tells nothing of either."""
    key, address = getattr(entry.config, "api_key", None), endpoint or str(getattr(entry.config, "base_url", ""))
    secret = key.get_secret_value() if isinstance(key, SecretStr) else ""
    return hashlib.sha256(f"{entry.kind}\n{address}\n{secret}".encode()).hexdigest()[:32]


class Parking:
    """Parks by credential; a model that a good key may not use, alone. ``notes`` keep it over restarts, except for models
    with an address of their own."""

    def __init__(self, clock: Clock, notes: Notes | None) -> None:
        self._clock, self._notes = clock, notes
        self._parked: dict[tuple[str, str], Parked] = {}
        self._since: dict[tuple[str, str], float] = {}

    async def load(self, credentials: Collection[str]) -> None:
        """What was parked when the last process ended, as far as it is still one of ``credentials``: a key that was
        changed meanwhile is not the one that was refused."""
        text = await self._notes.read(NOTE) if self._notes is not None else None
        try:
            noted = _NOTED.validate_json(text) if text else []
        except ValidationError:
            log.warning("what was noted of parked keys cannot be read; they are tried again")
            noted = []
        self._parked = {(one.credential, one.model): one for one in noted if one.credential in credentials}

    def of(self, credential: str, model: str) -> Parked | None:
        """What keeps the model from being asked now."""
        now = self._clock.now()
        found = (self._parked.get(key) for key in ((credential, ""), (credential, model)))
        return next((one for one in found if one is not None and one.until > now), None)

    def all(self) -> Sequence[Parked]:
        now = self._clock.now()
        return [one for one in self._parked.values() if one.until > now]

    async def refused(
        self, entry: Entry, credential: str, model: str, error: ProviderError, began: float, *, kept: bool
    ) -> Parked:
        """One of ``LASTING``, met by a request that ``began`` then (monotonic). Requests that were under way side by side
        count once."""
        key = (credential, model if isinstance(error, ModelForbidden) else "")
        before = self._parked.get(key)
        if before is not None and began < self._since.get(key, -1.0):
            return before
        times = before.times + 1 if before is not None else 1
        seconds = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** (times - 1))
        kind = type(error).__name__ if type(error).__name__ in _KINDS else KeyRefused.__name__
        parked = Parked(credential, entry.name, key[1], kind, self._clock.now() + seconds, times, kept)
        self._parked[key], self._since[key] = parked, self._clock.monotonic()
        what = model if key[1] else "every model"
        log.warning("%s: %s is not asked for %.0f h (%s)", entry.name, what, seconds / HOUR, type(error).__name__)
        await self._note()
        return parked

    async def answered(self, credential: str, model: str, began: float) -> None:
        """The model has answered a request that ``began`` then: neither it nor the key is at fault any more, unless they
        were refused since."""
        keys = [key for key in ((credential, ""), (credential, model)) if began >= self._since.get(key, began)]
        gone = [self._parked.pop(key, None) for key in keys]
        if any(gone):
            await self._note()

    async def proven(self, credential: str) -> None:
        """A free question showed that the key is accepted."""
        key = (credential, "")
        found = self._parked.get(key)
        if found is not None and found.is_provable and found.until > self._clock.now():
            self._parked[key] = replace(found, until=self._clock.now())
            await self._note()

    async def clear(self) -> None:
        self._parked.clear()
        await self._note()

    async def _note(self) -> None:
        """A store that cannot be written costs no more than the memory of it."""
        if self._notes is None:
            return
        kept = [asdict(one) for one in self._parked.values() if one.kept]
        try:
            await self._notes.write(NOTE, json.dumps(kept))
        except StoreError as error:
            log.warning("what is parked could not be noted: %s", error)
