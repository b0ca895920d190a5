"""A folder with a config.yaml in it, and what loading it gives."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.config.load import load
from bot.config.loaded import Config
from bot.config.problems import every_problem
from bot.core.errors import ConfigError

Load = Callable[..., Config]
Complain = Callable[..., list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Load:
    """Write the text as config.yaml and load it."""

    def loaded(text: str, env: Mapping[str, str] | None = None) -> Config:
        (tmp_path / "config.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
        return load(Path("config.yaml"), {"HOME": str(tmp_path / "home"), **(env or {})}, tmp_path)

    return loaded


@pytest.fixture
def complaints(read: Load) -> Complain:
    """The lines that a person reads about the text; [] when it is accepted."""

    def listed(text: str, env: Mapping[str, str] | None = None) -> list[str]:
        try:
            read(text, env)
        except ConfigError as error:
            return every_problem(error)
        return []

    return listed
