"""How much a model reads is asked of its provider once, beside the work, in each server's own words, and remembered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.core.errors import ContextTooLong
from bot.core.model import ModelRef
from bot.net.http import Transport
from bot.providers.models import Models
from bot.providers.serving import window_at
from bot.providers.windows import AGAIN_SECONDS, DAY, Telling, named_in
from tests.fakes.clock import FakeClock
from tests.fakes.notes import MemoryNotes
from tests.fakes.saying import saying
from tests.providers.bench import VENDORS, Bench, ask, user
from tests.sim.llm import LlmSim, When, answer, error_event, status, text


@asynccontextmanager
async def learning(bench: Bench, notes: MemoryNotes, clock: FakeClock, **more: Any) -> AsyncIterator[Models]:
    """The providers of the house as they run, with what asks for windows beside them."""
    http = Transport()
    models = Models([bench._entry(more)], clock, Random(7), Path("unused"), http, notes)
    await models.load()
    task = asyncio.create_task(models.learn_windows())
    try:
        yield models
    finally:
        task.cancel()
        await asyncio.wait([task])
        await models.aclose()
        await http.aclose()


async def settled(models: Models) -> None:
    async with asyncio.timeout(5):
        while models._windows._waiting:
            await asyncio.sleep(0.002)


def questions(sim: LlmSim) -> list[str]:
    """The paths of what was asked besides answers."""
    return [seen.path for seen in sim.requests if seen.endpoint != "chat"]


TOLD = {"anthropic": 200_000, "ollama": 8_192, "openai": 32_768}


async def test_a_model_that_has_answered_is_asked_about_once_and_over_restarts_not_again(
    bench: Bench, sim: LlmSim
) -> None:
    sim.settings.server = "vllm"
    sim.settings.openai_models = ("gpt-5.4-mini",)
    sim.script(answer(text("Hi"), repeat=True))
    notes, clock, request = MemoryNotes(), FakeClock(), bench.request()
    async with learning(bench, notes, clock) as models:
        await ask(models, request)
        await settled(models)
        assert questions(sim) == [], "nobody wants to know"
        assert models.window(request.model) is None and questions(sim) == [], "not before it is in use"
        for _ in range(3):
            await ask(models, request)
            await settled(models)
        assert models.window(request.model) == TOLD[bench.kind]
        assert len(questions(sim)) == 1
    async with learning(bench, notes, clock) as models:
        assert models.window(request.model) == TOLD[bench.kind]
        await ask(models, request)
        await settled(models)
        assert len(questions(sim)) == 1
        sim.settings.window_tokens = 4_000
        await clock.advance(DAY + 1)
        assert models.window(request.model) == TOLD[bench.kind], "until there is something newer"
        await ask(models, request)
        await settled(models)
        assert models.window(request.model) == (8_192 if bench.kind == "ollama" else 4_000)


async def test_the_first_words_do_not_wait_for_the_window(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    async with asyncio.timeout(5), learning(bench, MemoryNotes(), FakeClock()) as models:
        models.window(bench.request().model)
        started = models.stream(bench.request())
        async with started as events:
            async for _ in events:
                assert questions(sim) == []


async def test_a_provider_that_cannot_tell_now_is_asked_later_and_later(bench: Bench, sim: LlmSim) -> None:
    sim.settings.server = "vllm"
    sim.settings.openai_models = ("gpt-5.4-mini",)
    endpoint = {"anthropic": "model", "openai": "models", "ollama": "show"}[bench.kind]
    sim.script(answer(text("Hi"), repeat=True), *[answer(status(503), when=When(endpoint=endpoint))] * 2)
    clock, request = FakeClock(), bench.request()
    async with learning(bench, MemoryNotes(), clock) as models:
        asked = []
        models.window(request.model)
        for wait in (0.0, 1.0, AGAIN_SECONDS, AGAIN_SECONDS, AGAIN_SECONDS + 1):
            await clock.advance(wait)
            assert (await ask(models, request)).text == "Hi"
            await settled(models)
            asked.append(len(questions(sim)))
        assert asked == [1, 1, 2, 2, 3]
        assert models.window(request.model) == TOLD[bench.kind]


async def test_a_provider_whose_key_rests_is_asked_nothing(bench: Bench, sim: LlmSim) -> None:
    if bench.kind == "ollama":
        pytest.skip("it has no keys to refuse")
    sim.script(answer(status(401), repeat=True))
    clock, request = FakeClock(), bench.request()
    async with learning(bench, MemoryNotes(), clock) as models:
        models.window(request.model)
        for _ in range(3):
            assert (await ask(models, request)).error is not None
            await settled(models)
            await clock.advance(3 * AGAIN_SECONDS)
        assert len(sim.chats) == 1 and len(questions(sim)) <= 1


async def test_what_was_noted_and_cannot_be_read_is_asked_again(bench: Bench, sim: LlmSim) -> None:
    notes, clock = MemoryNotes(), FakeClock()
    for noted in ("{", "[]", '{"x": 5}', '{"x": ["a", 1]}'):
        notes.values["windows"] = noted
        async with learning(bench, notes, clock) as models:
            assert models.window(bench.request().model) is None


async def _told(sim: LlmSim, kind: str, **more: Any) -> int | None:
    bench = Bench(VENDORS[kind], sim)
    provider = bench.bare(**more)
    assert isinstance(provider, Telling)
    try:
        return await provider.window(bench.request().model)
    finally:
        await bench.aclose()


@pytest.mark.parametrize(
    ("server", "tokens", "asked"),
    [
        ("openai", None, ["/v1/models"]),
        ("vllm", 20_000, ["/v1/models"]),
        ("groq", 20_000, ["/v1/models"]),
        ("openrouter", 20_000, ["/v1/models"]),
        ("llamacpp", 20_000, ["/v1/models", "/props"]),
        ("lmstudio", 20_000, ["/v1/models", "/api/v0/models/gpt-5.4-mini"]),
        ("ollama", None, ["/v1/models", "/api/ps"]),
    ],
)
async def test_each_compatible_server_is_understood(
    sim: LlmSim, server: Any, tokens: int | None, asked: list[str]
) -> None:
    sim.settings.server, sim.settings.window_tokens = server, 20_000
    sim.settings.openai_models = ("gpt-5.4-mini", "another")
    assert await _told(sim, "openai") == tokens
    assert questions(sim) == asked


async def test_behind_the_openai_style_api_of_ollama_what_is_loaded_counts(sim: LlmSim) -> None:
    sim.settings.server, sim.settings.ollama_num_ctx = "ollama", 4_096
    http = Transport()
    try:
        key = {"Authorization": f"Bearer {sim.api_key}"}
        assert await window_at(http, sim.openai_url, key, "llama3.2:3b") == 4_096
    finally:
        await http.aclose()


async def test_openais_own_list_is_not_asked_for_what_it_does_not_tell(sim: LlmSim) -> None:
    assert await _told(sim, "openai", base_url="https://api.openai.com/v1") is None
    assert sim.requests == []


@pytest.mark.parametrize(
    ("parameters", "remote", "config", "tokens"),
    [
        ("", "", {}, 8_192),
        ('stop "<|end|>"\nnum_ctx                        16384\ntemperature 0.6', "", {}, 16_384),
        ("num_ctx 131072", "", {}, 40_960),
        ("num_ctx 16384", "", {"window_tokens": 4_096}, 4_096),
        ("", "", {"window_tokens": 65_536}, 40_960),
        ("", "https://ollama.com:443", {}, 40_960),
    ],
    ids=["usual", "set up here", "more than it has", "config wins", "config beyond the model", "runs elsewhere"],
)
async def test_an_ollama_model_gets_what_it_was_set_up_with_and_no_more_than_it_has(
    sim: LlmSim, parameters: str, remote: str, config: dict[str, int], tokens: int
) -> None:
    sim.settings.ollama_parameters, sim.settings.ollama_remote = parameters, remote
    assert await _told(sim, "ollama", **config) == tokens


@pytest.mark.parametrize(
    "body", [b"[]", b'{"data": 3}', b'{"data": [{"id": "x", "max_model_len": "many"}]}', b"<html>"]
)
async def test_nonsense_is_no_window(body: bytes) -> None:
    http, found = Transport(), 0
    async with saying(body) as url:
        try:
            found = await window_at(http, url, {}, "x") or 0
        except Exception as error:  # noqa: BLE001  (which one is looked at)
            assert type(error).__name__ in ("StreamGarbled",)
        finally:
            await http.aclose()
    assert found == 0


COMPLAINTS = [
    ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input", 200_000),
    ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8_192),
    ("This endpoint's maximum context length is 65536 tokens.", 65_536),
    ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
    ("However, the model is loaded with context length of only 7866 tokens, which is not enough.", 7_866),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 7_424),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1,048,576).", 1_048_576),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072),
    ("Invalid request: Your request exceeded model token limit: 8192", 8_192),
    ("at least 9000 tokens for 8192", None),
    ("Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000", None),
]


@pytest.mark.parametrize(("words", "tokens"), COMPLAINTS)
def test_the_refusal_of_a_long_prompt_may_name_the_window(words: str, tokens: int | None) -> None:
    assert named_in(words) == tokens


@pytest.mark.parametrize("in_stream", [False, True], ids=["status 400", "in the stream"])
async def test_a_window_that_a_refusal_names_is_known_at_once(bench: Bench, sim: LlmSim, in_stream: bool) -> None:
    words = "This model's maximum context length is 24000 tokens. However, your messages resulted in 25000 tokens."
    fault = error_event("invalid_request_error", words) if in_stream else status(400, message=words)
    sim.script(answer(fault))
    notes, request = MemoryNotes(), bench.request(user("hi"))
    async with learning(bench, notes, FakeClock()) as models:
        assert isinstance((await ask(models, request)).error, ContextTooLong)
        assert models.window(request.model) == 24_000
    assert "24000" in notes.values["windows"]


def test_models_of_an_unknown_provider_have_no_window() -> None:
    models = Models([], FakeClock(), Random(7), Path("unused"), Transport())
    assert models.window(ModelRef("nobody", "x")) is None
