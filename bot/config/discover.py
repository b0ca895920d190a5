"""Which channels and providers there are: modules found by name, imported only when the file names them."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from bot.core.errors import ConfigError

_HAS_CONFIG: Final = re.compile(r"^(class Config\b|from \S+ import .*\bConfig\b)", re.MULTILINE)
_HAS_BUILD: Final = re.compile(r"^def build\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of channel or provider. ``module`` has ``build``."""

    name: str
    module: str
    config: type[BaseModel]


@dataclass(frozen=True, slots=True)
class Shelf:
    """One package of siblings: ``<package>/<name>.py``, or ``<package>/<name>/<inner>.py``.

    A folder may keep its ``Config`` in ``<package>/<name>/config.py``, so that reading it imports no vendor library.
    """

    package: str
    inner: str

    def names(self) -> list[str]:
        """Every kind that the configuration may name."""
        package = importlib.import_module(self.package)
        return sorted(info.name for info in pkgutil.iter_modules(package.__path__) if self._module_of(info.name))

    def kind(self, name: str) -> Kind | None:
        """The kind called ``name``; None when there is no such thing. Imports the module that has its ``Config``.

        Raises ``ConfigError`` when a library is not installed and the keys of the section are not known without it.
        """
        module = self._module_of(name) if name.isidentifier() else ""
        if not module:
            return None
        try:
            home = f"{self.package}.{name}.config"
            source = home if module.endswith(f".{self.inner}") and _declares(home, _HAS_CONFIG) else module
            config: type[BaseModel] = importlib.import_module(source).Config
        except ModuleNotFoundError as error:
            library = (error.name or "").split(".")[0]
            if library in ("", "bot", "channels"):
                raise
            raise ConfigError(f"The library {library} is not installed: pip install 'bowerbird[{name}]'.") from None
        return Kind(name, module, config)

    def _module_of(self, name: str) -> str:
        """ "" where there is none. To look inside a module would import it, so that is done with packages only."""
        place = f"{self.package}.{name}"
        spec = importlib.util.find_spec(place)
        inside = [f"{place}.{self.inner}"] if spec and spec.submodule_search_locations else []
        return next((module for module in (*inside, place) if _declares(module, _HAS_CONFIG, _HAS_BUILD)), "")


@cache
def _declares(module: str, *marks: re.Pattern[str]) -> bool:
    """True when the module exists and its text has the marks; read, not imported, to keep vendors' weight out."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return False
    text = Path(spec.origin).read_text(encoding="utf-8")
    return all(mark.search(text) for mark in marks)


CHANNELS: Final = Shelf("channels", "channel")
PROVIDERS: Final = Shelf("bot.providers", "provider")


def builder(module: str) -> Callable[..., Any]:
    """The ``build`` function of a channel's or a provider's module."""
    build: Callable[..., Any] = importlib.import_module(module).build
    return build
