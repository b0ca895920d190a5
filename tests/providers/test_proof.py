"""Keys are proven by asking; what comes back says what to do."""

from __future__ import annotations

import importlib

import pytest

from bot.core.errors import KeyRefused, ModelMissing, TransportError
from tests.providers.bench import KEY
from tests.sim.llm import LlmSim


@pytest.mark.parametrize(
    ("module", "path"), [("bot.providers.openai", "/v1"), ("bot.providers.anthropic.provider", "")]
)
async def test_a_key_is_accepted_or_refused_by_its_vendor(sim: LlmSim, module: str, path: str) -> None:
    vendor = importlib.import_module(module)
    right = vendor.Config.model_validate({"api_key": KEY, "base_url": sim.url + path})
    assert await vendor.probe(right) == "the key is accepted"
    with pytest.raises(KeyRefused, match="not accepted"):
        await vendor.probe(vendor.Config.model_validate({"api_key": "sk-wrong", "base_url": sim.url + path}))
    with pytest.raises(ModelMissing, match="base_url"):
        await vendor.probe(vendor.Config.model_validate({"api_key": KEY, "base_url": sim.url + "/nowhere"}))
    with pytest.raises(TransportError):
        await vendor.probe(vendor.Config.model_validate({"api_key": KEY, "base_url": "http://127.0.0.1:9"}))
    sim.violations.clear()
