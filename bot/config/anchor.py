"""Where relative paths of a configuration start: at its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def anchored(path: str | Path, base: Path, home: Path) -> Path:
    """``path`` as an absolute path: ``~`` is ``home``, anything relative starts at ``base``."""
    text = str(path)
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return base / text


def anchor_paths(model: M, base: Path, home: Path) -> M:
    """``model`` with every ``Path`` in it made absolute, defaults included."""
    changes: dict[str, Any] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        settled = _anchor(value, base, home)
        if settled is not value:
            changes[name] = settled
    return model.model_copy(update=changes) if changes else model


def _anchor(value: Any, base: Path, home: Path) -> Any:
    if isinstance(value, BaseModel):
        return anchor_paths(value, base, home)
    if isinstance(value, Path):
        return anchored(value, base, home)
    if isinstance(value, tuple) and any(isinstance(item, Path | BaseModel) for item in value):
        return tuple(_anchor(item, base, home) for item in value)
    if isinstance(value, Mapping) and any(isinstance(item, Path | BaseModel) for item in value.values()):
        return {key: _anchor(item, base, home) for key, item in value.items()}
    return value
