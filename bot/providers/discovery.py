"""Which kinds of providers there are: every module of this package (or its module `provider`) with `Config` and `build`."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol

from pydantic import BaseModel

from bot.core.http import Http
from bot.core.ports import Clock, Provider

_PACKAGE: Final = "bot.providers"


class Entry(Protocol):
    """One checked section under ``providers:``. ``module`` is where its ``build`` is."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def config(self) -> BaseModel: ...

    @property
    def module(self) -> str: ...


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """Implements ``Entry``."""

    name: str
    kind: str
    config: BaseModel
    module: str


def kinds() -> tuple[str, ...]:
    """The names of all kinds, sorted. Imports every file of the package, none of which imports a vendor library."""
    package = importlib.import_module(_PACKAGE)
    return tuple(sorted(info.name for info in pkgutil.iter_modules(package.__path__) if _found(info.name)))


def entry(name: str, section: Mapping[str, Any]) -> CheckedEntry:
    """Check one section. ``kind`` defaults to the name.

    Raises ``LookupError`` for an unknown kind and pydantic's ``ValidationError`` for wrong keys and values.
    """
    fields = dict(section)
    kind = str(fields.pop("kind", name))
    module = _found(kind) if kind.isidentifier() else None
    if module is None:
        raise LookupError(f"there is no kind of provider called {kind!r}")
    return CheckedEntry(name, kind, module.Config.model_validate(fields), module.__name__)


def built(entry: Entry, clock: Clock, data_dir: Path, http: Http) -> Provider:
    """The provider of an entry, bare."""
    module = importlib.import_module(entry.module)
    provider: Provider = module.build(entry.name, entry.config, clock, data_dir, http)
    return provider


def _found(kind: str) -> ModuleType | None:
    for name in (f"{_PACKAGE}.{kind}.provider", f"{_PACKAGE}.{kind}"):
        try:
            there = importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            continue  # a plain module has no module `provider`
        module = importlib.import_module(name) if there else None
        if module is not None and hasattr(module, "Config") and hasattr(module, "build"):
            return module
    return None
