"""Settings that may be written but that no code of this version acts on. Whoever builds one takes its name off this list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from bot.config.loaded import Config

UNREAD: Final = (
    "memory.distill",
    "memory.knowledge",
    "memory.reranker",
    "tools.trusted_sources",
    "tools.shell",
    "tools.secrets",
    "tools.mcp",
    "hooks",
    "team",
    "schedule",
)


def unread_and_set(config: Config) -> list[str]:
    """Those of them that the file sets, and on which its owner may rely in vain."""
    return [key for key in UNREAD if _is_set(config, key)]


def _is_set(config: Config, key: str) -> bool:
    *rooms, last = key.split(".")
    holder: Any = config
    for room in rooms:
        holder = getattr(holder, room)
    value = getattr(holder, last)
    if isinstance(holder, BaseModel) and last not in holder.model_fields_set:
        return False
    return any(_settings(value)) if isinstance(value, BaseModel) else bool(value)


def _settings(section: BaseModel) -> Iterator[str]:
    """What the file sets in a section; a model that is None there was left out for the owner, by the file's reader."""
    for name in section.model_fields_set:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _settings(value)
        elif value is not None or name not in ("classify_model", "model"):
            yield name
