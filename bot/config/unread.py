"""Settings that may be written but that no code of this version acts on. Whoever builds one takes its name off this list."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

from bot.config.loaded import Config
from bot.config.sections import Settings

UNREAD: Final = (
    "memory.distill",
    "memory.knowledge",
    "memory.reranker",
    "tools.shell",
    "tools.secrets",
    "tools.mcp",
    "hooks",
    "team",
    "schedule",
)


def unread_and_set(config: Config) -> list[str]:
    """Those of them that the file sets to something else than the default, and on which its owner may rely in vain."""
    defaults = Settings()
    return [key for key in UNREAD if _changed(_at(config, key), _at(defaults, key))]


def _at(holder: Any, key: str) -> Any:
    for name in key.split("."):
        holder = getattr(holder, name)
    return holder


def _changed(value: Any, default: Any) -> bool:
    """A model that is None was left out for the owner, by the file's reader."""
    if not isinstance(value, BaseModel) or type(value) is not type(default):
        return bool(value != default)
    return any(
        _changed(getattr(value, name), getattr(default, name))
        for name in type(value).model_fields
        if name != "model" or getattr(value, name) is not None
    )
