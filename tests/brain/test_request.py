"""Whatever a conversation holds, what is sent fits the window and is of the form that every vendor demands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.brain.budget import prompt_tokens
from bot.brain.history import by_turn, paired
from bot.brain.past import answerable, front_in, front_of
from bot.brain.prompt import Guide, Persona, request_for
from bot.brain.shrink import LEAST_CHARS
from bot.brain.turn import Turn
from bot.core.inbound import UserMessage
from bot.core.model import CallBlock, ModelRef, ModelRequest, ResultBlock, TextBlock, ThinkingBlock
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall, ToolSpec
from bot.core.transcript import (
    Body,
    EndRow,
    JoinedRow,
    KeptFile,
    ResultRow,
    RouteRow,
    Row,
    StepRow,
    SummaryRow,
    UserRow,
)
from bot.providers.anthropic.request import messages_body
from bot.providers.ollama.request import chat_body
from bot.providers.openai import completion_body
from tests.brain.conftest import HERE, OWNER
from tests.brain.samples import log, objects, table
from tests.sim.llm import anthropic_rules, ollama_rules, openai_rules
from tests.sim.llm.signatures import ThinkingMemory

TOOL: Final = ToolSpec("look", "Looks something up.", {"type": "object", "properties": {}}, Effect.READ)
GUIDES: Final = (Guide("quiz", "Ask one question at a time. " * 20),)
SAID: Final = st.sampled_from(
    ["hi", "你好，" * 30, "Please remember the number 42.", "and what about the harbour? " * 40]
)
FOUND: Final = st.sampled_from(["ok", "", "word " * 2000, "字" * 9000, table() * 9, log() * 4, objects() * 4])
FILES: Final = st.sampled_from([(), (), (KeptFile("a.txt", "text/plain", text="line of text\n" * 4000),)])


@st.composite
def steps(draw: st.DrawFn, turn: str) -> list[Body]:
    rows: list[Body] = []
    for step in range(draw(st.integers(0, 5))):
        ids = [f"{turn}.{step}.{n}" for n in range(draw(st.integers(0, 3)))]
        calls = (CallBlock(ToolCall(id_, "look", {"at": draw(SAID)})) for id_ in ids)
        rows.append(StepRow(step, (ThinkingBlock("a", "t", "{}"), TextBlock(draw(SAID)), *calls), "a/b", "end"))
        rows += [ResultRow(id_, "look", draw(FOUND)) for id_ in ids if draw(st.integers(0, 9))]
    return rows


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """The rows before a turn and those of the turn, each turn with the front that the loop would give it."""
    past: list[Row] = []
    count = draw(st.integers(0, 26))
    for number in range(count + 1):
        front = front_of(answerable(by_turn(past)), front_in(past))
        route = RouteRow("", "", "", "default", ("a/b",), front=front)
        bodies: list[Body] = [UserRow(draw(SAID), OWNER, f"{number}", files=draw(FILES)), route]
        bodies += [JoinedRow(("quiz",), (), ("quiz",))] if number == 3 else []
        bodies += (
            draw(steps(f"t{number}"))
            if number % 5 == 0 or number == count
            else [StepRow(0, (TextBlock("ok"),), "a/b", "")]
        )
        if number < count:
            bodies.append(EndRow(StopReason.ANSWERED))
        rows = [Row(100 * number + n + 1, HERE, f"t{number}", 60.0 * number, body) for n, body in enumerate(bodies)]
        past = [*past, *rows]
    rows = [row for row in past if row.turn == f"t{count}"]
    summed = [Row(100 * count, HERE, "s", 1.0, SummaryRow("They spoke of harbours. " * 50, front_in(rows)))]
    return [*(row for row in past if row.turn != f"t{count}"), *(summed if draw(st.booleans()) else [])], rows


def built(past: Sequence[Row], rows: Sequence[Row], window: int, **more: Any) -> ModelRequest:
    message = UserMessage("1", HERE, OWNER, next(row.body.text for row in rows if isinstance(row.body, UserRow)), 1.0)
    return request_for(
        Turn(rows[0].turn, message, "en"),
        ModelRef("a", "claude-sonnet-5-5", max_tokens=512, window_tokens=window),
        Persona("You are a test.", "small"),
        history=past,
        rows=rows,
        tools=(TOOL,),
        skills=GUIDES,
        at=rows[0].at,
        zone="UTC",
        **more,
    )


def refusals(request: ModelRequest) -> list[Any]:
    """What the simulators of the vendors' rules have against it."""
    headers = {"anthropic-version": "2023-06-01"}
    claude = messages_body(request, "anthropic")
    ollama = chat_body(request, "ollama", window_tokens=8192)
    return [
        *anthropic_rules.complaints(claude, headers, ThinkingMemory(), counting=False, binding=True),
        *openai_rules.complaints(completion_body(request, "openai")),
        *ollama_rules.complaints(ollama, ("completion", "tools")),
    ]


