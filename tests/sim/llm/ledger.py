"""What reached the simulator and how it ended: every request, and every rule of a vendor that a request broke."""

import asyncio
import hmac
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

KEY_HEADERS = ("authorization", "x-api-key")


@dataclass(slots=True)
class Seen:
    """One request. Times are seconds since the epoch.

    `outcome` is open, complete, refused (the vendor's 4xx for a bad request), faulted (a scripted HTTP error), dropped
    (cut by the script), failed (a script the simulator cannot play) or left (the client closed first, at `left_at`).
    `key_header` names the header that carried a key and `key_matches` compares it with `api_key` (None when either is
    missing); the key itself is not kept.
    """

    number: int
    at: float
    vendor: str
    endpoint: str
    method: str
    path: str
    headers: dict[str, str]
    key_header: str | None
    key_matches: bool | None
    body: Any = None
    prompt_tokens: int = 0
    scripted: bool = False
    status: int | None = None
    outcome: str = "open"
    sent_bytes: int = 0
    ended_at: float | None = None
    left_at: float | None = None

    @property
    def left_early(self) -> bool:
        """The client closed the connection before the answer was complete."""
        return self.outcome == "left"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "left_early": self.left_early}


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of the vendor's API that request `number` broke, or a request no answer was scripted for."""

    number: int
    vendor: str
    message: str
    param: str | None = None


def presented_key(headers: Mapping[str, str]) -> tuple[str | None, str]:
    """The header that carries the key, and the key; (None, "") without one."""
    for name in KEY_HEADERS:
        if value := headers.get(name, ""):
            return name, value.removeprefix("Bearer ").strip()
    return None, ""


@dataclass
class Ledger:
    """All requests in order of arrival; `changed` wakes whoever waits for one."""

    clock: Callable[[], float]
    requests: list[Seen] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _next: int = 1

    def open(
        self, vendor: str, endpoint: str, method: str, path: str, headers: Mapping[str, str], key: str | None
    ) -> Seen:
        """Note a request as it arrives, with its key masked."""
        lowered = {name.lower(): value for name, value in headers.items()}
        header, presented = presented_key(lowered)
        for name in KEY_HEADERS:
            if name in lowered:
                lowered[name] = "Bearer ***" if lowered[name].startswith("Bearer ") else "***"
        matches = hmac.compare_digest(presented.encode(), key.encode()) if header and key is not None else None
        seen = Seen(self._next, self.clock(), vendor, endpoint, method, path, lowered, header, matches)
        self._next += 1
        self.requests.append(seen)
        return seen

    def nth(self, endpoint: str) -> int:
        """How many requests this endpoint has had, the current one included."""
        return sum(seen.endpoint == endpoint for seen in self.requests)

    def close(self, seen: Seen, outcome: str) -> None:
        """Note how a request ended; the first note stands."""
        if seen.outcome == "open":
            seen.outcome, seen.ended_at = outcome, self.clock()
            if outcome == "left":
                seen.left_at = seen.ended_at

    def violated(self, seen: Seen, message: str, param: str | None = None) -> None:
        self.violations.append(Violation(seen.number, seen.vendor, message, param))

    async def announce(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    def clear(self) -> None:
        self.requests.clear()
        self.violations.clear()
