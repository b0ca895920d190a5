"""The OpenAI-compatible endpoint, used through the official client."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import aiohttp
import openai
import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from bot.core.address import Address
from bot.core.errors import ChatClosed
from bot.core.inbound import StopPressed
from bot.core.model import Message, TextBlock
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import EndRow, StepRow
from bot.core.view import Phase, View
from channels.web.channel import AT_ONCE, LIMITS, STREAMED, Config
from tests.channels.web.house import House, Script, Turn
from tests.channels.web.official import HELLO, TOOL, asked, client


async def story(turn: Turn) -> None:
    await turn.think()
    for piece in ("Once ", "upon 一 ", "time 🐦."):
        await turn.write(piece)
        await asyncio.sleep(0.005)
    await turn.end()


async def test_a_whole_answer() -> None:
    house = House(script=story)
    async with client(house) as ai:
        answer = await ai.chat.completions.create(
            model="bowerbird",
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "developer", "content": "In verse."},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": [{"type": "text", "text": "A story,"}, {"type": "text", "text": "please"}]},
            ],
            max_completion_tokens=77,
            temperature=0.2,
        )
    choice = answer.choices[0]
    assert choice.message.content == "Once upon 一 time 🐦."
    assert (choice.finish_reason, choice.message.role, choice.message.tool_calls) == ("stop", "assistant", None)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (11, 7, 18)
    message = asked(house)
    assert message.address.chat.startswith("api-")
    assert message.text == "A story,\nplease"
    assert message.caller is not None
    assert message.caller.system == "Be brief.\n\nIn verse."
    assert message.caller.history == (
        Message("user", (TextBlock("Hi"),)),
        Message("assistant", (TextBlock("Hello!"),)),
    )
    assert (message.caller.model, message.caller.max_tokens) == ("", 77)


async def test_a_streamed_answer_arrives_in_pieces_and_ends_with_its_usage() -> None:
    house = House(script=story)
    async with client(house) as ai:
        stream = await ai.chat.completions.create(
            model="fake/fake", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    contents = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert contents[0] == ""
    assert "".join(text or "" for text in contents) == "Once upon 一 time 🐦."
    assert len([text for text in contents if text]) >= 2
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 18
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    caller = asked(house).caller
    assert caller is not None
    assert caller.model == "fake/fake"


async def endless(turn: Turn) -> None:
    await turn.think()
    for piece in ("Paris is a ci", "ty. P", "ST", "OP and more", " of it"):
        await turn.write(piece)
        await asyncio.sleep(0.005)
    await asyncio.sleep(60)


@pytest.mark.parametrize("stop", ["STOP", ["nowhere", "STOP", " more"]])
async def test_an_answer_ends_where_the_client_wants_it_to_and_its_turn_is_stopped(stop: str | list[str]) -> None:
    house = House(script=endless)
    async with client(house) as ai:
        whole = await ai.chat.completions.create(model="bowerbird", messages=HELLO, stop=stop)
        stream = await ai.chat.completions.create(model="bowerbird", messages=HELLO, stop=stop, stream=True)
        pieces = [chunk.choices[0] async for chunk in stream]
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == ("Paris is a city. P", "stop")
    assert "".join(piece.delta.content or "" for piece in pieces) == "Paris is a city. P"
    assert pieces[-1].finish_reason == "stop"
    assert sum(isinstance(one, StopPressed) for one in house.inbound) == 2


async def test_what_may_be_the_beginning_of_an_end_is_shown_when_nothing_follows() -> None:
    house = House(script=story)
    async with client(house) as ai:
        stream = await ai.chat.completions.create(model="bowerbird", messages=HELLO, stop="🐦.!", stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == "Once upon 一 time 🐦."


async def test_the_wire_is_exactly_the_documented_shape() -> None:
    house = House(script=story)
    async with house.open(), aiohttp.ClientSession() as http:
        body = {"model": "bowerbird", "messages": HELLO, "stream": True}
        async with http.post(house.url + "/v1/chat/completions", json=body) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            raw = (await answer.read()).decode()
    lines = [line for line in raw.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    first = json.loads(lines[0][6:])
    assert set(first) == {"id", "object", "created", "model", "system_fingerprint", "choices"}
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert json.loads(lines[-2][6:])["choices"][0] == {
        "index": 0,
        "delta": {},
        "logprobs": None,
        "finish_reason": "stop",
    }


CALLS = (ToolCall("call_1", "get_weather", {"city": "Wien"}), ToolCall("call_2", "get_weather", {"city": "北京"}))


async def calling(turn: Turn) -> None:
    await turn.write("Let me look. ")
    await turn.end(StopReason.CALLER_TOOLS, calls=CALLS)


@pytest.mark.parametrize("stream", [True, False])
async def test_the_callers_own_tools_are_handed_back_as_calls(stream: bool) -> None:
    house = House(script=calling)
    async with client(house) as ai:
        if stream:
            async with ai.chat.completions.stream(model="bowerbird", messages=HELLO, tools=[TOOL]) as events:
                async for _ in events:
                    pass
                answer: Any = await events.get_final_completion()
        else:
            answer = await ai.chat.completions.create(model="bowerbird", messages=HELLO, tools=[TOOL])
    choice = answer.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look. "
    got = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]
    assert got == [("call_1", "get_weather", {"city": "Wien"}), ("call_2", "get_weather", {"city": "北京"})]
    caller = asked(house).caller
    assert caller is not None
    assert [(tool.name, tool.description) for tool in caller.tools] == [("get_weather", "The weather")]


def ending(stop: StopReason, text: str = "", notice: str = "A sentence.") -> Script:
    async def script(turn: Turn) -> None:
        if text:
            await turn.write(text)
        await turn.end(stop, notice)

    return script


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        (StopReason.PROVIDER_UNAVAILABLE, 503),
        (StopReason.NO_MODEL, 503),
        (StopReason.INTERNAL_ERROR, 500),
        (StopReason.STOPPED, 500),
        (StopReason.CONTEXT_OVERFLOW, 400),
    ],
)
async def test_a_failed_turn_is_an_error_and_not_an_answer(stop: StopReason, status: int) -> None:
    house = House(script=ending(stop, "Half an ans", "Sorry about that."))
    async with client(house) as ai:
        with pytest.raises(openai.APIStatusError) as failed:
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        assert failed.value.status_code == status
        assert failed.value.code == stop.value
        assert "Sorry about that." in failed.value.message
        assert failed.value.response.headers["x-should-retry"] == "false"
        with pytest.raises(openai.APIError, match="Sorry about that") as broken:
            async for _ in await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=True):
                pass
        assert broken.value.code == stop.value


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("key_refused", 502, "upstream_key_refused"),
        ("no_credit", 502, "insufficient_quota"),
        ("model_missing", 502, "model_not_found"),
        ("request_refused", 502, "upstream_request_refused"),
        ("garbled", 502, "upstream_garbled"),
        ("unreachable", 503, "provider_unavailable"),
        ("busy", 503, "provider_unavailable"),
    ],
)
async def test_what_a_vendor_refuses_us_is_told_from_what_passes(fault: Any, status: int, code: str) -> None:
    async def script(turn: Turn) -> None:
        row = StepRow(0, (), "", "", wanted="a/big", fault=fault)
        house.archive.append(turn.message.address, turn.id, house.clock.now(), row)
        house.archive.append(turn.message.address, turn.id, house.clock.now(), EndRow(StopReason.PROVIDER_UNAVAILABLE))
        await turn.show(phase=Phase.DONE, stop=StopReason.PROVIDER_UNAVAILABLE, notices=("A sentence.",))

    house = House(script=script)
    async with client(house) as ai:
        with pytest.raises(openai.InternalServerError) as failed:
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        assert (failed.value.status_code, failed.value.code) == (status, code)
        assert set(failed.value.response.json()["error"]) == {"message", "type", "param", "code"}
        with pytest.raises(openai.APIError) as broken:
            async for _ in await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=True):
                pass
        assert broken.value.code == code


@pytest.mark.parametrize("stream", [True, False])
async def test_a_server_that_stops_does_not_let_half_an_answer_pass_for_the_whole(stream: bool) -> None:
    house = House(script=endless)
    async with AsyncOpenAI(base_url="http://unset", api_key="x", max_retries=0) as ai, asyncio.TaskGroup() as group:

        async def ask() -> str:
            with pytest.raises(openai.APIError) as cut:
                answer = await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=stream)
                if stream:
                    async for _ in answer:
                        pass
            return str(cut.value.code)

        async with house.open():
            ai.base_url = f"{house.url}/v1"
            asking = group.create_task(ask())
            while not house.turns or not next(iter(house.turns.values())).view.text.endswith(" of it"):
                await asyncio.sleep(0.01)
    assert asking.result() == "stopping"


async def test_the_official_client_does_not_start_a_failed_turn_again() -> None:
    house = House(script=ending(StopReason.PROVIDER_UNAVAILABLE))
    async with house.open(), AsyncOpenAI(base_url=f"{house.url}/v1", api_key="x") as ai:
        with pytest.raises(openai.APIStatusError):
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)
    assert len(house.inbound) == 1


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        (StopReason.TRUNCATED, "length"),
        (StopReason.TOKEN_BUDGET, "length"),
        (StopReason.TOOL_LIMIT, "length"),
        (StopReason.REFUSED, "content_filter"),
        (StopReason.COMMAND, "stop"),
        (StopReason.APPROVAL_DENIED, "stop"),
    ],
)
async def test_other_endings_have_their_finish_reason(stop: StopReason, finish: str) -> None:
    house = House(script=ending(stop, "Text so far"))
    async with client(house) as ai:
        answer = await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        assert (answer.choices[0].finish_reason, answer.choices[0].message.content) == (finish, "Text so far")


async def test_b126_a_text_that_is_taken_back_ends_the_stream_with_an_error() -> None:
    async def script(turn: Turn) -> None:
        await turn.write("Hello wor")
        await asyncio.sleep(0.05)
        await turn.show(text="Good morning")
        await turn.stopped.wait()

    house = House(script=script)
    async with client(house) as ai:
        seen = ""
        with pytest.raises(openai.APIError, match="written anew"):
            async for chunk in await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=True):
                seen += chunk.choices[0].delta.content or ""
        assert seen == "Hello wor"
        await asyncio.sleep(0.05)
        assert isinstance(house.inbound[-1], StopPressed)


async def test_a_whole_answer_may_be_rewritten_on_the_way() -> None:
    async def script(turn: Turn) -> None:
        await turn.write("Hello wor")
        await turn.show(text="Good morning")
        await turn.end()

    house = House(script=script)
    async with client(house) as ai:
        answer = await ai.chat.completions.create(model="bowerbird", messages=HELLO)
    assert answer.choices[0].message.content == "Good morning"


@pytest.mark.parametrize("stream", [True, False])
async def test_closing_the_connection_stops_the_turn(stream: bool) -> None:
    async def script(turn: Turn) -> None:
        await turn.write("Working")
        await turn.stopped.wait()

    house = House(script=script)
    async with house.open(), aiohttp.ClientSession() as http:
        body = {"model": "bowerbird", "messages": HELLO, "stream": stream}
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            async with asyncio.timeout(0.3), http.post(house.url + "/v1/chat/completions", json=body) as answer:
                await answer.read()
        await asyncio.sleep(0.1)
        stop = house.inbound[-1]
        assert isinstance(stop, StopPressed)
        assert stop.address == house.inbound[0].address
        turn = next(iter(house.turns.values()))
        assert turn.stopped.is_set()
        with pytest.raises(ChatClosed):
            await house.show(turn.message.address, replace(turn.view, text="nobody reads this"))


async def test_a_turn_that_outlived_its_client_is_stopped_when_it_shows_something() -> None:
    house = House()
    async with house.open():
        orphan = Address("web", "main", "api-of-an-earlier-process")
        with pytest.raises(ChatClosed):
            await house.show(orphan, View("t1", text="after the restart"))
        await asyncio.sleep(0.02)
        assert [type(one) for one in house.inbound] == [StopPressed]
        assert house.inbound[0].address == orphan


async def test_limits_say_what_can_be_taken_back() -> None:
    seen = []

    async def script(turn: Turn) -> None:
        seen.append(turn.house.channel.limits_for(turn.message.address))
        await turn.write("x")
        await turn.end()

    house = House(script=script)
    async with client(house) as ai:
        await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        async for _ in await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=True):
            pass
    assert seen == [AT_ONCE, STREAMED]
    assert house.channel.limits_for(house.address("kitchen")) == house.channel.limits == LIMITS
    assert (AT_ONCE.can_edit, STREAMED.can_edit, LIMITS.can_edit) == (True, False, True)
    assert LIMITS.structured


async def test_the_models_can_be_listed() -> None:
    house = House()
    house.about["models"] = ["anthropic/claude-sonnet-5-5", "ollama/llama3.2"]
    async with client(house) as ai:
        models = [model.id async for model in ai.models.list()]
        assert models == ["bowerbird", "anthropic/claude-sonnet-5-5", "ollama/llama3.2"]
        assert (await ai.models.retrieve("ollama/llama3.2")).owned_by == "bowerbird"
        with pytest.raises(openai.NotFoundError):
            await ai.models.retrieve("gpt-9")


async def test_the_access_token_is_the_api_key() -> None:
    house = House(Config(port=0, token=SecretStr("right")))
    async with client(house, "wrong") as ai:
        with pytest.raises(openai.AuthenticationError) as denied:
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        assert denied.value.code == "invalid_api_key"
        allowed = ai.with_options(api_key="right")
        assert (await allowed.chat.completions.create(model="bowerbird", messages=HELLO)).choices


async def test_what_cannot_be_stored_or_is_refused_is_an_error() -> None:
    house = House(language="en")
    async with client(house) as ai:
        house.full = True
        with pytest.raises(openai.InternalServerError, match="disk of the machine I run on is full"):
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)
        with pytest.raises(openai.InternalServerError, match="disk of the machine I run on is full"):
            await ai.chat.completions.create(model="bowerbird", messages=HELLO, stream=True)
        house.full, house.refusal = False, "Not today."
        with pytest.raises(openai.PermissionDeniedError, match="Not today"):
            await ai.chat.completions.create(model="bowerbird", messages=HELLO)


async def test_a_history_larger_than_a_page_message_is_taken() -> None:
    house = House()
    async with client(house) as ai:
        long: list[Any] = [{"role": "user", "content": "x" * 600_000}, {"role": "assistant", "content": "ok"}, *HELLO]
        assert (await ai.chat.completions.create(model="bowerbird", messages=long)).choices
        with pytest.raises(openai.APIStatusError) as large:
            await ai.chat.completions.create(model="bowerbird", messages=[{"role": "user", "content": "x" * 5_000_000}])
        assert large.value.status_code == 413
