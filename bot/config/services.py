"""Whether the service behind an entry of the configuration answers, and takes its secret where that can be tried."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

from bot.config.loaded import Entry
from bot.core.errors import BowerbirdError, ProviderBusy, StreamGarbled
from bot.core.http import Timeouts
from bot.net.http import Transport

PROBE_SECONDS: Final = 15.0
_TIMEOUTS: Final = Timeouts(connect=5.0, silence=5.0, total=10.0)


async def answers(entry: Entry, transport: Transport) -> bool:
    """Whether the service of this entry can be asked now and takes its secret, as far as a free question tells: a web
    page in its place is no service."""
    try:
        await heard_from(entry, transport)
    except (TimeoutError, BowerbirdError):
        return False
    return True


def address_of(entry: Entry) -> str:
    """Empty where it has none."""
    return str(getattr(entry.config, "api_base", "") or getattr(entry.config, "base_url", ""))


def probe_of(entry: Entry) -> Callable[[object], Awaitable[str]] | None:
    """``async def probe(config) -> str`` of its module, None where it brings none. It proves the secret too, returns what
    it learnt ("as @mybot") and raises a ``BowerbirdError`` whose sentence is shown."""
    probe: Callable[[object], Awaitable[str]] | None = getattr(importlib.import_module(entry.module), "probe", None)
    return probe


async def heard_from(entry: Entry, transport: Transport) -> str:
    """What it answers, in words. Raises ``BowerbirdError``, ``TimeoutError``."""
    probe = probe_of(entry)
    async with asyncio.timeout(PROBE_SECONDS):
        return await probe(entry.config) if probe else await _answers(address_of(entry), transport)


async def _answers(address: str, transport: Transport) -> str:
    """Any answer of a service counts; a web page is none, nor is what a proxy says of one that is down."""
    host = urlsplit(address).netloc
    async with transport.request("GET", address, timeouts=_TIMEOUTS) as told:
        if told.status >= 500:
            raise ProviderBusy(f"{host} answers with status {told.status}.")
        if told.status == 200 and "html" in told.headers.get("content-type", ""):
            raise StreamGarbled(f"What stands at {host} is a web page.")
    return f"{host} answers"
