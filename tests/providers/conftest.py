"""The simulator, the benches of all cloud vendors, and the real weights."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.providers.local.catalogue import QWEN, SMOLLM2
from tests.providers.bench import KEY, VENDORS, Bench
from tests.providers.weights import fetched, shared_folder
from tests.sim.llm import LlmSim


@pytest.fixture
async def sim() -> AsyncIterator[LlmSim]:
    """A test that means to break a vendor's rules clears ``sim.violations`` itself."""
    async with LlmSim(api_key=KEY) as running:
        yield running
        assert running.violations == []


@pytest.fixture(params=sorted(VENDORS))
async def bench(request: pytest.FixtureRequest, sim: LlmSim) -> AsyncIterator[Bench]:
    """Each vendor in turn."""
    bench = Bench(VENDORS[request.param], sim)
    yield bench
    await bench.aclose()


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The small model's file; the first run downloads 93 MB."""
    return fetched(SMOLLM2, shared_folder())


@pytest.fixture(scope="session")
def qwen() -> Path:
    """The larger model's file; the first run downloads 478 MB."""
    return fetched(QWEN, shared_folder())
