"""llmock (PyPI, MIT): faults on the wire, and its verdict on how a client bore them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from tests.providers.bench import Heard
from tests.referees.emulator import running, told
from tests.referees.wired import LONG, Wired

PYTHON: Final = Path(__file__).parents[2] / ".referees" / "bin" / "python"
PATHS: Final = {"anthropic": "/anthropic", "openai": "/v1"}
"""The vendors that llmock speaks for, and where."""


class Llmock:
    """A running llmock."""

    def __init__(self, url: str) -> None:
        self._url = url

    @staticmethod
    def missing() -> str:
        """Why it cannot be started; "" when it can."""
        return "" if PYTHON.exists() else "llmock is not installed: `make test` installs it into .referees"

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, *options: str) -> Iterator[Self]:
        command = [str(PYTHON), "-m", "llmock.cli", "serve", "--port", "0", "--response-style", "echo", *options]
        with running(command, folder / "llmock.log") as url:
            yield cls(url)

    def base_url(self, kind: str) -> str:
        return self._url + PATHS[kind]

    async def reset(self) -> None:
        """Forget requests, scripts and spent quotas."""
        await told("POST", f"{self._url}/_llmock/reset")

    async def script(self, *behaviours: dict[str, Any]) -> None:
        """Queue behaviours, each for one request unless it says ``times``; those of different types fall on the same."""
        await told("POST", f"{self._url}/_llmock/scenario", {"behaviors": list(behaviours)})

    async def attempts(self) -> list[dict[str, Any]]:
        """What came in, oldest first: ``status``, ``fault``, ``started_at``, ``ended_at`` and more."""
        journal = await told("GET", f"{self._url}/_llmock/requests")
        found: list[dict[str, Any]] = journal["requests"]
        return found

    async def pauses(self) -> list[tuple[float, float]]:
        """For each refusal that asked for a wait: the seconds it asked for, and those until the next attempt."""
        attempts = await self.attempts()
        return [
            (refused["retry_after"], again["started_at"] - refused["ended_at"])
            for place, refused in enumerate(attempts)
            if refused["retry_after"] is not None
            for again in [each for each in attempts[place:] if each["fingerprint"] == refused["fingerprint"]][1:2]
        ]

    async def complaints(self) -> list[str]:
        """The codes of everything that the verdict finds wrong, errors and warnings alike."""
        verdict = await told("GET", f"{self._url}/_llmock/verdict")
        return [finding["code"] for finding in verdict["findings"]]


def reply(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "reply", "text": text, **more}


def breaks(kind: str, after_chunks: int, **more: Any) -> dict[str, Any]:
    """``truncate``: ends without a stop reason; ``malformed``: half a frame; ``disconnect``; ``stall``: 30 s of
    silence, then on."""
    return {"type": "stream_fault", "kind": kind, "after_chunks": after_chunks, **more}


def fail(status: int, **more: Any) -> dict[str, Any]:
    return {"type": "fail", "status": status, **more}


async def asked(llmock: Llmock, vendor: Wired, fault: dict[str, Any], times: int | None = 1) -> Heard:
    """Ask a model that nobody else asks, so that many such questions can be put at once and waited for together.

    ``times``: how many attempts the fault falls on; None is every one. An answer without fault says ``LONG``.
    """
    model = re.sub(r"\W+", "-", f"{fault} {times}")
    own = {"match": {"model": model, "provider": vendor.kind}}
    await llmock.script(fault | own | {"times": times}, reply(LONG, times=None) | own)
    return await vendor.ask(model=model, max_tokens=100)
