"""Keys are proven by asking; what comes back says what to do."""

from __future__ import annotations

import importlib

import pytest
from pydantic import SecretStr

from bot.core.errors import KeyRefused, ModelMissing, StreamGarbled, TransportError
from bot.providers.ollama import provider as ollama
from bot.providers.proof import proven
from tests.fakes.saying import PAGE, saying
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
    async with saying(PAGE) as url:
        with pytest.raises(StreamGarbled, match=r"web page.*base_url"):
            await proven(f"{url}/v1/models", {})
    async with saying(b"", "302 Found") as url:
        with pytest.raises(StreamGarbled, match=r"points to another one.*base_url"):
            await proven(f"{url}/v1/models", {})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (PAGE, "is a web page"),
        (b"Ollama is running", "does not answer as a model service does"),
        (b"{}", "not as Ollama does"),
        (b'{"object": "list", "data": [{"id": "gpt-5"}]}', "not as Ollama does"),
        (b'{"models": "many"}', "not as Ollama does"),
        (b'{"models": [{"id": "x"}]}', "not as Ollama does"),
        (b'{"models": ["x"]}', "not as Ollama does"),
    ],
)
async def test_what_is_no_ollama_is_not_taken_for_one(body: bytes, words: str) -> None:
    async with saying(body) as url:
        with pytest.raises(StreamGarbled, match=words):
            await ollama.probe(ollama.Config(base_url=url))


async def test_an_ollama_says_how_much_it_has_and_takes_its_key() -> None:
    async with saying(b'{"models": [{"name": "qwen3:4b"}]}', key="sk-o") as url:
        right = ollama.Config(base_url=url, api_key=SecretStr("sk-o"))
        assert await ollama.probe(right) == "Ollama runs and has 1 model"
        with pytest.raises(KeyRefused):
            await ollama.probe(ollama.Config(base_url=url))
    async with saying(b'{"models": null}') as url:
        assert await ollama.probe(ollama.Config(base_url=url)) == "Ollama runs and has no models"
