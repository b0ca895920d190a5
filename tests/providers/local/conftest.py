"""The real weights, fetched once into a folder that all runs share."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from bot.net.http import Transport
from bot.providers.local.catalogue import QWEN, SMOLLM2, Weights
from bot.providers.local.weights import Shelf
from bot.time.clock import SystemClock


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The folder that ``BOWERBIRD_MODELS`` names, or one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BOWERBIRD_MODELS") or Path(cache) / "bowerbird" / "models")


def fetched(weights: Weights, folder: Path) -> Path:
    async def fetch() -> Path:
        transport = Transport()
        try:
            return await Shelf(folder, transport, SystemClock()).fetch(weights, lambda *_: None)
        finally:
            await transport.aclose()

    return asyncio.run(fetch())


@pytest.fixture(scope="session")
def smollm2(models_dir: Path) -> Path:
    """The small model's file; the first run downloads 93 MB."""
    return fetched(SMOLLM2, models_dir)


@pytest.fixture(scope="session")
def qwen(models_dir: Path) -> Path:
    """The larger model's file; the first run downloads 478 MB."""
    return fetched(QWEN, models_dir)
