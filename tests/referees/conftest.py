"""The emulators, started once for all tests of the folder, and the three vendors against them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

import pytest

from bot.core.model import ModelRef
from bot.core.ports import Clock
from bot.net.http import Transport
from bot.providers.discovery import entry
from bot.providers.models import Models
from bot.time.clock import SystemClock
from tests.providers.bench import KEY, VENDORS
from tests.referees.aimock import Aimock
from tests.referees.llmock import Llmock
from tests.referees.wired import Wired

TOKENS_PER_MINUTE: Final = 12_000
WINDOW_TOKENS: Final = 1_000
CHUNK_SECONDS: Final = 0.12

Wire = Callable[..., Wired]


@pytest.fixture(scope="session")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    """Every test brings its own script."""
    if why := Aimock.missing():
        pytest.skip(why)
    with Aimock.serving(tmp_path_factory.mktemp("aimock")) as started:
        yield started


@pytest.fixture(scope="session")
def _llmock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llmock]:
    if why := Llmock.missing():
        pytest.skip(why)
    with Llmock.serving(tmp_path_factory.mktemp("llmock")) as started:
        yield started


@pytest.fixture
async def llmock(_llmock: Llmock) -> Llmock:
    await _llmock.reset()
    return _llmock


@pytest.fixture(scope="session")
def _tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llmock]:
    if why := Llmock.missing():
        pytest.skip(why)
    limits = ("--tpm", f"{TOKENS_PER_MINUTE}", "--context-window", f"{WINDOW_TOKENS}")
    pace = ("--stream-chunk-delay-ms", f"{CHUNK_SECONDS * 1000:.0f}")
    with Llmock.serving(tmp_path_factory.mktemp("tight"), *limits, *pace) as started:
        yield started


@pytest.fixture
async def tight(_tight: Llmock) -> Llmock:
    """A vendor with a small window, who counts tokens by the minute and writes slowly."""
    await _tight.reset()
    return _tight


@pytest.fixture(scope="session")
def _libraries() -> None:
    """Importing a vendor's library takes seconds on a busy machine, which a test of patience must not count."""
    entries = [entry(kind, {"api_key": KEY}) for kind in VENDORS]
    models = Models(entries, SystemClock(), Random(), Path("unused"), Transport())
    for kind in VENDORS:
        models.warm(ModelRef(kind, VENDORS[kind].model))


@pytest.fixture
async def wire(_libraries: None) -> AsyncIterator[Wire]:
    """Make a ``Wired``; it is closed after the test."""
    made: list[Wired] = []

    def make(kind: str, base_url: str, clock: Clock, **section: object) -> Wired:
        made.append(Wired(kind, base_url, clock, **section))
        return made[-1]

    yield make
    for wired in made:
        await wired.aclose()
