"""Which channels and providers there are: modules found by name, imported only when the file names them."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from bot.config import awaited
from bot.core.errors import ConfigError

_HAS_CONFIG: Final = re.compile(r"^(class Config\b|from \S+ import .*\bConfig\b)", re.MULTILINE)
_HAS_BUILD: Final = re.compile(r"^def build\b", re.MULTILINE)
NOT_BUILT: Final = "It is not built into this version."


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of channel or provider. ``module`` has ``build`` ("" when there is none); ``needs`` says what is missing
    before it can be used ("" when nothing is)."""

    name: str
    module: str
    config: type[BaseModel]
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One package of siblings: ``<package>/<name>.py``, or ``<package>/<name>/<inner>.py``.

    A folder may keep its ``Config`` in ``<package>/<name>/config.py``, so that reading it imports no vendor library.
    """

    package: str
    inner: str
    documented: Mapping[str, type[BaseModel]]

    def names(self) -> list[str]:
        """Every kind that the configuration may name."""
        found = [name for name in self._modules() if self._module_of(name)]
        return sorted({*found, *self.documented})

    def kind(self, name: str) -> Kind | None:
        """The kind called ``name``; None when there is no such thing. Imports the module that has its ``Config``.

        Raises ``ConfigError`` when a library is not installed and the keys of the section are not known without it.
        """
        if name not in self.names():
            return None
        module = self._module_of(name)
        if not module:
            return Kind(name, "", self.documented[name], NOT_BUILT)
        try:
            home = f"{self.package}.{name}.config"
            source = home if module.endswith(f".{self.inner}") and _declares(home, _HAS_CONFIG) else module
            config: type[BaseModel] = importlib.import_module(source).Config
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            if library in ("", "bot", "channels"):
                raise
            needs = f"The library {library} is not installed: pip install 'bowerbird[{name}]'."
            if name not in self.documented:
                raise ConfigError(needs) from None
            return Kind(name, module, self.documented[name], needs)
        return Kind(name, module, config)

    def _modules(self) -> list[str]:
        package = importlib.import_module(self.package)
        return [info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_")]

    def _module_of(self, name: str) -> str:
        for module in (f"{self.package}.{name}.{self.inner}", f"{self.package}.{name}"):
            if _declares(module, _HAS_CONFIG, _HAS_BUILD):
                return module
        return ""


@cache
def _declares(module: str, *marks: re.Pattern[str]) -> bool:
    """True when the module exists and its text has the marks; read, not imported, to keep vendors' weight out."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return False
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return False
    text = Path(spec.origin).read_text(encoding="utf-8")
    return all(mark.search(text) for mark in marks)


CHANNELS: Final = Shelf("channels", "channel", awaited.CHANNELS)
PROVIDERS: Final = Shelf("bot.providers", "provider", awaited.PROVIDERS)


def builder(module: str) -> Callable[..., Any]:
    """The ``build`` function of a channel's or a provider's module."""
    build: Callable[..., Any] = importlib.import_module(module).build
    return build
