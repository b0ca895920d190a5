"""Dialogues that a third party speaks in the words of each vendor.

Where aimock is wrong about a vendor, the case says so and asserts what is right.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.core.errors import RequestRefused
from bot.core.model import CallBlock, Message, ModelStopReason, ModelText, ModelThinking, ModelUsage, ThinkingBlock
from tests.providers.bench import VENDORS, Heard, SleeplessClock, assistant, result, user
from tests.referees.aimock import Aimock, calls, says
from tests.referees.conftest import Wire
from tests.referees.wired import Wired

pytestmark = pytest.mark.timeout(func_only=True)

POEM = "Twigs in a row, 蓝色的羽毛, and one bottle cap 🐦."


@pytest.fixture(params=sorted(VENDORS))
def vendor(request: pytest.FixtureRequest, aimock: Aimock, wire: Wire) -> Wired:
    return wire(request.param, aimock.base_url(request.param), SleeplessClock())


def loop(heard: Heard, *texts: str) -> tuple[Message, Message]:
    """The step that was heard, and the results of its calls, as they go back to the vendor."""
    said = assistant(*heard.thoughts, heard.text, *map(CallBlock, heard.calls))
    results = [result(call.id, text, name=call.name) for call, text in zip(heard.calls, texts, strict=True)]
    return said, user(*results)


async def test_text_comes_whole_and_in_pieces(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(says(POEM))
    heard = await vendor.ask()
    assert heard.text == POEM
    assert sum(isinstance(event, ModelText) for event in heard.events) > 3
    assert heard.stop.reason is ModelStopReason.END


async def test_tokens_are_counted(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(says("Hi", usage={"prompt_tokens": 120, "completion_tokens": 7}))
    heard = await vendor.ask()
    if (
        vendor.kind == "ollama"
    ):  # aimock's counts nothing, whatever is scripted, and nothing is no count; Ollama counts both
        assert not any(isinstance(event, ModelUsage) for event in heard.events)
    else:
        assert (heard.usage.input_tokens, heard.usage.output_tokens) == (120, 7)


async def test_the_system_text_and_the_tools_arrive(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(
        {"match": {"systemMessage": ["bowerbird", "blue"], "toolName": "add", "userMessage": "collect"}} | says("Blue.")
    )
    heard = await vendor.ask(user("What do you collect?"), system="You are a bowerbird. You like blue.")
    assert heard.text == "Blue."


async def test_reasoning_is_no_text_and_kept_for_the_loop(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(says("Forty-two.", reasoning="Six times seven, then."))
    heard = await vendor.ask()
    assert heard.text == "Forty-two."
    thought = "".join(event.text for event in heard.events if isinstance(event, ModelThinking))
    if vendor.kind == "ollama":
        # aimock calls the field `reasoning_content`; Ollama's own is `thinking` (docs.ollama.com/api/chat).
        assert (thought, heard.thoughts) == ("", [])
    else:
        assert thought == "Six times seven, then."
        assert [block.text for block in heard.thoughts] == ["Six times seven, then."]


async def test_a_call_goes_out_and_its_result_back(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(
        {"match": {"turnIndex": 0, "hasToolResult": False}} | calls(("call_sum", "add", {"a": 17, "b": 4})),
        {"match": {"turnIndex": 1, "hasToolResult": True, "toolResultContains": "21"}} | says("It is 21."),
    )
    asked = user("17 and 4?")
    first = await vendor.ask(asked)
    assert [(call.name, call.arguments, call.invalid) for call in first.calls] == [("add", {"a": 17, "b": 4}, "")]
    assert first.stop.reason is ModelStopReason.TOOL_USE
    second = await vendor.ask(asked, *loop(first, "21"))
    assert (second.text, second.stop.reason) == ("It is 21.", ModelStopReason.END)


async def test_parallel_calls_keep_their_order_and_their_results(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(
        {"match": {"turnIndex": 0}} | calls(("call_1", "get_time", {}), ("call_2", "add", {"a": 1, "b": 2})),
        {"match": {"turnIndex": 1, "toolResultContains": "three"}} | says("Noon, and three."),
    )
    asked = user("time and sum?")
    first = await vendor.ask(asked)
    assert [call.name for call in first.calls] == ["get_time", "add"]
    second = await vendor.ask(asked, *loop(first, "noon", "three"))
    assert second.text == "Noon, and three."
    said = (await aimock.asked())[-1]["messages"]
    assert [message["content"] for message in said if message["role"] == "tool"] == ["noon", "three"]
    if vendor.kind != "ollama":  # which has no ids
        made = [call["id"] for message in said for call in message.get("tool_calls", [])]
        assert made == [call.id for call in first.calls] == ["call_1", "call_2"]
        assert [message["tool_call_id"] for message in said if message["role"] == "tool"] == made


async def test_text_before_and_behind_a_call_is_text(aimock: Aimock, vendor: Wired) -> None:
    blocks = [
        {"type": "text", "text": "First "},
        {"type": "toolCall", "id": "call_1", "name": "get_time", "arguments": {}},
        {"type": "text", "text": "then."},
        {"type": "toolCall", "id": "call_2", "name": "add", "arguments": {"a": 1}},
    ]
    await aimock.script({"response": {"blocks": blocks}})
    heard = await vendor.ask()
    assert heard.text == "First then."
    assert [call.name for call in heard.calls] == ["get_time", "add"]
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_a_long_conversation_is_answered_turn_by_turn(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(
        {"match": {"turnIndex": 0, "userMessage": "one"}} | calls(("c1", "get_time", {})),
        {"match": {"turnIndex": 1, "toolResultContains": "noon"}} | calls(("c2", "add", {"a": 2})),
        {"match": {"turnIndex": 2, "toolResultContains": "four"}} | says("Noon and four."),
        {"match": {"turnIndex": 3, "userMessage": "two", "hasToolResult": False}} | says("You are welcome."),
    )
    said: list[Message] = [user("one")]
    for text in ("noon", "four"):
        heard = await vendor.ask(*said)
        said += loop(heard, text)
    third = await vendor.ask(*said)
    assert third.text == "Noon and four."
    last = await vendor.ask(*said, assistant(third.text), user("two"))
    assert last.text == "You are welcome."


async def test_signed_and_redacted_reasoning_leads_the_step_when_it_goes_back(aimock: Aimock, wire: Wire) -> None:
    """With thinking on, aimock refuses a tool loop whose step does not begin with its reasoning, signature and all."""
    # aimock knows only the older way to turn it on; today's is `adaptive`.
    older = {"type": "enabled", "budget_tokens": 2048}
    claude = wire("anthropic", aimock.base_url("anthropic"), SleeplessClock(), thinking=older)
    await aimock.script(
        {"match": {"turnIndex": 0}}
        | calls(
            ("toolu_1", "get_time", {}), reasoning="The clock.", reasoningSignature="c2ln", redactedThinking=["aGlk"]
        ),
        {"match": {"turnIndex": 1, "hasToolResult": True}} | says("Noon."),
    )
    asked = user("time?")
    first = await claude.ask(asked)
    assert [block.raw for block in first.thoughts] == [
        '{"type":"redacted_thinking","data":"aGlk"}',
        '{"type":"thinking","thinking":"The clock.","signature":"c2ln"}',
    ]
    step, results = loop(first, "noon")
    assert (await claude.ask(asked, step, results)).text == "Noon."
    without = Message("assistant", tuple(block for block in step.content if not isinstance(block, ThinkingBlock)))
    assert isinstance((await claude.ask(asked, without, results)).error, RequestRefused), "the referee looks away"


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", ModelStopReason.MAX_TOKENS), ("content_filter", ModelStopReason.REFUSED)],
)
async def test_an_end_that_is_no_end_says_so(
    aimock: Aimock, vendor: Wired, finish: str, reason: ModelStopReason
) -> None:
    # Anthropic's own word for a filtered answer is `refusal`; aimock hands OpenAI's through.
    word = "refusal" if vendor.kind == "anthropic" and finish == "content_filter" else finish
    await aimock.script(says("Once upon", finishReason=word))
    heard = await vendor.ask()
    assert heard.text == "Once upon"
    # aimock's Ollama ends every answer with done_reason "stop"; Ollama says "length", which tests/providers covers.
    assert heard.stop.reason is (ModelStopReason.END if vendor.kind == "ollama" else reason)


async def test_arguments_that_are_no_object_never_run(aimock: Aimock, vendor: Wired) -> None:
    await aimock.script(calls(("c1", "add", "[1, 2]"), ("c2", "get_time", "{}")))
    heard = await vendor.ask()
    assert [(call.arguments, call.invalid) for call in heard.calls] == [
        ({}, "the arguments must be a JSON object, not an array"),
        ({}, ""),
    ]


@pytest.mark.parametrize(
    ("written", "why"), [('{"a": 1, "b"', "cut off"), ('{"a": one}', "not valid JSON"), ("add 1 and 2", "not valid")]
)
async def test_arguments_that_are_no_json_never_run(
    aimock: Aimock, wire: Wire, tmp_path: Path, written: str, why: str
) -> None:
    # Only as OpenAI does aimock pass broken arguments on; as Anthropic and Ollama it puts `{}` in their place. The
    # real Anthropic streams them as they are, and so does llmock (test_llmock_streams).
    broken = {"match": {}, "response": {"toolCalls": [{"id": "c1", "name": "add", "arguments": written}]}}
    with Aimock.serving(tmp_path, [broken]) as lenient:
        heard = await wire("openai", lenient.base_url("openai"), SleeplessClock()).ask()
    assert [(call.name, call.arguments) for call in heard.calls] == [("add", {})]
    assert why in heard.calls[0].invalid
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_a_schema_asks_for_json(aimock: Aimock, wire: Wire) -> None:
    # As Anthropic and Ollama, aimock reads no schema at all.
    schema = {"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]}
    await aimock.script({"match": {"responseFormat": "json_schema"}} | says('{"intent":"greet"}'))
    heard = await wire("openai", aimock.base_url("openai"), SleeplessClock()).ask(schema=schema, tools=())
    assert heard.text == '{"intent":"greet"}'
