"""The real weights, fetched once into a folder that all runs share."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bot.net.http import Transport
from bot.providers.local.catalogue import Weights
from bot.providers.local.weights import Shelf
from bot.time.clock import SystemClock


def shared_folder() -> Path:
    """The folder that ``BOWERBIRD_MODELS`` names, or one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BOWERBIRD_MODELS") or Path(cache) / "bowerbird" / "models")


def fetched(weights: Weights, folder: Path) -> Path:
    """The verified file; downloads it where it is not yet."""

    async def fetch() -> Path:
        transport = Transport()
        try:
            return await Shelf(folder, transport, SystemClock()).fetch(weights, lambda *_: None)
        finally:
            await transport.aclose()

    with ThreadPoolExecutor(1) as apart:  # also where a loop runs already
        return apart.submit(asyncio.run, fetch()).result()
