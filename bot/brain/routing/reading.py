"""What was read out of a message before any model is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bot.brain.turn import Turn
from bot.core.model import ModelRef


@dataclass(frozen=True, slots=True)
class Wish:
    """What a turn asks of its models. ``picked`` is the model that the chat, or an API client, insists on; ``files`` are the
    names of those that came along, ``prompt_tokens`` what the whole prompt is likely to have."""

    turn: Turn
    text: str
    pictures: bool = False
    picked: str = ""
    files: tuple[str, ...] = ()
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What depends on the reading: ``facts`` (``intent``, ``complexity``, ``privacy``) by which ``routes``, the models that
    could come first, are chosen. ``private``: the message may turn out to be one that must not leave the house. Where
    nothing depends on it only what costs nothing is read."""

    facts: frozenset[str] = frozenset()
    routes: tuple[ModelRef, ...] = ()
    private: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """``intent`` is "" where none is near enough; ``scores`` are those of the nearest, ``near`` the intents that it may be
    as well. ``parameters`` is what the message tells of itself: its topic, names, a time range."""

    intent: str = ""
    complexity: str = "medium"
    privacy: str = "public"
    scores: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()


Read = Callable[[Wish, Asked], Awaitable[Reading]]
"""Reads a message. Never fails: what cannot be had is left as it is in an empty ``Reading``."""