def is_least(request: ModelRequest, rows: Sequence[Row]) -> bool:
    """Whether nothing is left of it that could have been left out."""
    results = [block for message in request.messages for block in message.content if isinstance(block, ResultBlock)]
    mine = {row.body.call_id for row in rows if isinstance(row.body, ResultRow)}
    calls = {
        block.call.id
        for row in rows
        if isinstance(row.body, StepRow)
        for block in row.body.content
        if isinstance(block, CallBlock)
    }
    return all(len(result.text) <= LEAST_CHARS and result.call_id in mine | calls for result in results)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    conversations(),
    st.sampled_from([2_000, 6_000, 9_000, 20_000, 60_000, 200_000]),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([0.8, 1.0, 1.6]),
    st.sampled_from([{}, {"continues": True}, {"unfinished": "And then"}, {"no_more_tools": "Answer now."}]),
)
def test_b151_whatever_was_said_and_found_the_prompt_fits_and_every_vendor_takes_it(
    conversation: tuple[list[Row], list[Row]], window: int, share: float, scale: float, more: Mapping[str, Any]
) -> None:
    past, rows = conversation
    request = built(past, rows, window, share=share, scale=scale, **more)
    assert paired(request.messages)
    assert not refusals(request)
    fits = prompt_tokens(request) * scale <= (window - 512) * share
    assert fits or is_least(request, rows)


@pytest.mark.parametrize("window", [9_000, 20_000])
def test_results_give_way_before_the_history_does_and_the_newest_last(window: int) -> None:
    past: list[Row] = []
    for number in range(6):
        bodies: list[Body] = [
            UserRow(f"question {number}", OWNER, f"{number}"),
            StepRow(0, (TextBlock("ok"),), "a/b", ""),
        ]
        past += [Row(10 * number + n + 1, HERE, f"t{number}", 1.0, body) for n, body in enumerate(bodies)]
    said: list[Body] = [UserRow("look at all", OWNER, "9")]
    for step in range(9):
        said += [
            StepRow(step, (CallBlock(ToolCall(f"c{step}", "look", {})),), "a/b", ""),
            ResultRow(f"c{step}", "look", table() * 9),
        ]
    request = built(past, [Row(100 + n, HERE, "t9", 1.0, body) for n, body in enumerate(said)], window)
    results = [block for message in request.messages for block in message.content if isinstance(block, ResultBlock)]
    lengths = [len(result.text) for result in results]
    assert len(request.messages) > 6 * 2 + 9 * 2, "the history is whole"
    assert max(lengths[:-1]) <= LEAST_CHARS < lengths[-1]
    assert all("date,number,amount,currency" in result.text for result in results)


def test_until_results_give_way_the_prompt_of_a_step_begins_with_that_of_the_step_before() -> None:
    said: list[Body] = [UserRow("look at all", OWNER, "9")]
    before: ModelRequest | None = None
    changed = 0
    for step in range(24):
        request = built([], [Row(100 + n, HERE, "t9", 1.0, body) for n, body in enumerate(said)], 20_000)
        if before is not None:
            changed += request.messages[: len(before.messages)] != before.messages
        before = request
        said += [
            StepRow(step, (CallBlock(ToolCall(f"c{step}", "look", {})),), "a/b", ""),
            ResultRow(f"c{step}", "look", log()),
        ]
    assert 0 < changed <= 6


@pytest.mark.parametrize("unseen", ["```\n```", "\ufeff\u200b"])
def test_after_an_answer_that_showed_nothing_the_prompt_still_ends_with_the_person(unseen: str) -> None:
    """A vendor that goes on from no beginning refuses what ends in the model's own words."""
    rows = [
        Row(1, HERE, "t", 1.0, UserRow("hi", OWNER, "1")),
        Row(2, HERE, "t", 1.0, StepRow(0, (TextBlock(unseen),), "a/b", "end")),
    ]
    request = built([], rows, 20_000)
    assert request.messages[-1].role == "user" and not refusals(request)
