"""What an OpenAI request becomes in the house's own words, and which requests are refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.core.model import CallBlock, Message, ResultBlock, TextBlock
from bot.core.tool import ToolCall
from tests.channels.web.house import House, Turn, echo
from tests.channels.web.official import HELLO, TOOL, asked, client


async def test_results_come_back_as_the_end_of_the_history() -> None:
    house = House(script=echo)
    assistant: Any = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Wien"}'}},
            {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": ""}},
        ],
    }
    results: list[Any] = [
        {"role": "tool", "tool_call_id": "call_2", "content": "rain"},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "sun"}]},
    ]
    async with client(house) as ai:
        answer = await ai.chat.completions.create(
            model="bowerbird", messages=[*HELLO, assistant, *results], tools=[TOOL]
        )
    assert answer.choices[0].finish_reason == "stop"
    message = asked(house)
    assert message.text == ""
    assert message.caller is not None
    assert message.caller.history == (
        Message("user", (TextBlock("Hello"),)),
        Message(
            "assistant",
            (
                CallBlock(ToolCall("call_1", "get_weather", {"city": "Wien"})),
                CallBlock(ToolCall("call_2", "get_weather", {})),
            ),
        ),
        Message("user", (ResultBlock("call_2", "get_weather", "rain"), ResultBlock("call_1", "get_weather", "sun"))),
    )


BAD: list[tuple[str, dict[str, Any]]] = [
    ("messages", {}),
    ("messages", {"messages": []}),
    ("messages", {"messages": "hi"}),
    ("messages[0]", {"messages": ["hi"]}),
    ("messages[0].role", {"messages": [{"role": "wizard", "content": "x"}]}),
    ("messages[0].content", {"messages": [{"role": "user", "content": 5}]}),
    ("messages[0].content", {"messages": [{"role": "user", "content": [{"type": "audio"}]}]}),
    (
        "messages[0].content",
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]},
    ),
    ("messages", {"messages": [{"role": "user", "content": "  "}]}),
    ("messages", {"messages": [{"role": "system", "content": "x"}]}),
    ("messages", {"messages": [*HELLO, {"role": "assistant", "content": "and now?"}]}),
    ("messages[0].tool_call_id", {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}),
    (
        "messages[1]",
        {
            "messages": [
                {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "user", "content": "never mind"},
            ]
        },
    ),
    ("messages[0].tool_calls", {"messages": [{"role": "assistant", "tool_calls": [{"id": 5}]}, *HELLO]}),
    ("tools[0]", {"messages": HELLO, "tools": [{"type": "function", "function": {"name": "bad name"}}]}),
    ("tools[0]", {"messages": HELLO, "tools": ["x"]}),
    ("tools", {"messages": HELLO, "tools": [TOOL] * 129}),
    ("tool_choice", {"messages": HELLO, "tools": [TOOL], "tool_choice": {"function": {"name": "other"}}}),
    ("tool_choice", {"messages": HELLO, "tools": [TOOL], "tool_choice": "required"}),
    ("stop", {"messages": HELLO, "stop": ["a", 5]}),
    ("stop", {"messages": HELLO, "stop": ["a", "b", "c", "d", "e"]}),
    ("max_tokens", {"messages": HELLO, "max_tokens": 0}),
    ("max_completion_tokens", {"messages": HELLO, "max_completion_tokens": "many"}),
    ("n", {"messages": HELLO, "n": 2}),
    ("response_format", {"messages": HELLO, "response_format": {"type": "json_object"}}),
    ("stream_options", {"messages": HELLO, "stream_options": 1}),
    ("model", {"messages": HELLO, "model": 7}),
]


@pytest.mark.parametrize(("param", "body"), BAD, ids=range(len(BAD)))
async def test_b155_a_wrong_request_is_refused_in_openais_shape(param: str, body: dict[str, Any]) -> None:
    house = House()
    async with (
        house.open(),
        aiohttp.ClientSession() as http,
        http.post(house.url + "/v1/chat/completions", json=body) as answer,
    ):
        assert answer.status == 400
        error = (await answer.json())["error"]
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]
    assert house.inbound == []


async def test_arguments_that_are_no_object_are_marked_not_guessed() -> None:
    house = House()
    call: Any = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    messages: list[Any] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "failed"},
    ]
    async with client(house) as ai:
        await ai.chat.completions.create(model="bowerbird", messages=messages)
    caller = asked(house).caller
    assert caller is not None
    block = caller.history[0].content[0]
    assert isinstance(block, CallBlock)
    assert block.call.invalid
    assert block.call.arguments == {}


async def test_tool_choice_narrows_what_is_offered() -> None:
    other = json.loads(json.dumps(TOOL).replace("get_weather", "other"))
    for choice, names in (
        ("none", []),
        ("auto", ["get_weather", "other"]),
        ({"function": {"name": "other"}}, ["other"]),
    ):
        house = House()
        async with client(house) as ai:
            await ai.chat.completions.create(
                model="bowerbird",
                messages=HELLO,
                tools=[TOOL, other],
                tool_choice={"type": "function", **choice} if isinstance(choice, dict) else choice,
            )
        caller = asked(house).caller
        assert caller is not None
        assert [tool.name for tool in caller.tools] == names


async def test_pictures_reach_the_house_through_fetch(tmp_path: Path) -> None:
    got = []

    async def script(turn: Turn) -> None:
        got.extend([await turn.house.channel.fetch(file) for file in turn.message.files])
        await turn.write("A bird.")
        await turn.end()

    house = House(script=script, data_dir=tmp_path)
    data = base64.b64encode(b"\x89PNG bytes").decode()
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
    ]
    async with client(house) as ai:
        await ai.chat.completions.create(model="bowerbird", messages=[{"role": "user", "content": content}])
    assert got == [b"\x89PNG bytes"]
    assert [(file.media_type, file.size_bytes) for file in asked(house).files] == [("image/png", 10)]
