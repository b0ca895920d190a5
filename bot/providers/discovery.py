"""Which kinds of providers there are: every module of this package (or its module `provider`) with `Config` and `build`."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from bot.core.ports import Clock, Provider

_PACKAGE: Final = "bot.providers"

Build = Callable[[str, Any, Clock, Path], Provider]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: the class of its section under ``providers:`` and the function that makes a provider of it."""

    name: str
    config: type[BaseModel]
    build: Build


@dataclass(frozen=True, slots=True)
class Entry:
    """One section under ``providers:``, checked."""

    name: str
    kind: Kind
    config: BaseModel


def discover(kind: str) -> Kind:
    """The kind of that name; ``LookupError`` when there is none. Imports its file, which imports no vendor library."""
    if not kind.isidentifier():
        raise LookupError(f"there is no kind of provider called {kind!r}")
    for name in (f"{_PACKAGE}.{kind}.provider", f"{_PACKAGE}.{kind}"):
        if _exists(name):
            module = importlib.import_module(name)
            if hasattr(module, "Config") and hasattr(module, "build"):
                return Kind(kind, module.Config, module.build)
    raise LookupError(f"there is no kind of provider called {kind!r}")


def kinds() -> tuple[str, ...]:
    """The names of all kinds, sorted."""
    found = []
    for module in pkgutil.iter_modules(importlib.import_module(_PACKAGE).__path__):
        try:
            found.append(discover(module.name).name)
        except LookupError:
            continue
    return tuple(sorted(found))


def entry(name: str, section: Mapping[str, Any]) -> Entry:
    """Check one section of the config. ``kind`` defaults to the name.

    Raises ``LookupError`` for an unknown kind and pydantic's ``ValidationError`` for wrong keys and values.
    """
    fields = dict(section)
    kind = discover(str(fields.pop("kind", name)))
    return Entry(name, kind, kind.config.model_validate(fields))


def _exists(module: str) -> bool:
    parent, _, _ = module.rpartition(".")
    if parent != _PACKAGE and importlib.util.find_spec(parent) is None:
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False  # the parent is a plain module
