"""Tools as the Brain, the vendors and the person see them: specification, call, result."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.core.address import Address, Sender


class Effect(enum.StrEnum):
    """What a tool does to the world; everything but ``READ`` may need a press."""

    READ = "read"
    WRITE = "write"
    SEND = "send"
    RUN = "run"
    SPEND = "spend"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What the model is told (name, description, JSON Schema of the arguments) and what the loop must know.

    ``timeout`` is in seconds. ``own_reach`` marks effects that stay within the asker's own notes, memory and reminders,
    which the asker may approve without being an owner.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = Effect.READ
    idempotent: bool = True
    timeout: float = 30.0
    untrusted_output: bool = False
    own_reach: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model asked for it. ``arguments`` always is a JSON object.

    ``invalid`` says why the call must not run (arguments cut off or malformed); then ``arguments`` is empty.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    invalid: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the tool's name and its canonical arguments: what an approval is bound to."""
        canonical = json.dumps(dict(self.arguments), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(f"{self.name}\n{canonical}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model reads. ``error`` marks a failure; ``source`` names where untrusted text came from; ``files`` are for
    the person, and a copy of each is kept; ``joins`` are names of tools that the prompt has from the next step on."""

    text: str
    error: bool = False
    source: str = ""
    files: tuple[Path, ...] = ()
    joins: tuple[str, ...] = ()


Earlier = Callable[[str], Awaitable[str | None]]
"""The whole of an earlier result of the same address, by its handle; None where there is none, or it is no longer kept."""


async def nothing_earlier(handle: str) -> str | None:
    """Implements ``Earlier``."""
    return None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know about the turn that runs it. ``now`` is Unix time, ``zone`` an IANA name."""

    turn: str
    call_id: str
    address: Address
    sender: Sender
    now: float
    zone: str
    workspace: Path
    earlier: Earlier = nothing_earlier
