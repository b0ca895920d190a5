"""Ollama: its window, its calls without ids, and what its models cannot do."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator

import pytest

from bot.core.errors import ContextTooLong, ModelMissing, ProviderFailed
from bot.core.model import ImageBlock, ModelStopReason
from tests.providers.bench import VENDORS, Bench, ask, assistant, called, result, user
from tests.sim.llm import LlmSim, answer, call, error_event, status, stop, text, usage


@pytest.fixture
async def ollama(sim: LlmSim) -> AsyncIterator[Bench]:
    bench = Bench(VENDORS["ollama"], sim)
    yield bench
    await bench.aclose()


async def test_b128_the_window_always_goes_along(ollama: Bench, sim: LlmSim) -> None:
    sim.script(*[answer(text("Hi"))] * 3)
    for more, model, expected in (
        ({}, {}, 8192),
        ({"window_tokens": 4096}, {}, 4096),
        ({}, {"window_tokens": 32768}, 32768),
    ):
        await ask(ollama.bare(**more), ollama.request(max_tokens=55, **model))
        assert sim.chats[-1].path == "/api/chat"
        assert sim.chats[-1].body["options"] == {"num_ctx": expected, "num_predict": 55}


async def test_b128_a_long_prompt_is_read_whole_where_the_window_has_room(
    ollama: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    sim.script(answer(text("Hi")))
    heard = await ask(ollama.bare(), ollama.request(user("word " * 7000), window_tokens=16384))
    assert heard.usage.input_tokens > 8500
    assert "was cut" not in caplog.text


async def test_b128_a_prompt_that_was_cut_is_reported(
    ollama: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    sim.script(answer(text("Hi")))
    heard = await ask(ollama.bare(), ollama.request(user("word " * 7000), window_tokens=4608))
    assert heard.text == "Hi"
    assert "4608 tokens of a prompt of about" in caplog.text


async def test_a_prompt_that_cannot_fit_is_not_sent(ollama: Bench, sim: LlmSim) -> None:
    heard = await ask(ollama.bare(window_tokens=1024), ollama.request(user("word " * 7000)))
    assert isinstance(heard.error, ContextTooLong)
    assert sim.requests == []


async def test_a_small_count_for_a_short_prompt_is_no_cut(
    ollama: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    sim.script(answer(text("Hi"), usage(input=3, output=1)))
    await ask(ollama.bare(), ollama.request())
    assert "was cut" not in caplog.text


async def test_calls_get_ids_of_ours_and_results_go_back_by_name_and_order(ollama: Bench, sim: LlmSim) -> None:
    provider = ollama.bare()
    sim.script(answer(call(None, "get_time"), call(None, "add", ('{"a":1}',))), answer(text("Noon.")))
    heard = await ask(provider, ollama.request())
    first, second = [said.id for said in heard.calls]
    assert first != second
    loop = [
        user("hi"),
        assistant(called(first), called(second, "add", a=1)),
        user(result(second, "1", name="add"), result(first)),
    ]
    await ask(provider, ollama.request(*loop))
    sent = sim.chats[-1].body["messages"]
    assert [call["function"]["name"] for call in sent[2]["tool_calls"]] == ["get_time", "add"]
    assert [(message["tool_name"], message["content"]) for message in sent[3:]] == [("get_time", "12:00"), ("add", "1")]


async def test_an_image_is_the_bytes_and_never_a_path(ollama: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("A file.")))
    await ask(ollama.bare(), ollama.request(user("what?", ImageBlock("image/png", b"/etc/passwd"))))
    assert sim.chats[0].body["messages"][-1]["images"] == [base64.b64encode(b"/etc/passwd").decode()]


async def test_a_model_without_tools_is_asked_without_them_from_then_on(ollama: Bench, sim: LlmSim) -> None:
    sim.settings.ollama_capabilities = ("completion",)
    provider = ollama.bare()
    sim.script(answer(text("One")), answer(text("Two")))
    assert (await ask(provider, ollama.request())).text == "One"
    assert [violation.message for violation in sim.violations] == [
        "registry.ollama.ai/library/llama3.2:3b does not support tools"
    ]
    sim.violations.clear()
    assert (await ask(provider, ollama.request())).text == "Two"
    assert "tools" not in sim.chats[-1].body


async def test_a_model_that_cannot_think_is_not_told_to(ollama: Bench, sim: LlmSim) -> None:
    sim.settings.ollama_capabilities = ("completion", "tools")
    sim.script(answer(text("One")))
    assert (await ask(ollama.bare(think=True), ollama.request())).text == "One"
    assert "does not support thinking" in sim.violations[0].message
    sim.violations.clear()


async def test_thinking_is_as_configured(ollama: Bench, sim: LlmSim) -> None:
    sim.script(*[answer(text("Hi"))] * 4)
    for more, expected in (({}, None), ({"think": False}, False), ({"think": True}, True), ({"think": "high"}, "high")):
        await ask(ollama.bare(**more), ollama.request())
        assert sim.chats[-1].body.get("think") == expected


async def test_a_model_that_is_not_there_is_missing(ollama: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(404, message="model 'llama9' not found")))
    heard = await ask(ollama.bare(), ollama.request(model="llama9"))
    assert isinstance(heard.error, ModelMissing)
    assert "llama9" in str(heard.error)


async def test_a_runner_that_died_is_a_failure(ollama: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("I"), error_event(message="an error was encountered while running the model: EOF")))
    heard = await ask(ollama.bare(), ollama.request())
    assert isinstance(heard.error, ProviderFailed)


async def test_a_load_reason_is_an_end(ollama: Bench, sim: LlmSim) -> None:
    for reason in ("load", None):
        sim.script(answer(text("Hi"), stop(reason)))
        assert (await ask(ollama.bare(), ollama.request())).stop.reason is ModelStopReason.END


async def test_addresses_are_forgiven_their_paths(ollama: Bench, sim: LlmSim) -> None:
    for path in ("/", "/api", "/v1/", ""):
        sim.script(answer(text("Hi")))
        assert (await ask(ollama.bare(base_url=sim.url + path), ollama.request())).text == "Hi"


async def test_a_key_goes_along_only_when_there_is_one(ollama: Bench, sim: LlmSim) -> None:
    sim.script(*[answer(text("Hi"))] * 2)
    await ask(ollama.bare(), ollama.request())
    assert sim.chats[-1].key_matches is True
    await ask(ollama.bare(api_key=""), ollama.request())
    assert sim.chats[-1].key_header is None


async def test_a_temperature_and_a_stay_are_sent_when_given(ollama: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(ollama.bare(keep_alive="10m"), ollama.request(temperature=0.1))
    assert sim.chats[0].body["options"]["temperature"] == 0.1
    assert sim.chats[0].body["keep_alive"] == "10m"


async def test_written_calls_count_here_too(ollama: Bench, sim: LlmSim) -> None:
    sim.script(answer(*map(text, '{"name":"add","arguments":{"a":1}}')))
    heard = await ask(ollama.bare(), ollama.request())
    assert heard.text == ""
    assert [(said.name, dict(said.arguments), said.invalid) for said in heard.calls] == [("add", {"a": 1}, "")]
