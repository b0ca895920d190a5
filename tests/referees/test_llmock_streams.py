"""Answers that a third party breaks on the wire, at the first frame and in the middle of the text."""

from __future__ import annotations

from typing import Any, Final

import pytest

from bot.core.errors import ProviderError, StreamCut, StreamStalled
from bot.core.model import CallBlock, ModelStopReason
from bot.time.clock import SystemClock
from tests.providers.bench import assistant, result, user
from tests.referees.conftest import CHUNK_SECONDS, Wire
from tests.referees.llmock import PATHS, Llmock, asked, breaks, reply
from tests.referees.wired import LONG, Wired, at_once

pytestmark = pytest.mark.timeout(func_only=True)

AT_ONCE, IN_THE_TEXT = 1, 4
PATIENCE: Final = {"first_seconds": 1.2, "silence_seconds": 1.0}
"""Short beside llmock's 30 s of silence, long beside what a busy machine takes for an answer."""


@pytest.fixture(params=sorted(PATHS))
def vendor(request: pytest.FixtureRequest, llmock: Llmock, wire: Wire) -> Wired:
    return wire(request.param, llmock.base_url(request.param), SystemClock())


@pytest.fixture
def vendors(llmock: Llmock, wire: Wire) -> list[Wired]:
    return [wire(kind, llmock.base_url(kind), SystemClock()) for kind in PATHS]


@pytest.fixture
def hasty(llmock: Llmock, wire: Wire) -> list[Wired]:
    return [wire(kind, llmock.base_url(kind), SystemClock(), **PATIENCE) for kind in PATHS]


async def test_an_answer_that_breaks_before_its_text_is_asked_for_again(llmock: Llmock, vendors: list[Wired]) -> None:
    kinds = ("truncate", "disconnect")
    answers = await at_once(asked(llmock, vendor, breaks(kind, AT_ONCE)) for vendor in vendors for kind in kinds)
    assert [heard.text for heard in answers] == [LONG] * 4
    assert [heard.stop.reason for heard in answers] == [ModelStopReason.END] * 4
    assert len(await llmock.attempts()) == 8
    assert await llmock.complaints() == []


async def test_an_answer_that_is_garbled_before_its_text_is_asked_for_again(tight: Llmock, wire: Wire) -> None:
    """At a slow writer: whether garbage was read on is judged by whether the connection lasted to the end."""
    vendors = [wire(kind, tight.base_url(kind), SystemClock()) for kind in PATHS]
    answers = await at_once(asked(tight, vendor, breaks("malformed", AT_ONCE)) for vendor in vendors)
    assert [heard.text for heard in answers] == [LONG] * 2
    assert len(await tight.attempts()) == 4
    assert await tight.complaints() == []


BREAKS: list[tuple[str, type[ProviderError], str]] = [
    ("truncate", StreamCut, "truncated_stream_accepted"),
    ("malformed", StreamCut, "malformed_chunk_ignored"),
    ("disconnect", StreamCut, "gave_up"),
]


@pytest.mark.parametrize(("kind", "error", "suspicion"), BREAKS)
async def test_an_answer_that_breaks_in_its_text_is_never_taken_for_whole(
    llmock: Llmock, vendor: Wired, kind: str, error: type[ProviderError], suspicion: str
) -> None:
    heard = await asked(llmock, vendor, breaks(kind, IN_THE_TEXT))
    assert type(heard.error) is error
    assert heard.text
    assert LONG.startswith(heard.text)
    assert heard.text != LONG
    # llmock sees requests only and suspects that the half answer was used. The provider must not ask again by itself,
    # since the half was shown: the Brain does, who can take it back (test_llmock_turns).
    assert await llmock.complaints() == [suspicion]


async def test_streams_that_break_every_time_are_given_up_for_an_answer_in_one_piece(
    llmock: Llmock, wire: Wire
) -> None:
    answers = await at_once(
        asked(llmock, wire(kind, llmock.base_url(kind), SystemClock()), breaks(how, AT_ONCE), None)
        for kind in PATHS
        for how in ("truncate", "malformed", "disconnect")
    )
    assert [(heard.error, heard.text) for heard in answers] == [(None, LONG)] * len(answers)
    assert len(await llmock.attempts()) == 3 * len(answers)
    assert not {"retry_storm", "no_backoff"} & set(await llmock.complaints())


async def test_silence_in_the_text_ends_the_answer(llmock: Llmock, hasty: list[Wired]) -> None:
    answers = await at_once(asked(llmock, vendor, breaks("stall", IN_THE_TEXT)) for vendor in hasty)
    assert all(isinstance(heard.error, StreamStalled) for heard in answers)
    assert all(heard.text and LONG.startswith(heard.text) for heard in answers)
    attempts = await llmock.attempts()
    assert len(attempts) == len(hasty)
    assert not any(attempt["completed"] for attempt in attempts), "the connection was closed in the silence"
    assert all(attempt["stall_waited"] < 5 for attempt in attempts)
    assert await llmock.complaints() == []


