"""Keys are proven by asking; what comes back says what to do."""

from __future__ import annotations

import asyncio
import importlib

import pytest

from bot.core.errors import KeyRefused, ModelMissing, StreamGarbled, TransportError
from bot.providers.proof import proven
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


async def test_a_web_page_is_not_a_model_service() -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = b"<!doctype html><title>Welcome</title>"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(page, "127.0.0.1", 0) as server:
        with pytest.raises(StreamGarbled, match="base_url"):
            await proven(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/models", {})
