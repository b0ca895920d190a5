"""What was read out of a message before any model is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reading:
    """``intent`` is "" where none is near enough; ``scores`` are those of the nearest. ``parameters`` is what the message
    tells of itself: its topic, names, a time range."""

    intent: str = ""
    complexity: str = "medium"
    privacy: str = "public"
    scores: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


Read = Callable[[str], Awaitable[Reading]]
"""Reads a message's text."""


async def no_reading(text: str) -> Reading:
    """Implements ``Read`` by reading nothing."""
    return Reading()
