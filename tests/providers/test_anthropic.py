"""Anthropic: cache marks, signed reasoning, stop reasons, and what its API refuses."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bot.core.errors import NoCredit, ProviderBusy
from bot.core.model import CallBlock, ModelCall, ModelStopReason, ModelText, ModelThought, ModelUsage, ThinkingBlock
from tests.providers.bench import VENDORS, Bench, ask, assistant, called, result, user
from tests.sim.llm import LlmSim, answer, call, error_event, raw, redacted, status, stop, text, thinking, usage

SHOWN = {"thinking": {"type": "adaptive", "display": "summarized"}}


@pytest.fixture
async def anthropic(sim: LlmSim) -> AsyncIterator[Bench]:
    bench = Bench(VENDORS["anthropic"], sim)
    yield bench
    await bench.aclose()


def marks(body: dict[str, Any]) -> Iterator[str]:
    """Where the cache marks stand."""
    for part in ("tools", "system"):
        yield from (f"{part}.{n}" for n, block in enumerate(body.get(part, [])) if "cache_control" in block)
    for n, message in enumerate(body["messages"]):
        yield from (f"{n}.{k}" for k, block in enumerate(message["content"]) if "cache_control" in block)


async def test_the_key_and_the_version_are_the_librarys(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(anthropic.bare(), anthropic.request())
    assert (sim.chats[0].key_header, sim.chats[0].key_matches) == ("authorization", True)
    assert sim.chats[0].headers["anthropic-version"] == "2026-10-21"


async def test_sampling_parameters_are_never_sent(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(anthropic.bare(), anthropic.request(temperature=0.7))
    assert not {"temperature", "top_p", "top_k"} & sim.chats[0].body.keys()


async def test_cache_marks_stand_where_the_next_turn_and_the_next_step_find_them(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(*[answer(text("Hi"))] * 3)
    turns = [user("one"), assistant("Hi"), user("two")]
    step = [*turns, assistant("Let me see.", called("c1"), called("c2")), user(result("c1"), result("c2"))]
    places = []
    for messages in ([user("one")], turns, step):
        await ask(anthropic.bare(), anthropic.request(*messages))
        places.append(sorted(marks(sim.chats[-1].body)))
    assert places == [
        ["0.0", "system.0", "tools.1"],
        ["1.0", "2.0", "system.0", "tools.1"],
        ["1.0", "4.1", "system.0", "tools.1"],
    ]


async def test_the_second_step_and_the_next_turn_read_from_the_cache(anthropic: Bench, sim: LlmSim) -> None:
    sim.settings.cache_floor_tokens = 100
    provider, system = anthropic.bare(), "word " * 400
    sim.script(answer(text("See."), call("c1", "get_time")), answer(text("Noon.")), answer(text("Yes.")))
    first = await ask(provider, anthropic.request(user("time? [now 11:59]"), system=system))
    loop = [user("time? [now 11:59]"), assistant("See.", called("c1")), user(result("c1"))]
    second = await ask(provider, anthropic.request(*loop, system=system))
    later = [user("time?"), assistant("See.", called("c1")), user(result("c1")), assistant("Noon."), user("sure?")]
    third = await ask(provider, anthropic.request(*later, system=system))
    assert first.usage.cache_write_tokens > 400
    assert second.usage.cache_read_tokens >= first.usage.cache_write_tokens
    assert third.usage.cache_read_tokens > 400
    for heard in (first, second, third):
        assert heard.usage.input_tokens >= heard.usage.cache_read_tokens + heard.usage.cache_write_tokens


async def test_input_tokens_are_the_whole_prompt(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi"), usage(input=100, cached=2000, written=300, output=5)))
    heard = await ask(anthropic.bare(), anthropic.request())
    assert (heard.usage.input_tokens, heard.usage.output_tokens) == (2400, 5)
    assert (heard.usage.cache_read_tokens, heard.usage.cache_write_tokens) == (2000, 300)


async def test_tokens_are_known_before_the_first_word(anthropic: Bench, sim: LlmSim) -> None:
    """Whoever stops an answer half-way still pays for its prompt."""
    sim.script(answer(text("Hi")))
    heard = await ask(anthropic.bare(), anthropic.request())
    first = next(event for event in heard.events if isinstance(event, ModelUsage | ModelText))
    assert isinstance(first, ModelUsage)
    assert first.usage.input_tokens > 0


REASONS = {
    "end_turn": ModelStopReason.END,
    "stop_sequence": ModelStopReason.END,
    "max_tokens": ModelStopReason.MAX_TOKENS,
    "pause_turn": ModelStopReason.PAUSED,
    "refusal": ModelStopReason.REFUSED,
    "model_context_window_exceeded": ModelStopReason.CONTEXT_FULL,
    "something_new": ModelStopReason.END,
}


@pytest.mark.parametrize(("raw_reason", "expected"), REASONS.items())
async def test_every_stop_reason_has_its_word(
    anthropic: Bench, sim: LlmSim, raw_reason: str, expected: ModelStopReason
) -> None:
    sim.script(answer(text("Hi"), stop(raw_reason)))
    heard = await ask(anthropic.bare(), anthropic.request())
    assert (heard.stop.reason, heard.stop.raw) == (expected, raw_reason)


async def test_calls_of_a_refused_answer_never_run(anthropic: Bench, sim: LlmSim) -> None:
    for reason in ("refusal", "pause_turn", "model_context_window_exceeded"):
        sim.script(answer(call("c1", "get_time"), stop(reason)))
        heard = await ask(anthropic.bare(), anthropic.request())
        assert heard.calls[0].invalid
        assert heard.stop.reason is REASONS[reason]


async def test_redacted_reasoning_is_replayed_as_it_came(anthropic: Bench, sim: LlmSim) -> None:
    provider = anthropic.bare()
    sim.script(answer(redacted("EncryptedData=="), call("c1", "get_time")), answer(text("Noon.")))
    first = await ask(provider, anthropic.request())
    assert [block.text for block in first.thoughts] == [""]
    loop = [user("hi"), assistant(*first.thoughts, *map(CallBlock, first.calls)), user(result("c1"))]
    assert (await ask(provider, anthropic.request(*loop))).text == "Noon."
    sent = sim.chats[-1].body["messages"][1]["content"][0]
    assert sent == {"type": "redacted_thinking", "data": "EncryptedData=="}


async def test_reasoning_between_calls_keeps_its_place(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(thinking("a"), call("c1", "get_time"), thinking("b"), call("c2", "get_time")))
    heard = await ask(anthropic.bare(**SHOWN), anthropic.request())
    order = [event for event in heard.events if isinstance(event, ModelThought | ModelCall)]
    assert [event.block.text if isinstance(event, ModelThought) else event.call.id for event in order] == [
        "a",
        "c1",
        "b",
        "c2",
    ]


async def test_reasoning_bound_to_another_beginning_is_dropped_and_the_turn_goes_on(
    anthropic: Bench, sim: LlmSim, caplog: pytest.LogCaptureFixture
) -> None:
    """The history was cut in the middle of a tool loop: the API refuses the block there."""
    provider = anthropic.bare()
    sim.script(answer(thinking("a"), call("c1", "get_time")), answer(text("Noon.")))
    asked = [user("long ago"), assistant("Yes."), user("time?")]
    first = await ask(provider, anthropic.request(*asked, model="claude-fable-5-2"))
    said = assistant(*first.thoughts, *map(CallBlock, first.calls))
    second = await ask(provider, anthropic.request(user("time?"), said, user(result("c1")), model="claude-fable-5-2"))
    assert second.text == "Noon."
    assert [violation.message for violation in sim.violations if "different conversation" in violation.message]
    assert "refused reasoning" in caplog.text
    sim.violations.clear()


async def test_reasoning_that_was_never_signed_is_not_kept(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(thinking("endless", signature=""), stop("max_tokens")))
    heard = await ask(anthropic.bare(**SHOWN), anthropic.request())
    assert heard.thoughts == []
    assert heard.stop.reason is ModelStopReason.MAX_TOKENS


async def test_the_next_turn_is_accepted_when_the_beginning_changed(anthropic: Bench, sim: LlmSim) -> None:
    """What stands next to the person's message (date, memory) is rebuilt each turn; older reasoning hangs on it."""
    provider = anthropic.bare()
    sim.script(answer(thinking("a"), call("c1", "get_time")), answer(text("Noon.")), answer(text("Sure.")))
    first = await ask(provider, anthropic.request(user("[11:59] time?")))
    said = assistant(*first.thoughts, *map(CallBlock, first.calls))
    await ask(provider, anthropic.request(user("[11:59] time?"), said, user(result("c1"))))
    later = [user("time?"), said, user(result("c1")), assistant("Noon."), user("[12:01] sure?")]
    assert (await ask(provider, anthropic.request(*later))).text == "Sure."


