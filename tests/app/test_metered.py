"""What is counted on its way, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.app.faults import ModelFaults
from bot.app.metered import MeteredProvider
from bot.core.errors import ModelResting, ProviderBusy, ProviderError
from bot.core.model import Message, ModelRef, ModelRequest, ModelText, ModelUsage, TextBlock, Usage
from bot.web.metrics import Metrics
from tests.fakes.clock import FakeClock
from tests.providers.scripted import END, Part, ScriptedProvider

REQUEST = ModelRequest(ModelRef("lab", "m"), "", (Message("user", (TextBlock("hi"),)),))


async def counted(script: Sequence[Part] | ProviderError) -> tuple[str, list[str]]:
    """The metrics, and what is told to owners, after one request."""
    clock = FakeClock()
    metrics, faults = Metrics(clock), ModelFaults(clock, "UTC")
    metered = MeteredProvider(ScriptedProvider(script), metrics, faults)
    try:
        async with metered.stream(REQUEST) as events:
            async for _ in events:
                pass
    except ProviderError:
        pass
    return metrics.text(), faults.sentences("en")


async def test_tokens_are_counted() -> None:
    text, told = await counted([ModelText("Hi"), ModelUsage(Usage(20, 3)), END])
    assert 'bowerbird_tokens_total{provider="lab",direction="input"} 20' in text and told == []


async def test_a_failed_call_is_counted_and_told() -> None:
    text, told = await counted(ProviderBusy("x"))
    assert 'bowerbird_provider_errors_total{provider="lab",error="ProviderBusy"} 1' in text
    assert len(told) == 1


@pytest.mark.parametrize("parked", [False, True])
async def test_a_call_that_was_never_made_is_neither(parked: bool) -> None:
    text, told = await counted(ModelResting("x", ProviderBusy("x"), 1.0, parked=parked))
    assert "provider_errors_total{" not in text and told == []
