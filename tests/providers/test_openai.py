"""OpenAI and its many copies: what their streams really look like, and what their servers refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.core.errors import KeyRefused, ProviderFailed, RequestRefused, StreamCut
from bot.core.model import ModelStop, ModelStopReason, ModelText
from bot.providers.calls import CallIds
from bot.providers.chat_stream import ChatStream
from bot.providers.faults import Faults
from bot.providers.openai import is_openai
from tests.fakes.clock import FakeClock
from tests.providers.bench import KEY, VENDORS, Bench, Heard, ask, assistant, called, result, user
from tests.sim.llm import (
    LlmSim,
    answer,
    call,
    call_more,
    call_open,
    empty_choices,
    raw,
    status,
    stop,
    text,
    thinking,
    usage,
)
from tests.sim.llm.steps import Step


@pytest.fixture
async def openai(sim: LlmSim) -> AsyncIterator[Bench]:
    bench = Bench(VENDORS["openai"], sim)
    yield bench
    await bench.aclose()


def arguments(heard: Heard) -> list[tuple[str, Any, str]]:
    return [(said.name, dict(said.arguments), said.invalid) for said in heard.calls]


F, G = ("f", {"x": 1}, ""), ("g", {"y": 2}, "")
DIALECTS: dict[str, list[Step]] = {
    "B113 no index at all": [
        call("a", "f", ('{"x":', "1}"), index="none"),
        call("b", "g", ('{"y":2}',), index="none"),
    ],
    "B115 interleaved": [
        call_open("a", "f", '{"x":'),
        call_open("b", "g", '{"y":'),
        call_more("a", "1}"),
        call_more("b", "2}"),
    ],
    "B115 in the wrong order": [call("b", "g", ('{"y":2}',), index=1), call("a", "f", ('{"x":1}',), index=0)],
    "whole calls": [call("a", "f", ('{"x":1}',), whole=True), call("b", "g", ('{"y":2}',), whole=True)],
    "id and name in every piece": [
        call("a", "f", ('{"x":', "1}"), repeat_head=True),
        call("b", "g", ('{"y":', "2}"), repeat_head=True),
    ],
    "one index for all": [call("a", "f", ('{"x":1}',), index=0), call("b", "g", ('{"y":2}',), index=0)],
    "no ids": [call(None, "f", ('{"x":', "1}")), call(None, "g", ('{"y":', "2}"))],
    "no ids and no index": [
        call(None, "f", ('{"x":1}',), index="none", whole=True),
        call(None, "g", ('{"y":2}',), index="none", whole=True),
    ],
}


@pytest.mark.parametrize("steps", DIALECTS.values(), ids=DIALECTS.keys())
async def test_two_calls_are_two_calls_in_any_dialect(openai: Bench, sim: LlmSim, steps: list[Step]) -> None:
    sim.script(answer(*steps))
    heard = await ask(openai.bare(), openai.request())
    assert arguments(heard) == [F, G]
    assert heard.stop.reason is ModelStopReason.TOOL_USE


@pytest.mark.parametrize("index", [1, 7, "none"])
async def test_b117_a_single_call_may_have_any_index(openai: Bench, sim: LlmSim, index: Any) -> None:
    sim.script(answer(call("a", "f", ('{"x":', "1}"), index=index)))
    assert arguments(await ask(openai.bare(), openai.request())) == [F]


async def test_the_same_tool_may_be_called_twice_without_ids(openai: Bench, sim: LlmSim) -> None:
    twice = [call(None, "f", ('{"x":1}',), index="none", whole=True)] * 2
    sim.script(answer(*twice))
    heard = await ask(openai.bare(), openai.request())
    assert arguments(heard) == [F, F]
    assert len({said.id for said in heard.calls}) == 2


async def test_b111_b112_chunks_without_choices_are_passed_over(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(empty_choices(), text("Hi"), stop("stop"), usage(input=900, output=3, cached=512)))
    heard = await ask(openai.bare(), openai.request())
    assert heard.text == "Hi"
    assert (heard.usage.input_tokens, heard.usage.cache_read_tokens, heard.usage.output_tokens) == (900, 512, 3)


async def test_an_answer_without_a_finish_reason_is_cut_even_with_an_end_mark(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Half of"), stop(None)))
    heard = await ask(openai.bare(), openai.request())
    assert heard.text == "Half of"
    assert isinstance(heard.error, StreamCut)


async def test_a_cut_call_without_a_finish_reason_is_a_cut_stream(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("a", "f", ('{"x":',)), stop(None)))
    heard = await ask(openai.bare(), openai.request())
    assert heard.calls == []
    assert isinstance(heard.error, StreamCut)


async def test_a_filtered_answer_is_refused(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("I"), call("a", "f"), stop("filtered")))
    heard = await ask(openai.bare(), openai.request())
    assert heard.stop.reason is ModelStopReason.REFUSED
    assert heard.calls[0].invalid


async def test_a_refusal_in_words_is_text_and_refused(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(raw('data: {"choices":[{"delta":{"refusal":"I will not."}}]}\n\n'), stop("stop")))
    heard = await ask(openai.bare(), openai.request())
    assert (heard.text, heard.stop.reason) == ("I will not.", ModelStopReason.REFUSED)


async def test_a_finish_reason_that_means_failure_is_one(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("I"), stop("insufficient_system_resource")))
    assert isinstance((await ask(openai.bare(), openai.request())).error, ProviderFailed)


async def test_content_in_parts_is_text(openai: Bench, sim: LlmSim) -> None:
    parts = '[{"type":"thinking","thinking":"secret"},{"type":"text","text":"Hi"}]'
    sim.script(answer(raw(f'data: {{"choices":[{{"delta":{{"content":{parts}}}}}]}}\n\n'), text("!")))
    assert (await ask(openai.bare(), openai.request())).text == "Hi!"


async def test_a_server_that_does_not_stream_is_understood(openai: Bench, sim: LlmSim) -> None:
    call_ = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    message = {"role": "assistant", "content": "Hi", "tool_calls": [call_]}
    usage_ = {"prompt_tokens": 5, "completion_tokens": 2}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": usage_}
    sim.script(answer(status(200, body=whole)))
    heard = await ask(openai.bare(), openai.request())
    assert (heard.text, arguments(heard), heard.usage.input_tokens) == ("Hi", [F], 5)


async def test_an_error_with_status_200_is_an_error(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(200, body={"error": {"message": "bad key", "code": 401}})))
    assert isinstance((await ask(openai.bare(), openai.request())).error, KeyRefused)
    sim.script(answer(status(200, body={"object": "error", "message": "no", "code": 400})))
    assert isinstance((await ask(openai.bare(), openai.request())).error, RequestRefused)


async def test_a_local_servers_tags_and_written_calls_never_show(openai: Bench, sim: LlmSim) -> None:
    """B139 and B137 on the wire."""
    calls = '{"name":"get_time","arguments":{}} {"name":"add","arguments":{"a":1}}'
    sim.script(answer(*map(text, ["<thi", "nk>secret</th", "ink>\n\n", *calls]), stop("stop")))
    heard = await ask(openai.bare(), openai.request())
    assert heard.text == ""
    assert arguments(heard) == [("get_time", {}, ""), ("add", {"a": 1}, "")]
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_a_written_call_is_an_answer_where_no_tool_was_offered(openai: Bench, sim: LlmSim) -> None:
    written = '{"name":"get_time","arguments":{}}'
    sim.script(*[answer(text(written))] * 2)
    assert (await ask(openai.bare(), openai.request(tools=()))).text == written
    assert (await ask(openai.bare(), openai.request(tool_choice="none"))).text == written


def test_openais_own_models_do_not_write_calls() -> None:
    """An example of a call that a person asked for must be shown, not run."""
    request = Bench(VENDORS["openai"], LlmSim()).request()
    stream = ChatStream(request, Faults("openai"), CallIds(request, FakeClock()), vendor="openai", writes_calls=False)
    written = '{"name":"get_time","arguments":{}}'
    chunk = {"choices": [{"delta": {"content": written}, "finish_reason": "stop"}]}
    events = [*stream.feed(json.dumps(chunk)), *stream.end()]
    assert events == [ModelText(written), ModelStop(ModelStopReason.END, "stop")]
    assert is_openai("https://api.openai.com/v1")
    assert not is_openai("https://api.openai.com.example/v1")
    assert not is_openai("http://127.0.0.1:8000/v1")


async def test_a_written_call_beside_a_real_one_is_neither_shown_nor_run(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text('{"name":"add","arguments":{"a":1}}'), call("a", "add", ('{"a":1}',))))
    heard = await ask(openai.bare(), openai.request())
    assert (heard.text, arguments(heard)) == ("", [("add", {"a": 1}, "")])


async def test_split_surrogates_are_joined(openai: Bench, sim: LlmSim) -> None:
    halves = [raw(f'data: {{"choices":[{{"delta":{{"content":"{half}"}}}}]}}\n\n') for half in (r"a\ud83d", r"\udc26b")]
    sim.script(answer(*halves, stop("stop")))
    heard = await ask(openai.bare(), openai.request())
    assert heard.text == "a🐦b"
    assert all(event.text.encode() for event in heard.events if isinstance(event, ModelText))


async def test_reasoning_under_either_name_is_replayed_under_it(openai: Bench, sim: LlmSim) -> None:
    for name in ("reasoning_content", "reasoning"):
        sim.script(answer(thinking("plan", field=name), call("c1", "get_time")), answer(text("Noon.")))
        first = await ask(openai.bare(), openai.request(model="deepseek-v4"))
        loop = [user("hi"), assistant(*first.thoughts, called("c1")), user(result("c1"))]
        assert (await ask(openai.bare(), openai.request(*loop, model="deepseek-v4"))).text == "Noon."
        assert sim.chats[-1].body["messages"][2][name] == "plan"


async def test_a_temperature_that_the_model_refuses_is_left_out_from_then_on(openai: Bench, sim: LlmSim) -> None:
    provider = openai.bare()
    sim.script(answer(text("One")), answer(text("Two")))
    assert (await ask(provider, openai.request(temperature=0.2))).text == "One"
    assert [violation.param for violation in sim.violations] == ["temperature"]
    sim.violations.clear()
    assert (await ask(provider, openai.request(temperature=0.2))).text == "Two"
    assert "temperature" not in sim.chats[-1].body


async def test_a_temperature_that_the_model_takes_is_sent(openai: Bench, sim: LlmSim) -> None:
    sim.script(*[answer(text("One"))] * 2)
    await ask(openai.bare(), openai.request(temperature=0.2, model="gpt-4.1-mini"))
    assert sim.chats[-1].body["temperature"] == 0.2
    await ask(openai.bare(), openai.request(model="gpt-4.1-mini"))
    assert "temperature" not in sim.chats[-1].body


async def test_an_old_server_gets_the_old_name_of_the_limit(openai: Bench, sim: LlmSim) -> None:
    refusal = {"message": "body.max_completion_tokens: Extra inputs are not permitted", "type": "BadRequestError"}
    sim.script(answer(status(422, body={"error": refusal})), answer(text("Hi")))
    assert (await ask(openai.bare(), openai.request(max_tokens=77, model="llama-3"))).text == "Hi"
    bodies = [seen.body for seen in sim.chats]
    assert [body.get("max_completion_tokens") for body in bodies] == [77, None]
    assert bodies[1]["max_tokens"] == 77


async def test_a_limit_that_is_too_large_is_not_taken_for_an_unknown_name(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(400, message="max_completion_tokens is too large: 99. This model takes at most 9.")))
    heard = await ask(openai.bare(), openai.request(max_tokens=99))
    assert isinstance(heard.error, RequestRefused)
    assert len(sim.chats) == 1


async def test_a_schema_is_strict_only_where_strict_mode_takes_it(openai: Bench, sim: LlmSim) -> None:
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    strict = {**loose, "required": ["a"], "additionalProperties": False}
    for schema, expected in ((loose, False), (strict, True)):
        sim.script(answer(text("{}")))
        await ask(openai.bare(), openai.request(schema=schema, tools=()))
        assert sim.chats[-1].body["response_format"]["json_schema"]["strict"] is expected


async def test_effort_is_sent_when_set(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(openai.bare(effort="low"), openai.request())
    assert sim.chats[-1].body["reasoning_effort"] == "low"


async def test_a_server_without_keys_is_asked_without_ours(openai: Bench, sim: LlmSim) -> None:
    sim.api_key = None
    sim.script(answer(text("Hi")))
    assert (await ask(openai.bare(api_key=""), openai.request())).text == "Hi"


async def test_openai_itself_is_not_asked_without_a_key(openai: Bench, sim: LlmSim) -> None:
    provider = openai.bare(api_key="")
    heard = await ask(provider, openai.request(endpoint="https://api.openai.com/v1"))
    assert isinstance(heard.error, KeyRefused)
    assert sim.requests == []


async def test_the_key_goes_as_a_bearer(openai: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(openai.bare(api_key=f"  {KEY}\n"), openai.request())
    assert (sim.chats[-1].key_header, sim.chats[-1].key_matches) == ("authorization", True)
