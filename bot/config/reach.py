"""Whether the addresses in a configuration answer: the part of ``doctor --online`` that needs no vendor."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from bot.brain.prompt import WINDOW_TOKENS
from bot.config.checks import model_entries
from bot.config.doctor import Finding
from bot.config.loaded import Config, Entry
from bot.config.services import PROBE_SECONDS, address_of, heard_from, probe_of
from bot.core.errors import (
    BowerbirdError,
    ChannelUnreachable,
    KeyRefused,
    ModelMissing,
    RateLimited,
    StreamGarbled,
    TransportError,
    Unauthorised,
)
from bot.core.model import ModelRef
from bot.net.http import Transport
from bot.providers.discovery import built
from bot.providers.windows import Telling
from bot.time.clock import SystemClock


async def reach(config: Config, transport: Transport) -> list[Finding]:
    """One finding for every channel and provider that is on and has an address; all are asked at once, by the ``probe`` of
    their modules. Where a module has none, any answer of a service at the address counts."""
    shelves: tuple[tuple[str, Mapping[str, Entry]], ...] = (
        ("channels", config.channels),
        ("providers", config.providers),
    )
    entries = [(area, entry) for area, shelf in shelves for entry in shelf.values() if entry.on]
    async with asyncio.TaskGroup() as group:
        needed = config.brain.llm.default.provider
        tasks = [group.create_task(_asked(area, entry, transport, needed)) for area, entry in entries]
    return [finding for task in tasks if (finding := task.result()) is not None]


async def windows(config: Config, transport: Transport) -> list[Finding]:
    """How much each configured model reads, as its provider tells; nothing of those whose provider does not answer, which
    ``reach`` says."""
    asked = dict[str, ModelRef]()
    for _, entry in model_entries(config):
        ref = config.ref(entry)
        if config.usable(ref) and (ref.endpoint or address_of(config.providers[ref.provider])):
            asked.setdefault(str(ref), ref)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_reads(config, ref, transport)) for ref in asked.values()]
    return [finding for task in tasks if (finding := task.result()) is not None]


async def _reads(config: Config, ref: ModelRef, transport: Transport) -> Finding | None:
    """With whose word it is; None where the provider did not answer."""
    entry, told = config.providers[ref.provider], None
    provider = built(entry, SystemClock(), config.data_dir, transport)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            told = await provider.window(ref) if isinstance(provider, Telling) else None
    except (TimeoutError, BowerbirdError):
        return None
    finally:
        await provider.aclose()
    window = config.sized(ref, told).window_tokens
    if window is None:
        line = f"{ref}: its provider does not say how much it reads; {WINDOW_TOKENS:,} tokens are assumed"
        return Finding("ok", "providers", line, "give its entry window_tokens, if you know better")
    said = (
        "its entry says so" if ref.window_tokens else "its provider says so" if told else "by the list of this version"
    )
    return Finding("ok", "providers", f"{ref} reads {window:,} tokens ({said})")


async def _asked(area: str, entry: Entry, transport: Transport, needed: str) -> Finding | None:
    address = address_of(entry)
    if probe_of(entry) is None and not address:
        return None
    try:
        said = await heard_from(entry, transport)
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
