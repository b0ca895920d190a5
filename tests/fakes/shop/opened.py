"""Puts the shop's modules where the house looks for tools, and takes them away again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bot.tools

_SHELF = str(Path(__file__).parent / "shelf")


@contextmanager
def opened() -> Iterator[None]:
    """As somebody would who adds a file to ``bot/tools``: without a word to anything else."""
    bot.tools.__path__.append(_SHELF)
    try:
        yield
    finally:
        bot.tools.__path__.remove(_SHELF)
        sys.modules.pop("bot.tools.stock", None)
