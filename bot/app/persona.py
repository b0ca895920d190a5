"""Who the assistant is: SOUL.md as it is now."""

from __future__ import annotations

from bot.brain.prompt import Persona
from bot.config.loaded import Config


def persona_of(config: Config, small: str) -> Persona:
    """Read anew for every turn; without the file the assistant still has its name. ``small`` is for small models."""
    try:
        soul = config.soul.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        soul = ""
    return Persona(soul or f"You are {config.name}, a helpful assistant.", small, config.brain.constraints)
