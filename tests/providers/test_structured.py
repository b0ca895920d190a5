"""Answers of a given shape over the wire: held to it where the vendor can, told in words elsewhere, begun where it helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bot.brain.structured import structured
from bot.core.errors import ModelMissing, StructuredFailed
from bot.core.model import ModelRequest
from tests.providers.bench import VENDORS, Bench, SleeplessClock, ask, user
from tests.providers.matrix import KINDS, OPENAI_URL, house
from tests.sim.llm import LlmSim, answer, status, stop, text


class Verdict(BaseModel):
    intent: str
    score: int


SCHEMA = {**Verdict.model_json_schema(), "additionalProperties": False}
GOOD = '{"intent": "time", "score": 9}'
WORDS = "fits this JSON Schema"


def shaped(bench: Bench, **more: Any) -> ModelRequest:
    return bench.request(user("what is the time?"), tools=(), schema=SCHEMA, **more)


async def verdict(bench: Bench, **more: Any) -> Verdict:
    return await structured(bench.wrapped(SleeplessClock()), shaped(bench, **more), Verdict.model_validate)


async def test_every_vendor_that_can_is_held_to_the_shape(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text('{"intent": '), text('"time", "score": 9}')))
    assert await verdict(bench) == Verdict(intent="time", score=9)
    body = sim.chats[0].body
    held = {
        "anthropic": lambda: body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA},
        "openai": lambda: body["response_format"]["json_schema"]["strict"] is True,
        "ollama": lambda: body["format"] == SCHEMA,
    }[bench.kind]
    assert held()
    assert "tools" not in body
    assert (WORDS in json.dumps(body)) is (bench.kind != "anthropic"), "others may take it and not keep to it"


async def test_openai_itself_needs_no_words(sim: LlmSim, tmp_path: Path) -> None:
    sim.api_key = None
    async with house(KINDS["openai"], sim, tmp_path) as home:
        home.script(answer(text(GOOD)))
        bench = Bench(VENDORS["openai"], sim)
        request = shaped(bench)
        asked = ModelRequest(home.chain[0], request.system, request.messages, schema=SCHEMA)
        assert (await structured(home.models, asked, Verdict.model_validate)).intent == "time"
        assert home.kind.own == OPENAI_URL
        body = sim.chats[0].body
        assert "response_format" in body and WORDS not in json.dumps(body)
        await bench.aclose()


REFUSALS = {
    "anthropic": "output_config.format: This model does not support structured outputs.",
    "openai": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "ollama": 'invalid format: expected "json" or a JSON schema',
}


async def test_a_model_that_takes_no_schema_is_told_it_in_words_from_then_on(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(400, message=REFUSALS[bench.kind])), answer(text(GOOD), repeat=True))
    provider = bench.wrapped(SleeplessClock())
    for _ in range(2):
        request = shaped(bench)
        assert (await structured(provider, request, Verdict.model_validate)).score == 9
    if bench.kind == "anthropic":  # its newest models take no beginning either
        assert len(sim.chats) == 4
        assert "prefill" in sim.violations[0].message
        sim.violations.clear()
    last = sim.chats[-1].body
    assert not {"response_format", "output_config", "format"} & last.keys()
    assert WORDS in json.dumps(last)


async def test_an_older_claude_goes_on_from_the_beginning_of_the_object(sim: LlmSim) -> None:
    bench = Bench(VENDORS["anthropic"], sim)
    sim.script(answer(text('"intent": "time", '), text('"score": 9}')))
    assert (await verdict(bench, model="claude-sonnet-4-0")).intent == "time"
    assert [violation.message for violation in sim.violations] == [REFUSALS["anthropic"]]
    sim.violations.clear()
    last = sim.chats[-1].body["messages"][-1]
    assert last == {"role": "assistant", "content": [{"type": "text", "text": "{"}]}
    await bench.aclose()


async def test_a_beginning_without_a_schema_is_part_of_the_text(sim: LlmSim) -> None:
    bench = Bench(VENDORS["anthropic"], sim)
    provider = bench.bare()
    sim.script(answer(text(" upon a time")), answer(text("Once upon a time")))
    heard = await ask(provider, bench.request(model="claude-sonnet-4-5", prefill="Once "))
    assert heard.text == "Once upon a time"
    heard = await ask(provider, bench.request(prefill="Once "))
    assert heard.text == "Once upon a time", "a model that takes none writes it itself"
    assert len(sim.chats) == 3
    sim.violations.clear()
    await bench.aclose()


async def test_no_beginning_is_given_to_a_model_that_reasons_first(sim: LlmSim) -> None:
    bench = Bench(VENDORS["anthropic"], sim)
    sim.script(answer(text("Once upon a time")))
    provider = bench.bare(thinking={"type": "enabled", "budget_tokens": 1024})
    heard = await ask(provider, bench.request(model="claude-sonnet-4-5", max_tokens=4096, prefill="Once"))
    assert heard.text == "Once upon a time"
    assert sim.chats[0].body["messages"][-1]["role"] == "user"
    await bench.aclose()


async def test_a_wrong_object_is_mended_once(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text('{"intent": "time"}')), answer(text(GOOD)))
    assert (await verdict(bench)).score == 9
    assert "Field required" in json.dumps(sim.chats[1].body)


async def test_a_cut_object_is_asked_for_again_within_the_bound(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text('{"intent": "ti'), stop("cut")), answer(text(GOOD)))
    assert (await verdict(bench, max_tokens=90_000)).score == 9
    limits = [
        body.get("max_tokens") or body.get("max_completion_tokens") or body["options"]["num_predict"]
        for body in (seen.body for seen in sim.chats)
    ]
    assert limits == [4096, 4096]


async def test_a_model_that_is_not_there_is_a_clear_failure(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(404)))
    with pytest.raises(StructuredFailed) as failed:
        await verdict(bench)
    assert isinstance(failed.value.cause, ModelMissing)
