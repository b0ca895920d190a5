"""The model simulator, driven by the real client libraries: what they see, what it refuses, what it records."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from functools import cached_property
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest
import pytest_asyncio

from tests.sim.llm import (
    LlmSim,
    Settings,
    When,
    answer,
    begin,
    call,
    call_more,
    call_open,
    drop,
    empty_choices,
    end_early,
    error_event,
    garbage,
    gate,
    ping,
    raw,
    redacted,
    sleep,
    stall,
    status,
    stop,
    text,
    thinking,
    usage,
)
from tests.sim.llm.script import answer_from_json

USER: list[Any] = [{"role": "user", "content": "hi"}]
CLAUDE, GPT, QWEN = "claude-opus-5-5", "gpt-5.1", "qwen3:8b"
TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object", "properties": {}}}
VENDORS = ("anthropic", "openai", "ollama")
ROOT = Path(__file__).resolve().parents[2]


@pytest_asyncio.fixture
async def sim() -> AsyncIterator[LlmSim]:
    async with LlmSim() as running:
        yield running


class Clients:
    """The three real clients on one simulator, with no retries of their own."""

    def __init__(self, sim: LlmSim, read_timeout: float = 5.0) -> None:
        self._sim = sim
        self._timeout = httpx2.Timeout(5.0, read=read_timeout)
        self._made: list[httpx2.AsyncClient | ollama.AsyncClient] = []

    def _http(self) -> httpx2.AsyncClient:
        self._made.append(client := httpx2.AsyncClient(timeout=self._timeout, verify=False))
        return client

    @cached_property
    def claude(self) -> anthropic.AsyncAnthropic:
        sim, http = self._sim, self._http()
        return anthropic.AsyncAnthropic(base_url=sim.url, api_key="sk-test", max_retries=0, http_client=http)

    @cached_property
    def gpt(self) -> openai.AsyncOpenAI:
        sim, http = self._sim, self._http()
        return openai.AsyncOpenAI(base_url=sim.openai_url, api_key="sk-test", max_retries=0, http_client=http)

    @cached_property
    def ollama(self) -> ollama.AsyncClient:
        client = ollama.AsyncClient(self._sim.url, timeout=self._timeout.read, verify=False)
        self._made.append(client)
        return client

    async def close(self) -> None:
        for client in self._made:
            await (client.aclose() if isinstance(client, httpx2.AsyncClient) else client.close())  # type: ignore[no-untyped-call]

    async def say(self, vendor: str, *, stream: bool = True) -> str:
        """One exchange: the text, then the stop reason in brackets."""
        if vendor == "anthropic":
            message = await claude_message(self) if stream else await self.claude.messages.create(**claude_request())
            return "".join(b.text for b in message.content if b.type == "text") + f" [{message.stop_reason}]"
        if vendor == "openai":
            return await self._say_gpt(stream)
        if not stream:
            whole = await self.ollama.chat(model=QWEN, messages=USER)
            return f"{whole.message.content} [{whole.done_reason}]"
        said, reason = "", None
        async for part in await self.ollama.chat(model=QWEN, messages=USER, stream=True):
            said, reason = said + (part.message.content or ""), part.done_reason
        return f"{said} [{reason}]"

    async def _say_gpt(self, stream: bool) -> str:
        if not stream:
            choice = (await self.gpt.chat.completions.create(model=GPT, messages=USER)).choices[0]
            return f"{choice.message.content} [{choice.finish_reason}]"
        said, reason = "", None
        for chunk in await gpt_chunks(self):
            for choice in chunk["choices"]:
                said, reason = said + (choice["delta"].get("content") or ""), choice["finish_reason"] or reason
        return f"{said} [{reason}]"


@pytest_asyncio.fixture
async def clients(sim: LlmSim) -> AsyncIterator[Clients]:
    made = Clients(sim)
    yield made
    await made.close()


def claude_request(**changes: Any) -> dict[str, Any]:
    return {"model": CLAUDE, "max_tokens": 100, "messages": USER, **changes}


async def claude_message(clients: Clients, **changes: Any) -> Any:
    async with clients.claude.messages.stream(**claude_request(**changes)) as stream:
        return await stream.get_final_message()


async def gpt_chunks(clients: Clients, **changes: Any) -> list[dict[str, Any]]:
    request: dict[str, Any] = {"model": GPT, "messages": USER, "stream": True, **changes}
    async with await clients.gpt.chat.completions.create(**request) as stream:
        return [chunk.model_dump(exclude_unset=True) async for chunk in stream]


async def gpt_helper(clients: Clients) -> Any:
    async with clients.gpt.chat.completions.stream(model=GPT, messages=USER) as stream:
        return await stream.get_final_completion()


async def post(sim: LlmSim, path: str, body: Any, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        known = {"anthropic-version": "2026-10-21", "authorization": "Bearer sk-test"}
        return await client.post(sim.url + path, json=body, headers={**known, **headers})


# What the libraries make of a healthy answer


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("stream", [True, False])
async def test_every_library_reads_a_plain_answer(sim: LlmSim, clients: Clients, vendor: str, stream: bool) -> None:
    sim.script(answer(text("Hel"), text("lo")))
    natural = "end_turn" if vendor == "anthropic" else "stop"
    assert await clients.say(vendor, stream=stream) == f"Hello [{natural}]"
    assert not sim.violations and not sim.unused
    assert (sim.chats[0].vendor, sim.chats[0].outcome, sim.chats[0].key_header) == (
        (vendor, "complete", None if vendor == "ollama" else "authorization")
    )
    assert "sk-test" not in json.dumps(sim.chats[0].to_json())


@pytest.mark.parametrize("vendor", VENDORS)
async def test_frames_split_at_every_byte_read_the_same(sim: LlmSim, clients: Clients, vendor: str) -> None:
    sim.script(answer(text("Grüße, 你好 🐦"), split=1), answer(text("Grüße, 你好 🐦"), split=7))
    assert (await clients.say(vendor)).startswith("Grüße, 你好 🐦 [")
    assert (await clients.say(vendor)).startswith("Grüße, 你好 🐦 [")


async def test_anthropic_streams_thinking_text_and_calls(sim: LlmSim, clients: Clients) -> None:
    sim.script(
        answer(begin(), ping(), thinking("plan"), text("ok"), call("c1", "f", ['{"a":', "1}"]), call("c2", "f", [""]))
    )
    async with clients.claude.messages.stream(**claude_request(tools=[TOOL], thinking=SUMMARIZED)) as stream:
        events = [event.type async for event in stream]
        message = await stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[0].thinking == "plan" and message.content[0].signature  # type: ignore[union-attr]
    assert [block.input for block in message.content if block.type == "tool_use"] == [{"a": 1}, {}]
    assert message.stop_reason == "tool_use" and message.usage.output_tokens > 1
    assert events[0] == "message_start" and events[-1] == "message_stop" and "signature" in events


SUMMARIZED: Any = {"type": "adaptive", "display": "summarized"}


async def test_newer_claudes_omit_the_thinking_text_unless_asked(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(thinking("secret plan"), redacted("xx"), text("ok"), repeat=True))
    streamed = await claude_message(clients)
    whole = await clients.claude.messages.create(**claude_request())
    for message in (streamed, whole):
        assert message.content[0].thinking == "" and len(message.content[0].signature) > 20
        assert message.content[1].data == "xx"


async def test_openai_streams_calls_usage_and_vendor_extras(sim: LlmSim, clients: Clients) -> None:
    sim.script(
        answer(empty_choices(), ping(), thinking("hm"), text(None), call("c1", "f", ['{"a":', "1}"]), stop("stop"))
    )
    chunks = await gpt_chunks(clients, stream_options={"include_usage": True})
    assert chunks[0]["choices"] == [] and chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens"] > 0 and chunks[1]["usage"] is None
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[1:-1]]
    assert deltas[0] == {"role": "assistant", "content": "", "refusal": None}
    assert {"reasoning_content": "hm"} in deltas and {"content": None} in deltas
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert calls[0] == {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert calls[1] == {"index": 0, "function": {"arguments": '{"a":'}}
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


async def test_openai_interleaves_the_pieces_of_two_calls(sim: LlmSim, clients: Clients) -> None:
    pieces = (call_more("a", '{"x":'), call_more("b", '{"y":'), call_more("a", "1}"), call_more("b", "2}"))
    sim.script(
        answer(call_open("a", "f"), call_open("b", "g"), *pieces),
        answer(call_open("a", "f"), call_open("b", "g"), *pieces),
    )
    calls = (await gpt_helper(clients)).choices[0].message.tool_calls
    assert [(c.function.name, c.function.arguments) for c in calls] == [("f", '{"x":1}'), ("g", '{"y":2}')]
    message = await claude_message(clients, tools=[TOOL])
    assert [(b.name, b.input) for b in message.content] == [("f", {"x": 1}), ("g", {"y": 2})]


async def test_openai_sends_calls_whole_null_and_with_repeated_heads(sim: LlmSim, clients: Clients) -> None:
    sim.script(
        answer(
            call("a", "f", ["{}"], whole=True), call("b", "g", [None]), call(None, "h", ["{", "}"], repeat_head=True)
        )
    )
    chunks = await gpt_chunks(clients)
    calls = [c["choices"][0]["delta"]["tool_calls"][0] for c in chunks if "tool_calls" in c["choices"][0]["delta"]]
    assert [c["function"]["arguments"] for c in calls] == ["{}", None, "", "{", "}"]
    assert [c["function"].get("name") for c in calls] == ["f", "g", "h", "h", "h"] and calls[2]["id"] is None


async def test_ollama_streams_thinking_calls_and_counts(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(thinking("hm"), text("ok"), call("c1", "f", ['{"a":', "1}"]), stop("cut")))
    parts = [part async for part in await clients.ollama.chat(model=QWEN, messages=USER, stream=True)]
    assert parts[0].message.thinking == "hm" and parts[1].message.content == "ok"
    assert parts[2].message.tool_calls is not None and parts[2].message.tool_calls[0].function.arguments == {"a": 1}
    assert parts[-1].done and parts[-1].done_reason == "length" and parts[-1].prompt_eval_count


async def test_ollama_cuts_the_prompt_to_num_ctx_without_a_word(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("ok"), repeat=True))
    long: list[Any] = [{"role": "user", "content": "word " * 8000}]
    counts = [
        (await clients.ollama.chat(model=QWEN, messages=long)).prompt_eval_count,
        (await clients.ollama.chat(model=QWEN, messages=long, options={"num_ctx": 16000})).prompt_eval_count,
    ]
    styled = await clients.gpt.chat.completions.create(model=QWEN, messages=long)
    assert counts == [4096, sim.chats[0].prompt_tokens] and sim.chats[0].prompt_tokens == 10004
    assert styled.usage is not None and styled.usage.prompt_tokens == 4096


@pytest.mark.parametrize("vendor", VENDORS)
async def test_usage_and_stop_reasons_are_whatever_the_script_says(sim: LlmSim, clients: Clients, vendor: str) -> None:
    sim.script(
        answer(text("a"), stop("odd_reason")), answer(text("b"), stop(None)), answer(text("c"), usage(absent=True))
    )
    assert await clients.say(vendor) == "a [odd_reason]"
    assert await clients.say(vendor) == "b [None]"
    if vendor == "anthropic":
        with pytest.raises(AttributeError, match="output_tokens"):  # the stream helper relies on usage
            await clients.say(vendor)
    else:
        assert await clients.say(vendor) == "c [stop]"


async def test_usage_overrides_reach_every_vendor(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("a"), usage(input=7, output=9, cached=3, written=2), repeat=True))
    spent = (await claude_message(clients)).usage
    assert (spent.input_tokens, spent.output_tokens) == (7, 9)
    assert (spent.cache_read_input_tokens, spent.cache_creation_input_tokens) == (3, 2)
    counted = (await gpt_chunks(clients, stream_options={"include_usage": True}))[-1]["usage"]
    assert (counted["prompt_tokens"], counted["completion_tokens"]) == (7, 9)
    assert counted["prompt_tokens_details"]["cached_tokens"] == 3
    whole = await clients.ollama.chat(model=QWEN, messages=USER)
    assert (whole.prompt_eval_count, whole.eval_count) == (7, 9)


# What the libraries make of trouble (PLATFORMS.md section 4)


@pytest.mark.parametrize(
    ("vendor", "how", "expected"),
    [
        ("anthropic", "fin", httpx2.RemoteProtocolError),
        ("anthropic", "rst", httpx2.ReadError),
        ("openai", "fin", openai.APIConnectionError),
        ("openai", "rst", openai.APIConnectionError),
        ("ollama", "fin", httpx.RemoteProtocolError),
        ("ollama", "rst", httpx.ReadError),
    ],
)
async def test_a_dropped_stream_raises_in_each_library_its_own_way(
    sim: LlmSim, clients: Clients, vendor: str, how: Any, expected: type[Exception]
) -> None:
    sim.script(answer(text("Hel"), drop(how)))
    with pytest.raises(expected):
        await clients.say(vendor)
    assert sim.chats[0].outcome == "dropped" and not sim.chats[0].left_early


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_early_end_is_silent_in_every_library(sim: LlmSim, clients: Clients, vendor: str) -> None:
    sim.script(answer(text("Hel"), end_early()))
    assert await clients.say(vendor) == "Hel [None]"


@pytest.mark.parametrize(
    ("vendor", "expected"),
    [("anthropic", httpx2.ReadTimeout), ("openai", openai.APITimeoutError), ("ollama", httpx.ReadTimeout)],
)
async def test_a_stall_is_cut_by_the_read_timeout_only(sim: LlmSim, vendor: str, expected: type[Exception]) -> None:
    sim.script(answer(text("Hel"), stall()))
    hasty = Clients(sim, read_timeout=0.1)
    with pytest.raises(expected):
        await hasty.say(vendor)
    await sim.until(lambda requests: requests[0].left_early)
    assert sim.chats[0].left_at is not None
    await hasty.close()


async def test_an_error_event_after_200_keeps_that_status(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("Hel"), error_event("overloaded_error", "Overloaded"), repeat=True))
    with pytest.raises(anthropic.APIStatusError) as raised:
        await clients.say("anthropic")
    assert (raised.value.status_code, raised.value.type) == (200, "overloaded_error")
    with pytest.raises(openai.APIError) as plain:
        await clients.say("openai")
    assert not isinstance(plain.value, openai.APIStatusError) and plain.value.message == "Overloaded"
    with pytest.raises(ollama.ResponseError) as in_band:
        await clients.say("ollama")
    assert in_band.value.status_code == -1


@pytest.mark.parametrize("vendor", VENDORS)
async def test_cut_json_breaks_every_library(sim: LlmSim, clients: Clients, vendor: str) -> None:
    sim.script(answer(text("Hel"), garbage("json")))
    with pytest.raises(json.JSONDecodeError):
        await clients.say(vendor)


async def test_half_a_character_breaks_the_sse_libraries(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(garbage("utf8"), repeat=True))
    for vendor in ("anthropic", "openai"):
        with pytest.raises(UnicodeDecodeError):
            await clients.say(vendor)


@pytest.mark.parametrize(("index", "expected"), [("none", TypeError), (1, IndexError)])
async def test_odd_call_indexes_break_the_openai_helper(
    sim: LlmSim, clients: Clients, index: Any, expected: type[Exception]
) -> None:
    sim.script(answer(call("c1", "f", ['{"a":', "1}"], index=index)))
    with pytest.raises(expected):
        await gpt_helper(clients)


async def test_truncated_arguments_look_valid_to_the_anthropic_helper(sim: LlmSim, clients: Clients) -> None:
    cut = '{"path":"/x","recursive":true,"dry_run":tr'
    sim.script(answer(call("c1", "f", [cut]), stop("cut")), answer(call("c1", "f", ['{"mode": ffull"}'])))
    message = await claude_message(clients, tools=[TOOL])
    assert message.stop_reason == "max_tokens" and message.content[0].input == {"path": "/x", "recursive": True}
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        await claude_message(clients, tools=[TOOL])


@pytest.mark.parametrize(
    ("code", "claude_error", "gpt_error"),
    [
        (401, anthropic.AuthenticationError, openai.AuthenticationError),
        (402, anthropic.PaymentRequiredError, openai.APIStatusError),
        (403, anthropic.PermissionDeniedError, openai.PermissionDeniedError),
        (404, anthropic.NotFoundError, openai.NotFoundError),
        (408, anthropic.RequestTimeoutError, openai.APIStatusError),
        (413, anthropic.ContentTooLargeError, openai.APIStatusError),
        (429, anthropic.RateLimitError, openai.RateLimitError),
        (500, anthropic.InternalServerError, openai.InternalServerError),
        (503, anthropic.ServiceUnavailableError, openai.InternalServerError),
        (529, anthropic.OverloadedError, openai.InternalServerError),
    ],
)
async def test_http_errors_have_the_shape_each_library_knows(
    sim: LlmSim, clients: Clients, code: int, claude_error: Any, gpt_error: Any
) -> None:
    sim.script(answer(sleep(0.0), status(code, headers={"retry-after": "7"}), repeat=True))
    with pytest.raises(claude_error) as first:
        await clients.say("anthropic")
    with pytest.raises(gpt_error) as second:
        await clients.say("openai", stream=False)
    with pytest.raises(ollama.ResponseError) as third:
        await clients.say("ollama")
    for raised in (first, second):
        assert raised.value.status_code == code and raised.value.response.headers["retry-after"] == "7"
    assert first.value.type and third.value.status_code == code
    assert not sim.violations and sim.chats[0].outcome == "faulted"


async def test_error_bodies_can_quote_the_key_or_be_a_proxys_page(sim: LlmSim, clients: Clients) -> None:
    page = status(502, body="<html>bad gateway</html>")
    sim.script(answer(status(401, "quotes_key")), answer(status(429, "insufficient_quota")), answer(page))
    with pytest.raises(openai.AuthenticationError, match="sk-test"):
        await clients.say("openai")
    with pytest.raises(openai.RateLimitError) as quota:
        await clients.say("openai")
    assert quota.value.code == "insufficient_quota"
    with pytest.raises(openai.InternalServerError) as proxy:
        await clients.say("openai")
    assert proxy.value.response.text == "<html>bad gateway</html>"


@pytest.mark.parametrize("vendor", VENDORS)
async def test_an_unscripted_request_is_an_error_and_a_violation(sim: LlmSim, clients: Clients, vendor: str) -> None:
    with pytest.raises(
        (anthropic.InternalServerError, openai.InternalServerError, ollama.ResponseError), match="no scripted"
    ):
        await clients.say(vendor)
    assert "no scripted answer" in sim.violations[0].message
    sim.settings.default = "echo"
    assert (await clients.say(vendor)).startswith("echo: hi [")


async def test_a_script_that_cannot_be_played_is_reported(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("a"), call_more("zz", "x")))
    with pytest.raises(httpx2.HTTPError):
        await clients.say("anthropic")
    assert "never opened" in sim.violations[0].message and sim.chats[0].outcome == "failed"


# Scripting: matching, gates, pace


async def test_the_first_fitting_unused_answer_wins(sim: LlmSim, clients: Clients) -> None:
    sim.script(
        answer(text("other model"), when=When(model="gpt-4*")),
        answer(text("third"), when=When(nth=3)),
        answer(text("result"), when=When(tool_result=True, step=2)),
        answer(text("weather"), when=When(vendor="openai", user="rain", system="terse")),
        answer(text("second turn"), when=When(turn=2)),
        answer(text("any"), repeat=True),
    )
    ask = clients.gpt.chat.completions.create
    system: Any = {"role": "system", "content": "be terse"}
    asked: Any = {"role": "assistant", "content": None, "tool_calls": [gpt_call("c1", "{}")]}
    result: Any = {"role": "tool", "tool_call_id": "c1", "content": "42"}
    replied: Any = {"role": "assistant", "content": "ok"}
    conversations: list[Any] = [
        [system, {"role": "user", "content": "will it rain?"}],
        [*USER, asked, result],
        USER,
        [*USER, replied, *USER],
        USER,
    ]
    answers = [await ask(model=GPT, messages=messages) for messages in conversations]
    said = [completion.choices[0].message.content for completion in answers]
    assert said == ["weather", "result", "third", "second turn", "any"]
    assert [waiting.when.model for waiting in sim.unused] == ["gpt-4*"]


async def test_a_gate_holds_the_answer_until_released_and_a_stop_is_seen(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("Hel"), gate("middle"), text("lo"), repeat=True))
    stream = await clients.gpt.chat.completions.create(model=GPT, messages=USER, stream=True)
    await anext(stream.__aiter__())
    await sim.at("middle")
    assert sim.chats[0].outcome == "open"
    await stream.close()
    await sim.until(lambda requests: requests[0].left_early)
    assert sim.chats[0].left_at is not None
    sim.release("middle")
    assert await clients.say("openai") == "Hello [stop]"


async def test_text_is_paced_by_the_token_rate_on_the_given_clock() -> None:
    slept: list[float] = []

    async def sleeping(seconds: float) -> None:
        slept.append(seconds)

    async with LlmSim(sleep=sleeping, clock=lambda: 1_790_000_000.0) as sim:
        clients = Clients(sim)
        sim.script(answer(sleep(30), text("one two three"), tokens_per_second=10))
        assert await clients.say("ollama") == "one two three [stop]"
        await clients.close()
        assert slept == [30, 0.1, 0.1, 0.2] and sim.chats[0].at == 1_790_000_000.0


async def test_raw_bytes_are_all_there_is_when_the_script_has_nothing_else(sim: LlmSim) -> None:
    sim.script(answer(raw("data: {}\n"), raw(b"\xff\n\n")))
    response = await post(sim, "/v1/chat/completions", {"model": GPT, "messages": USER, "stream": True})
    assert response.content == b"data: {}\n\xff\n\n"


async def test_answers_survive_the_trip_through_json() -> None:
    steps = (text("a"), raw(b"\xff"), call("c", "f", [None]), gate("g"), status(429, headers={"a": "b"}), stop(None))
    original = answer(*steps, when=When(user="x", nth=2), repeat=True, split=3, tokens_per_second=5.0)
    assert answer_from_json(json.loads(json.dumps(original.to_json()))) == original
    for wrong in ({"steps": [{"do": "sing"}]}, {"steps": [], "when": {"mood": 1}}, {"steps": [], "loop": True}):
        with pytest.raises(ValueError, match=r"unknown|mood"):
            answer_from_json(wrong)


# Strictness


def used(*ids: str, **more: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": i, "name": "f", "input": {}, **more} for i in ids],
    }


def results(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": "ok"} for i in ids]}


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
HI = USER[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"temperature": 1.0}, "temperature"),
        ({"top_k": 1}, "top_k"),
        ({"n": 2}, "Extra inputs are not permitted"),
        ({"messages": []}, "at least one message"),
        ({"messages": [said("assistant", {"type": "text", "text": "x"}), HI]}, "first message must use"),
        ({"messages": [HI, {"role": "assistant", "content": "x"}]}, "prefill"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [said("user", {"type": "text", "text": ""})]}, "non-empty"),
        ({"messages": [{**HI, "name": "ann"}]}, "Extra inputs are not permitted"),
        ({"messages": [HI, used("a"), HI]}, "without `tool_result` blocks immediately after"),
        ({"messages": [HI, used("a", "b"), results("a")]}, "without `tool_result` blocks immediately after: b"),
        ({"messages": [HI, used("a"), results("a", "zz")]}, "unexpected `tool_use_id`"),
        ({"messages": [HI, used("a"), results("a", "a")]}, "single result"),
        ({"messages": [HI, used("a"), results("a"), used("a"), results("a")]}, "must be unique"),
        ({"messages": [HI, used("a", input="{}"), results("a")]}, "valid dictionary"),
        ({"messages": [HI, used("a b"), results("a b")]}, "should match pattern"),
        ({"messages": [said("user", {"type": "thinking", "thinking": "x", "signature": "y"})]}, "does not match"),
        ({"tools": [{**TOOL, "name": "bad name"}]}, "should match pattern"),
        ({"tools": [{**TOOL, "input_schema": {"type": "string"}}]}, "Input should be 'object'"),
        ({"tools": [TOOL, TOOL]}, "must be unique"),
        ({"tools": [TOOL], "tool_choice": {"type": "any"}}, "not supported for this model"),
        ({"system": ""}, "non-empty"),
        ({"system": [MARKED] * 5}, "maximum of 4"),
        ({"thinking": {"type": "disabled"}}, "not supported for this model"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "not supported for this model"),
        ({"model": "claude-sonnet-4-5", "thinking": {"type": "enabled", "budget_tokens": 10}}, "1024"),
        ({"messages": [HI, {"role": "system", "content": "x"}, HI]}, "must follow a user message"),
    ],
)
async def test_anthropic_refuses_what_the_platform_refuses(sim: LlmSim, changes: Any, message: str) -> None:
    sim.script(answer(text("never")))
    body = {name: value for name, value in claude_request(**changes).items() if value is not None}
    response = await post(sim, "/v1/messages", body)
    error = response.json()
    assert response.status_code == 400 and error["error"]["type"] == "invalid_request_error"
    assert message in error["error"]["message"] and error["request_id"]
    assert sim.violations[0].message == error["error"]["message"] and sim.unused


async def test_anthropic_accepts_consecutive_roles_and_complete_tool_rounds(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("ok"), repeat=True))
    rounds: list[Any] = [HI, HI, used("a", "b"), results("b", "a"), {"role": "system", "content": "be brief"}]
    await claude_message(clients, tools=[TOOL], messages=rounds, system=[MARKED] * 4)
    assert (await clients.claude.messages.count_tokens(model=CLAUDE, messages=rounds)).input_tokens > 10
    bare = await post(sim, "/v1/messages", claude_request(), **{"anthropic-version": "1999-01-01"})
    assert bare.status_code == 400 and len(sim.violations) == 1


def gpt_call(call_id: Any, arguments: Any, name: str = "f") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def gpt_round(*calls: dict[str, Any], answered: tuple[str, ...] = ("a",)) -> list[dict[str, Any]]:
    tools = [{"role": "tool", "tool_call_id": call_id, "content": "ok"} for call_id in answered]
    return [HI, {"role": "assistant", "content": None, "tool_calls": list(calls)}, *tools]


def gpt_tool(name: str = "f", **schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema or {"type": "object"}}}


@pytest.mark.parametrize(
    ("changes", "message", "code"),
    [
        ({"max_tokens": 5}, "max_completion_tokens", "unsupported_parameter"),
        ({"model": "o4-mini", "max_tokens": 5}, "max_completion_tokens", "unsupported_parameter"),
        ({"temperature": 0.5}, "temperature", "unsupported_value"),
        ({"top_k": 5}, "Unrecognized request argument", None),
        ({"messages": []}, "empty array", "empty_array"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream'", None),
        ({"messages": [{"role": "user", "content": None}]}, "got null", None),
        ({"messages": [HI, {"role": "tool", "tool_call_id": "a", "content": "x"}]}, "preceeding message", None),
        ({"messages": gpt_round(gpt_call("a", "{}"), gpt_call("b", "{}"))}, "did not have response messages: b", None),
        ({"messages": [*gpt_round(gpt_call("a", "{}"), answered=()), HI]}, "did not have response messages: a", None),
        ({"messages": gpt_round(gpt_call("a", {}))}, "expected a string", "invalid_type"),
        ({"messages": gpt_round(gpt_call("a", '{"a":'))}, "JSON object", "invalid_value"),
        ({"messages": gpt_round(gpt_call("a" * 41, "{}"))}, "maximum length 40", "string_above_max_length"),
        ({"messages": gpt_round(gpt_call("a", "{}", "bad name"))}, "does not match pattern", "invalid_value"),
        ({"tools": []}, "empty array", "empty_array"),
        ({"tools": [gpt_tool("x" * 65)]}, "maximum length 64", "string_above_max_length"),
        ({"tools": [gpt_tool(type="string")]}, "Invalid schema for function", "invalid_function_parameters"),
        ({"tool_choice": "auto"}, "only allowed when 'tools'", None),
        ({"response_format": {"type": "json_object"}}, "the word 'json'", None),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "Missing required", None),
    ],
)
async def test_openai_refuses_what_the_platform_refuses(sim: LlmSim, changes: Any, message: str, code: Any) -> None:
    response = await post(sim, "/v1/chat/completions", {"model": GPT, "messages": USER, **changes})
    error = response.json()["error"]
    assert response.status_code == 400 and set(error) == {"message", "type", "param", "code"}
    assert message in error["message"] and (code is None or error["code"] == code)
    assert len(sim.violations) == 1


async def test_openai_style_servers_take_parameters_of_their_own(sim: LlmSim) -> None:
    sim.script(answer(text("ok"), repeat=True))
    for model in ("llama-3.3-70b", "gpt-4.1-mini"):
        extra = {"temperature": 0.2, "max_tokens": 5} | ({"top_k": 4} if model.startswith("llama") else {})
        assert (await post(sim, "/v1/chat/completions", {"model": model, "messages": USER, **extra})).status_code == 200


async def test_openai_takes_a_strict_schema(sim: LlmSim, clients: Clients) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    wanted: Any = {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}}
    sim.script(answer(text('{"a": 1}')))
    completion = await clients.gpt.chat.completions.create(model=GPT, messages=USER, response_format=wanted)
    assert completion.choices[0].message.content == '{"a": 1}' and not sim.violations


async def test_an_unknown_endpoint_is_404_and_a_violation(sim: LlmSim, clients: Clients) -> None:
    with pytest.raises(openai.NotFoundError, match="no such endpoint"):
        await clients.gpt.responses.create(model=GPT, input="hi")
    assert "/v1/responses" in sim.violations[0].message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "cannot unmarshal array"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}]},
            "arguments",
        ),
        ({"messages": [{"role": "user", "content": "x", "images": ["not base64!"]}]}, "illegal base64"),
        ({"model": ""}, "model is required"),
    ],
)
async def test_ollama_refuses_what_its_decoder_refuses(sim: LlmSim, changes: Any, message: str) -> None:
    response = await post(sim, "/api/chat", {"model": QWEN, "messages": USER, **changes})
    assert response.status_code == 400 and message in response.json()["error"] and len(sim.violations) == 1


async def test_ollama_refuses_what_the_model_cannot_do(sim: LlmSim, clients: Clients) -> None:
    sim.settings.ollama_capabilities = ("completion",)
    with pytest.raises(ollama.ResponseError, match="does not support tools"):
        await clients.ollama.chat(model=QWEN, messages=USER, tools=[gpt_tool()])
    with pytest.raises(ollama.ResponseError, match="does not support thinking"):
        await clients.ollama.chat(model=QWEN, messages=USER, think=True)


async def test_a_wrong_or_missing_key_is_401_and_either_header_is_noted(sim: LlmSim, clients: Clients) -> None:
    sim.api_key = "sk-right"
    for vendor, expected in (("anthropic", anthropic.AuthenticationError), ("openai", openai.AuthenticationError)):
        with pytest.raises(expected):
            await clients.say(vendor)
    sim.api_key = "sk-test"
    sim.script(answer(text("ok"), repeat=True))
    await clients.say("anthropic")
    async with httpx.AsyncClient() as bare:
        headers = {"x-api-key": "sk-test", "anthropic-version": "2026-10-21"}
        assert (await bare.post(f"{sim.url}/v1/messages", json=claude_request(), headers=headers)).status_code == 200
    assert [(seen.key_header, seen.key_matches) for seen in sim.requests] == [
        ("authorization", False),
        ("authorization", False),
        ("authorization", True),
        ("x-api-key", True),
    ]


async def test_a_prompt_beyond_the_window_is_refused_in_the_vendors_words(sim: LlmSim, clients: Clients) -> None:
    sim.settings.window_tokens = 3
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        await clients.say("anthropic")
    with pytest.raises(openai.BadRequestError) as raised:
        await clients.say("openai")
    assert raised.value.code == "context_length_exceeded"


# Thinking blocks and prompt caches


async def thought(sim: LlmSim, clients: Clients, **changes: Any) -> tuple[list[Any], dict[str, Any]]:
    """A first round that thought and called a tool: its blocks as plain objects, and the request that asked."""
    sim.script(answer(thinking("plan"), call("c1", "f")), answer(text("done"), repeat=True))
    request = claude_request(tools=[TOOL], system="be good", **changes)
    message = await claude_message(clients, **request)
    kept = ("type", "thinking", "signature", "id", "name", "input")
    return [block.model_dump(include=set(kept), exclude_none=True) for block in message.content], request


async def test_thinking_replayed_byte_equal_is_accepted(sim: LlmSim, clients: Clients) -> None:
    blocks, request = await thought(sim, clients)
    replay = [HI, {"role": "assistant", "content": blocks}, results("c1")]
    assert (await claude_message(clients, **{**request, "messages": replay})).content[0].text == "done"
    whole = await claude_message(
        clients, **{**request, "messages": [HI, {"role": "assistant", "content": blocks[1:]}, results("c1")]}
    )
    assert whole.content[0].text == "done" and not sim.violations


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"thinking": "other"}, "cannot be modified"),
        ({"signature": ""}, "Field required"),
        ({"signature": "x"}, "Invalid"),
    ],
)
async def test_thinking_changed_by_a_byte_is_refused(sim: LlmSim, clients: Clients, change: Any, message: str) -> None:
    blocks, request = await thought(sim, clients)
    replay = [HI, {"role": "assistant", "content": [{**blocks[0], **change}, blocks[1]]}, results("c1")]
    with pytest.raises(anthropic.BadRequestError, match=message):
        await claude_message(clients, **{**request, "messages": replay})


@pytest.mark.parametrize("change", [{"system": "be bad"}, {"tools": [TOOL, {**TOOL, "name": "g"}]}, {"first": "ho"}])
async def test_thinking_behind_a_changed_prefix_is_refused_by_newer_claudes(
    sim: LlmSim, clients: Clients, change: dict[str, Any]
) -> None:
    blocks, request = await thought(sim, clients)
    first = {"role": "user", "content": change.get("first", "hi")}
    changed = {name: value for name, value in change.items() if name != "first"}
    replay = {**request, **changed, "messages": [first, {"role": "assistant", "content": blocks}, results("c1")]}
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        await claude_message(clients, **replay)
    dropping = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}
    with pytest.raises(anthropic.BadRequestError, match="block_binding: Extra inputs"):
        await claude_message(clients, **replay, extra_body=dropping)
    beta = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
    assert (await claude_message(clients, **replay, extra_body=dropping, extra_headers=beta)).stop_reason == "end_turn"
    sim.settings.binds_thinking = False
    assert (await claude_message(clients, **replay)).stop_reason == "end_turn"


async def test_a_fixed_thinking_budget_needs_the_thinking_back(sim: LlmSim, clients: Clients) -> None:
    budget = {"model": "claude-haiku-4-5", "max_tokens": 4000, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    blocks, request = await thought(sim, clients, **budget)
    replay = [HI, {"role": "assistant", "content": blocks[1:]}, results("c1")]
    with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
        await claude_message(clients, **{**request, "messages": replay})


async def test_anthropic_counts_cache_writes_then_reads(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("ok"), repeat=True))
    stable = {"type": "text", "text": "word " * 1000, "cache_control": {"type": "ephemeral"}}
    first = (await claude_message(clients, system=[stable])).usage
    second = (await claude_message(clients, system=[stable], messages=[HI, HI])).usage
    changed = (await claude_message(clients, system=[{**stable, "text": "other " * 1000}])).usage
    assert first.cache_read_input_tokens == 0 and first.cache_creation_input_tokens == 1254
    assert (second.cache_read_input_tokens, second.cache_creation_input_tokens) == (1254, 0)
    assert second.input_tokens == 2 * first.input_tokens and changed.cache_read_input_tokens == 0


async def test_anthropic_caches_grow_with_the_conversation_and_expire() -> None:
    now = 1_790_000_000.0
    async with LlmSim(clock=lambda: now) as sim:
        clients = Clients(sim)
        sim.script(answer(text("ok"), repeat=True))
        long: list[Any] = [{"role": "user", "content": "word " * 1000}]
        top: Any = {"type": "ephemeral"}
        await claude_message(clients, messages=long, cache_control=top)
        grown = [*long, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "go on"}]
        spent = (await claude_message(clients, messages=grown, cache_control=top)).usage
        assert (
            spent.cache_read_input_tokens == 1254 and spent.cache_creation_input_tokens > 0 and spent.input_tokens == 0
        )
        now += 301
        assert (await claude_message(clients, messages=grown, cache_control=top)).usage.cache_read_input_tokens == 0
        await clients.close()


async def test_openai_counts_shared_prefixes_of_1024_tokens_and_more(sim: LlmSim, clients: Clients) -> None:
    sim.script(answer(text("ok"), repeat=True))
    long: list[Any] = [{"role": "user", "content": "word " * 2000}]
    cached = []
    for messages in (long, [*long, *USER], USER):
        completion = await clients.gpt.chat.completions.create(model=GPT, messages=messages)
        assert completion.usage is not None and completion.usage.prompt_tokens_details is not None
        cached.append(completion.usage.prompt_tokens_details.cached_tokens)
    assert cached == [0, 2432, 0]


# Everything that is not chat


async def test_models_counts_versions_and_embeddings(sim: LlmSim, clients: Clients) -> None:
    assert CLAUDE in [model.id async for model in clients.claude.models.list()]
    assert GPT in [model.id async for model in clients.gpt.models.list()]
    assert QWEN in [model.model for model in (await clients.ollama.list()).models]
    assert "tools" in ((await clients.ollama.show(QWEN)).capabilities or [])
    with pytest.raises(ollama.ResponseError, match="not found"):
        await clients.ollama.show("nobody")
    async with httpx.AsyncClient() as plain:
        assert (await plain.get(f"{sim.url}/api/version")).json()["version"]
    assert not sim.violations


async def test_embeddings_are_stable_and_near_for_near_texts(sim: LlmSim, clients: Clients) -> None:
    texts = ["the cat sat on the mat", "a cat sat on a mat", "quarterly tax report"]
    found = await clients.gpt.embeddings.create(model="text-embedding-3-small", input=texts, dimensions=256)
    a, b, c = (item.embedding for item in found.data)
    assert len(a) == 256 and dot(a, a) == pytest.approx(1.0, abs=1e-5) and dot(a, b) > dot(a, c)
    local = await clients.ollama.embed(model="nomic-embed-text", input=texts[0])
    assert len(local.embeddings[0]) == 768
    with pytest.raises(openai.BadRequestError):
        await clients.gpt.embeddings.create(model="text-embedding-3-small", input="")
    sim.script(answer(status(429), when=When(endpoint="embeddings")))
    with pytest.raises(openai.RateLimitError):
        await clients.gpt.embeddings.create(model="text-embedding-3-small", input="x")


def dot(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


# From another process


async def test_another_process_drives_it_over_the_control_api(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps({"default": "echo", "answers": [answer(text("Hel"), gate("g"), text("lo")).to_json()]})
    )
    command = (sys.executable, "-m", "tests.sim.llm", "--port", "0", "--script", str(script))
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=dict(os.environ), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    async with httpx.AsyncClient(base_url=url) as control:
        speaking = asyncio.ensure_future(control.post("/api/chat", json={"model": QWEN, "messages": USER}))
        assert (await control.get("/_sim/gate/g")).json() == {"reached": "g"}
        await control.post("/_sim/release/g")
        assert (await speaking).text.count("\n") == 3
        added = await control.post("/_sim/script", json=[answer(text("more")).to_json()])
        assert added.json() == {"added": 1}
        wrong = await control.post("/_sim/script", json=[{"steps": [{"do": "sing"}]}])
        assert wrong.status_code == 400 and "sing" in wrong.json()["error"]
        requests = (await control.get("/_sim/requests")).json()
        assert [(seen["vendor"], seen["outcome"]) for seen in requests] == [("ollama", "complete")]
        await control.post("/_sim/reset")
        echoed = await control.post("/api/chat", json={"model": QWEN, "messages": USER, "stream": False})
        assert echoed.json()["message"]["content"] == "echo: hi"
        assert (await control.get("/_sim/violations")).json() == []
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0


async def test_leaving_the_simulator_does_not_wait_for_stalled_answers() -> None:
    async with LlmSim(Settings(default="echo")) as sim:
        clients = Clients(sim)
        sim.script(answer(text("Hel"), stall()))
        speaking = asyncio.ensure_future(clients.say("openai"))
        await sim.until(lambda requests: bool(requests))
    with pytest.raises(openai.APIConnectionError):
        await speaking
    await clients.close()
