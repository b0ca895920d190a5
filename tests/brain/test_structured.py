"""Objects out of models: read, mended once, or given up with a clear word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from bot.brain.structured import MOST_TOKENS, object_in, structured
from bot.core.errors import ContentRefused, ProviderBusy, StructuredFailed
from bot.core.model import (
    Message,
    ModelCall,
    ModelRef,
    ModelRequest,
    ModelStop,
    ModelStopReason,
    ModelText,
    ModelUsage,
    TextBlock,
    Usage,
)
from bot.core.tool import ToolCall
from tests.fakes.provider import FakeProvider, says
from tests.providers.bench import TOOLS


class Verdict(BaseModel):
    intent: str
    score: float


REQUEST = ModelRequest(
    ModelRef("a", "small", max_tokens=9000),
    "Classify.",
    (Message("user", (TextBlock("what is the time?"),)),),
    tools=TOOLS,
    schema=Verdict.model_json_schema(),
)
GOOD = '{"intent": "time", "score": 0.9}'


async def asked(provider: FakeProvider) -> Verdict:
    return await structured(provider, REQUEST, Verdict.model_validate)


@pytest.mark.parametrize(
    "said", [GOOD, f"```json\n{GOOD}\n```", f"Here it is:\n{GOOD}\nI hope it helps.", f"Sure {{as asked}}:\n{GOOD}"]
)
async def test_the_object_is_found_whatever_stands_around_it(said: str) -> None:
    assert await asked(FakeProvider(says(said[:9], said[9:]))) == Verdict(intent="time", score=0.9)


async def test_the_request_is_bounded_and_offers_no_tools() -> None:
    provider = FakeProvider(says(GOOD))
    await asked(provider)
    (request,) = provider.requests
    assert (request.tools, request.model.max_tokens, request.prefill) == ((), MOST_TOKENS, "{")
    assert request.schema == REQUEST.schema


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("It is about the time.", "no JSON object"),
        ('{"intent": "time", "score": ', "not valid"),
        ('{"intent": "time", "score": {"value": 1}, oops}', "not valid"),
        ('["time"]', "no JSON object"),
        ('{"intent": "time"}', "Field required"),
        ("", "no JSON object"),
    ],
)
async def test_a_wrong_answer_is_shown_to_the_model_with_what_is_wrong_once(said: str, words: str) -> None:
    provider = FakeProvider(says(said), says(GOOD))
    assert (await asked(provider)).intent == "time"
    before, answer, mend = provider.requests[1].messages
    assert before == REQUEST.messages[0]
    assert answer.content == (TextBlock(said),) and mend.role == "user"
    assert isinstance(mend.content[0], TextBlock) and words in mend.content[0].text


async def test_an_answer_that_was_cut_off_is_asked_for_shorter() -> None:
    provider = FakeProvider(says('{"intent": "ti', stop=ModelStopReason.MAX_TOKENS), says(GOOD))
    await asked(provider)
    (block,) = provider.requests[1].messages[-1].content
    assert isinstance(block, TextBlock) and f"cut off after {MOST_TOKENS} tokens" in block.text


async def test_a_second_wrong_answer_is_a_clear_failure() -> None:
    provider = FakeProvider(says("no"), says("still no"), says(GOOD))
    with pytest.raises(StructuredFailed, match="a/small gave no usable object") as failed:
        await asked(provider)
    assert failed.value.cause is None and len(provider.requests) == 2


@pytest.mark.parametrize("refusal", [[ModelStop(ModelStopReason.REFUSED)], [ContentRefused("x")]])
async def test_a_refusal_is_not_argued_with(refusal: list[Any]) -> None:
    provider = FakeProvider(refusal, says(GOOD))
    with pytest.raises(StructuredFailed, match="declined"):
        await asked(provider)
    assert len(provider.requests) == 1


async def test_a_model_that_cannot_be_asked_is_the_same_failure_with_its_cause() -> None:
    with pytest.raises(StructuredFailed) as failed:
        await asked(FakeProvider([ProviderBusy("x")]))
    assert isinstance(failed.value.cause, ProviderBusy)


async def test_every_call_is_billed_also_those_that_came_to_nothing() -> None:
    bills: list[Usage] = []

    async def bill(usage: Usage) -> None:
        bills.append(usage)

    provider = FakeProvider(
        [ModelUsage(Usage(50, 3)), *says("no")], [ModelUsage(Usage(60, 1)), ModelText("{"), ProviderBusy("x")]
    )
    with pytest.raises(StructuredFailed):
        await structured(provider, REQUEST, Verdict.model_validate, bill=bill)
    assert bills[0] == Usage(50, 3)
    assert (bills[1].input_tokens, bills[1].estimated) == (60, True)


async def test_a_call_in_place_of_an_object_is_no_object() -> None:
    provider = FakeProvider([ModelCall(ToolCall("c", "get_time")), *says("")], says(GOOD))
    assert (await asked(provider)).score == 0.9


async def test_without_a_shape_there_is_nothing_to_ask_for() -> None:
    with pytest.raises(ValueError, match="schema"):
        await structured(FakeProvider(), ModelRequest(REQUEST.model, "", REQUEST.messages), Verdict.model_validate)


def test_a_part_of_a_broken_object_is_not_taken_for_the_object() -> None:
    with pytest.raises(ValueError, match="not valid"):
        object_in('{\n  "intent": {"name": "time"},\n  oops\n}')


def test_an_object_deeper_than_python_reads_is_a_wrong_answer() -> None:
    deep = '{"a":' * 50_000
    with pytest.raises(ValueError, match="not valid"):
        object_in(deep)


def test_line_breaks_within_strings_are_forgiven() -> None:
    found: Mapping[str, Any] = object_in('{"intent": "a\nb", "score": 1}')
    assert found["intent"] == "a\nb"
