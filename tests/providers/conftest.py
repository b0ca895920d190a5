"""The simulator, and the benches of all cloud vendors."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.providers.bench import KEY, VENDORS, Bench
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
