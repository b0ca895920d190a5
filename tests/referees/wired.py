"""A vendor's provider against an emulator, wired as the daemon wires it: retries around a watchdog around the vendor."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from bot.core.model import Message, ModelRef, ModelRequest
from bot.core.ports import Clock
from bot.providers.discovery import entry
from bot.providers.models import Models
from tests.providers.bench import KEY, TOOLS, VENDORS, Heard, ask, user


class Soonest(Random):
    """The jitter of the retries at its shortest, so that a test that really waits waits for half a second."""

    def uniform(self, a: float, b: float) -> float:
        return a


class Wired:
    """``section`` is what its config says beside the address; the patience is long unless the test is about it."""

    def __init__(self, kind: str, base_url: str, clock: Clock, **section: Any) -> None:
        self.kind, self.model = kind, VENDORS[kind].model
        checked = entry(
            kind, {"base_url": base_url, "api_key": KEY, "first_seconds": 15.0, "silence_seconds": 10.0} | section
        )
        self.models = Models([checked], clock, Soonest(), Path("unused"))

    def request(self, *messages: Message, **more: Any) -> ModelRequest:
        """``more`` are fields of the request or of its model."""
        of_model = {key: more.pop(key) for key in ("model", "max_tokens", "temperature") if key in more}
        ref = ModelRef(self.kind, **({"model": self.model} | of_model))
        return ModelRequest(ref, messages=messages or (user("hi"),), **({"system": "Be brief.", "tools": TOOLS} | more))

    async def ask(self, *messages: Message, **more: Any) -> Heard:
        return await ask(self.models, self.request(*messages, **more))
