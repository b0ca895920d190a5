"""Whether the addresses in a configuration answer: the part of ``doctor --online`` that needs no vendor."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from bot.config.doctor import Finding
from bot.config.loaded import Config, Entry
from bot.core.errors import (
    BowerbirdError,
    ChannelUnreachable,
    KeyRefused,
    ModelMissing,
    ProviderBusy,
    RateLimited,
    StreamGarbled,
    TransportError,
    Unauthorised,
)
from bot.core.http import Timeouts
from bot.net.http import Transport

PROBE_SECONDS: Final = 15.0
_TIMEOUTS: Final = Timeouts(connect=5.0, silence=5.0, total=10.0)


async def reach(config: Config, transport: Transport) -> list[Finding]:
    """One finding for every channel and provider that is on and has an address; all are asked at once.

    A module may bring ``async def probe(config) -> str``: it proves the secret too, returns what it learnt ("as
    @mybot") and raises a ``BowerbirdError`` whose sentence is shown. Otherwise any answer of a service at the address counts.
    """
    shelves: tuple[tuple[str, Mapping[str, Entry]], ...] = (
        ("channels", config.channels),
        ("providers", config.providers),
    )
    entries = [(area, entry) for area, shelf in shelves for entry in shelf.values() if entry.on]
    async with asyncio.TaskGroup() as group:
        needed = config.brain.llm.default.provider
        tasks = [group.create_task(_asked(area, entry, transport, needed)) for area, entry in entries]
    return [finding for task in tasks if (finding := task.result()) is not None]


async def _asked(area: str, entry: Entry, transport: Transport, needed: str) -> Finding | None:
    address = _address(entry)
    if _probe(entry) is None and not address:
        return None
    try:
        said = await _said(entry, transport)
    except TimeoutError:
        return Finding("fail", area, f"{entry.name} did not answer within {PROBE_SECONDS:g} s", "check the network")
    except (TransportError, ChannelUnreachable) as error:
        if entry.kind == "ollama" and entry.name != needed:
            return Finding(
                "warn", area, f"{entry.name} does not run at {address}", "start it to have its models answer"
            )
        return Finding("fail", area, f"{entry.name}: {error}", "check the network, and the address in the file")
    except RateLimited as error:
        again = f"nothing is wrong with it; try again in {error.retry_after:.0f} s"
        return Finding("warn", area, f"{entry.name}: {error}", again)
    except BowerbirdError as error:
        return Finding("fail", area, f"{entry.name}: {error}", _advice(error))
    return Finding("ok", area, f"{entry.name}: {said}")


def _advice(error: BowerbirdError) -> str:
    match error:
        case Unauthorised() | KeyRefused():
            return "check its token or key"
        case ModelMissing() | StreamGarbled():
            return "check the address in the file"
    return "see the sentence above"


async def answers(entry: Entry, transport: Transport) -> bool:
    """Whether the service of this entry can be asked now and takes its secret, as far as a free question tells: a web
    page in its place is no service."""
    try:
        await _said(entry, transport)
    except (TimeoutError, BowerbirdError):
        return False
    return True


def _address(entry: Entry) -> str:
    return str(getattr(entry.config, "api_base", "") or getattr(entry.config, "base_url", ""))


def _probe(entry: Entry) -> Callable[[object], Awaitable[str]] | None:
    probe: Callable[[object], Awaitable[str]] | None = getattr(importlib.import_module(entry.module), "probe", None)
    return probe


async def _said(entry: Entry, transport: Transport) -> str:
    probe = _probe(entry)
    async with asyncio.timeout(PROBE_SECONDS):
        return await probe(entry.config) if probe else await _answers(_address(entry), transport)


async def _answers(address: str, transport: Transport) -> str:
    """Any answer of a service counts; a web page is none, nor is what a proxy says of one that is down."""
    host = urlsplit(address).netloc
    async with transport.request("GET", address, timeouts=_TIMEOUTS) as told:
        if told.status >= 500:
            raise ProviderBusy(f"{host} answers with status {told.status}.")
        if told.status == 200 and "html" in told.headers.get("content-type", ""):
            raise StreamGarbled(f"What stands at {host} is a web page.")
    return f"{host} answers"