SILENCES: list[dict[str, Any]] = [
    breaks("stall", AT_ONCE),
    {"type": "slow_first_token", "seconds": 30},
    {"type": "delay", "seconds": 1.7},  # here llmock sleeps on when the client has left
]


async def test_silence_before_the_text_is_borne_twice_in_all(llmock: Llmock, hasty: list[Wired]) -> None:
    times = (1, None)
    cases = [(vendor, silence, count) for count in times for vendor in hasty for silence in SILENCES]
    answers = await at_once(asked(llmock, *case) for case in cases)
    half = len(cases) // 2
    assert [heard.text for heard in answers[:half]] == [LONG] * half
    assert [type(heard.error) for heard in answers[half:]] == [StreamStalled] * half
    assert len(await llmock.attempts()) == 2 * len(cases)
    assert await llmock.complaints() == []


async def test_a_pause_within_the_patience_is_waited_for(llmock: Llmock, vendors: list[Wired]) -> None:
    pauses = ({"type": "slow_first_token", "seconds": 0.3}, breaks("stall", IN_THE_TEXT, stall_seconds=0.3))
    answers = await at_once(asked(llmock, vendor, pause) for vendor in vendors for pause in pauses)
    assert [heard.text for heard in answers] == [LONG] * 4
    assert await llmock.complaints() == []


async def test_a_slow_writer_may_take_longer_than_any_silence(tight: Llmock, wire: Wire) -> None:
    words = " ".join(["twig"] * round(1.5 * PATIENCE["silence_seconds"] / CHUNK_SECONDS))
    await tight.script(reply(words, times=2))
    vendors = [wire(kind, tight.base_url(kind), SystemClock(), **PATIENCE) for kind in PATHS]
    answers = await at_once(vendor.ask(max_tokens=100) for vendor in vendors)
    assert [heard.text for heard in answers] == [words] * 2


async def test_a_call_with_broken_arguments_never_runs_and_can_be_answered(llmock: Llmock, vendor: Wired) -> None:
    await llmock.script({"type": "tool_fault", "kind": "malformed_arguments"})
    asked = user("Please add two numbers")
    first = await vendor.ask(asked)
    assert [(call.name, call.arguments) for call in first.calls] == [("add", {})]
    assert "cut off" in first.calls[0].invalid
    assert first.stop.reason is ModelStopReason.TOOL_USE
    told = result(first.calls[0].id, first.calls[0].invalid, name="add", error=True)
    second = await vendor.ask(asked, assistant(*map(CallBlock, first.calls)), user(told))
    assert "Please add" in second.text
    assert await llmock.complaints() == []


async def test_a_call_of_a_tool_that_nobody_offered_is_told_as_it_is(llmock: Llmock, vendor: Wired) -> None:
    """Whether there is such a tool is for the Brain to say."""
    await llmock.script({"type": "tool_fault", "kind": "unknown_tool"})
    heard = await vendor.ask()
    assert [(call.name, call.invalid) for call in heard.calls] == [("llmock_unknown_tool", "")]


async def test_the_tools_schema_and_the_results_are_understood(llmock: Llmock, vendor: Wired) -> None:
    """Unscripted, llmock calls the tool that fits the words, with arguments that fit its schema; then it answers."""
    asked = user("add the numbers")
    first = await vendor.ask(asked)
    assert [(call.name, call.invalid) for call in first.calls] == [("add", "")]
    assert isinstance(first.calls[0].arguments["a"], int)
    second = await vendor.ask(
        asked, assistant(*map(CallBlock, first.calls)), user(result(first.calls[0].id, "3", name="add"))
    )
    assert (second.calls, second.stop.reason) == ([], ModelStopReason.END)
    third = await vendor.ask(asked, tool_choice="none")
    assert third.calls == []
    assert await llmock.complaints() == []


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", ModelStopReason.MAX_TOKENS), ("content_filter", ModelStopReason.REFUSED)]
)
async def test_an_end_that_is_no_end_says_so(
    llmock: Llmock, vendor: Wired, finish: str, reason: ModelStopReason
) -> None:
    one_call = [{"name": "add", "arguments": {"a": 1}}]
    await llmock.script(reply("Once upon", tool_calls=one_call, finish_reason=finish))
    heard = await vendor.ask()
    assert (heard.text, heard.stop.reason) == ("Once upon", reason)
    assert [call.arguments for call in heard.calls] == [{}]
    assert heard.calls[0].invalid