async def test_a_spent_account_is_told_by_its_words(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(400, "insufficient_quota")))
    assert isinstance((await ask(anthropic.bare(), anthropic.request())).error, NoCredit)


async def test_a_rate_limit_inside_the_stream_is_busy(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(error_event("rate_limit_error", "slow down")))
    assert isinstance((await ask(anthropic.bare(), anthropic.request())).error, ProviderBusy)


async def test_input_sent_whole_with_its_block_is_read(anthropic: Bench, sim: LlmSim) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    sim.script(answer(raw(f"data: {json.dumps(start)}\n\ndata: {json.dumps(end)}\n\n")))
    heard = await ask(anthropic.bare(), anthropic.request())
    assert [dict(said.arguments) for said in heard.calls] == [{"a": 1}]


async def test_effort_and_thinking_are_sent_when_set(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    await ask(anthropic.bare(effort="low", **SHOWN), anthropic.request())
    assert sim.chats[0].body["output_config"] == {"effort": "low"}
    assert sim.chats[0].body["thinking"] == SHOWN["thinking"]


async def test_schemas_are_closed(anthropic: Bench, sim: LlmSim) -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}}
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}
    sim.script(answer(text("{}")))
    await ask(anthropic.bare(), anthropic.request(schema=schema, tools=()))
    sent = sim.chats[0].body["output_config"]["format"]["schema"]
    assert sent["additionalProperties"] is False
    assert sent["properties"]["a"]["items"]["additionalProperties"] is False
    assert "additionalProperties" not in schema


async def test_an_address_may_end_in_v1(anthropic: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi")))
    assert (await ask(anthropic.bare(base_url=f"{sim.url}/v1/"), anthropic.request())).text == "Hi"


async def test_a_foreign_block_in_the_running_loop_does_not_stop_it(anthropic: Bench, sim: LlmSim) -> None:
    foreign = ThinkingBlock("openai", "plan", '{"reasoning_content":"plan"}')
    sim.script(answer(text("Noon.")))
    heard = await ask(
        anthropic.bare(), anthropic.request(user("t"), assistant(foreign, called("c1")), user(result("c1")))
    )
    assert heard.text == "Noon."
