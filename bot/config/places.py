"""Where every known key belongs, for hints about keys that stand in the wrong place; and where relative paths start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.config.problems import Path_, did_you_mean, dotted, plain

M = TypeVar("M", bound=BaseModel)


class Places:
    """Knows the keys of all sections. ``roots`` maps the path of a section to the model that reads it."""

    def __init__(self, roots: Mapping[Path_, type[BaseModel]]) -> None:
        self._paths: list[Path_] = []
        for path, cls in roots.items():
            if path:
                self._paths.append(path)
            self._paths.extend(_below(path, cls))

    def unknown(self, path: Path_, key: str, known: Iterable[str]) -> str:
        """A sentence about the unknown ``key`` in the section at ``path``, whose own keys are ``known``."""
        inside = self._called(key, within=path)
        if len(inside) == 1:
            return f'unknown key; "{inside[0][-1]}" belongs under "{dotted(inside[0][len(path) : -1])}"'
        if hint := did_you_mean(key, known):
            return f"unknown key{hint}"
        anywhere = self._called(key, within=())
        if len(anywhere) == 1:
            return f"unknown key; it belongs at {dotted(anywhere[0])}"
        known = sorted(known)
        return f"unknown key; known here: {', '.join(known)}" if len(known) <= 12 else "unknown key"

    def _called(self, key: str, within: Path_) -> list[Path_]:
        deeper = [path for path in self._paths if len(path) > len(within) + 1 and path[: len(within)] == within]
        return [path for path in deeper if plain(str(path[-1])) == plain(key)]


def _below(path: Path_, cls: type[BaseModel]) -> Iterator[Path_]:
    for name, field in cls.model_fields.items():
        here = (*path, field.alias or name)
        yield here
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _below(here, field.annotation)


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
