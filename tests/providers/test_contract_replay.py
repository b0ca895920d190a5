"""The contract of `Provider` over every vendor, part three: no history makes a vendor refuse the next request.

The simulator checks each request by the vendor's own rules; the fixture `sim` fails a test that broke one.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from bot.core.model import CallBlock, ImageBlock, ModelStopReason, ThinkingBlock
from bot.core.tool import ToolCall, ToolSpec
from tests.providers.bench import TOOLS, Bench, ask, assistant, called, result, user
from tests.sim.llm import LlmSim, answer, call, stop, text, thinking

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")


async def said_to(sim: LlmSim, bench: Bench, *messages: Any, **more: Any) -> dict[str, Any]:
    """The body that reached the vendor; it was accepted."""
    sim.script(answer(text("Fine.")))
    heard = await ask(bench.bare(), bench.request(*messages, **more))
    assert heard.text == "Fine.", heard.error
    body: dict[str, Any] = sim.chats[-1].body
    return body


async def test_results_go_back_behind_their_calls(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(
        sim,
        bench,
        user("time and sum?"),
        assistant("Let me see.", called("call_1"), called("call_2", "add", a=1)),
        user(result("call_2", "3", name="add"), result("call_1", "12:00"), "and hurry"),
    )
    texts = json.dumps(body["messages"])
    assert texts.index("12:00") < texts.index('"3"') < texts.index("and hurry")


async def test_a_failed_result_says_so(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(
        sim, bench, user("sum?"), assistant(called("call_1", "add")), user(result("call_1", "no numbers", error=True))
    )
    told = json.dumps(body["messages"])
    assert "no numbers" in told
    assert '"is_error": true' in told or "Error: no numbers" in told


async def test_an_empty_result_is_accepted(bench: Bench, sim: LlmSim) -> None:
    for error in (False, True):
        await said_to(sim, bench, user("time?"), assistant(called("call_1")), user(result("call_1", "", error=error)))


async def test_messages_of_one_role_blank_texts_and_empty_messages_are_accepted(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(
        sim,
        bench,
        user("one"),
        user("  "),
        user("two", ""),
        assistant("three"),
        assistant(""),
        assistant("\n"),
        user("4"),
    )
    roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
    assert roles == ["user", "assistant", "user"]


async def test_b155_a_result_without_its_call_is_never_sent(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(sim, bench, user(result("call_gone", "orphaned")), assistant("So."), user("hi"))
    assert "orphaned" not in json.dumps(body)


async def test_b133_a_stored_call_with_broken_arguments_is_accepted(bench: Bench, sim: LlmSim) -> None:
    broken = CallBlock(ToolCall("call_1", "add", {}, "the arguments are not valid JSON"))
    await said_to(
        sim, bench, user("sum?"), assistant(broken), user(result("call_1", "invalid", error=True)), user("never mind")
    )


async def test_calls_of_another_vendor_are_accepted(bench: Bench, sim: LlmSim) -> None:
    """Ids with dots, long ids, and tools that never existed under names that nobody takes."""
    ids = ("functions.get_time:0", "x" * 64, "chatcmpl-tool-ä")
    await said_to(
        sim,
        bench,
        user("time?"),
        assistant(*[called(one, name) for one, name in zip(ids, ("get.time", "", "wetter für morgen"), strict=True)]),
        user(*[result(one) for one in ids]),
    )


async def test_half_characters_are_accepted(bench: Bench, sim: LlmSim) -> None:
    await said_to(
        sim,
        bench,
        user("half \ud83d a bird"),
        assistant(called("call_1", "add", a="\udc26")),
        user(result("call_1", "\ud83d")),
        system="system \udfff",
    )


async def test_images_go_along_as_bytes(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(sim, bench, user("what is it?", ImageBlock("image/png", PNG)))
    assert base64.b64encode(PNG).decode() in json.dumps(body["messages"][-1])


async def test_tool_choice_none_is_accepted_with_and_without_tools(bench: Bench, sim: LlmSim) -> None:
    await said_to(sim, bench, tools=(), tool_choice="none")
    body = await said_to(sim, bench, tool_choice="none")
    if bench.kind == "ollama":
        assert "tools" not in body, "there is no tool_choice at Ollama"
    else:
        assert len(body["tools"]) == len(TOOLS)
        assert body["tool_choice"] in ("none", {"type": "none"})


async def test_a_schema_goes_along(bench: Bench, sim: LlmSim) -> None:
    schema = {"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]}
    body = await said_to(sim, bench, schema=schema, tools=())
    sent = {
        "anthropic": lambda: body["output_config"]["format"]["schema"],
        "openai": lambda: body["response_format"]["json_schema"]["schema"],
        "ollama": lambda: body["format"],
    }[bench.kind]()
    assert sent["properties"] == schema["properties"]


async def test_no_system_text_is_accepted(bench: Bench, sim: LlmSim) -> None:
    body = await said_to(sim, bench, system="", tools=())
    assert "system" not in body
    assert "tools" not in body


async def test_b175_what_stands_first_is_byte_equal_from_turn_to_turn(bench: Bench, sim: LlmSim) -> None:
    first = await said_to(sim, bench, user("one"))
    second = await said_to(sim, bench, user("one"), assistant("Fine."), user("two"))
    for key in ("system", "tools"):
        assert json.dumps(first.get(key)) == json.dumps(second.get(key))
    opening = [[m for m in body["messages"] if m["role"] == "system"] for body in (first, second)]
    assert opening[0] == opening[1]


async def test_b143_reasoning_is_replayed_as_it_came_while_its_tool_loop_runs(bench: Bench, sim: LlmSim) -> None:
    provider = bench.bare()
    sim.script(
        answer(thinking('Zeit → 时间 "now"'), text("Let me see."), call("c1", "get_time")), answer(text("Noon."))
    )
    asked = bench.request(user("time?"))
    first = await ask(provider, asked)
    said = assistant(*first.thoughts, "Let me see.", *map(CallBlock, first.calls))
    loop = [user("time?"), said, user(result(first.calls[0].id))]
    second = await ask(provider, bench.request(*loop))
    assert second.text == "Noon.", second.error
    replayed = next(message for message in sim.chats[-1].body["messages"] if message["role"] == "assistant")
    sent = replayed["content"][0] if bench.kind == "anthropic" else replayed
    raw = json.loads(first.thoughts[0].raw)
    assert {key: sent[key] for key in raw} == raw
    if bench.kind == "anthropic":
        assert json.dumps(sent, ensure_ascii=False, separators=(",", ":")) == first.thoughts[0].raw


async def test_b144_reasoning_of_earlier_turns_and_other_vendors_is_dropped_whole(bench: Bench, sim: LlmSim) -> None:
    own = ThinkingBlock(bench.kind, "old plan", '{"type":"thinking","thinking":"old plan","signature":"c2ln"}')
    other = ThinkingBlock("elsewhere", "their plan", '{"reasoning_content":"their plan"}')
    body = await said_to(
        sim,
        bench,
        user("time?"),
        assistant(own, called("call_1")),
        user(result("call_1")),
        assistant(own, "Noon."),
        user("sum?"),
        assistant(other, called("call_2", "add", a=1)),
        user(result("call_2", "1", name="add")),
    )
    told = json.dumps(body)
    assert "plan" not in told
    assert "c2ln" not in told


async def test_a_tool_without_parameters_is_accepted(bench: Bench, sim: LlmSim) -> None:
    await said_to(sim, bench, tools=(ToolSpec("ping", "", {"type": "object"}),))


async def test_a_history_that_begins_with_the_assistant_is_accepted(bench: Bench, sim: LlmSim) -> None:
    await said_to(sim, bench, assistant("As I said."), user("go on"))


async def test_an_endpoint_of_the_model_goes_before_the_providers(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Fine."), stop()))
    provider = bench.bare(base_url="http://127.0.0.1:9/v1")
    heard = await ask(provider, bench.request(endpoint=bench.base_url))
    assert heard.stop.reason is ModelStopReason.END
