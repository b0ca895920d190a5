"""Attempts before the first word, and none after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from bot.core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    StreamCut,
    StreamStalled,
)
from bot.core.model import (
    ModelCall,
    ModelEvent,
    ModelText,
    ModelThinking,
    ModelThought,
    ModelUsage,
    ThinkingBlock,
    Usage,
)
from bot.core.tool import ToolCall
from bot.providers.retry import Retry
from tests.fakes.clock import FakeClock
from tests.providers.bench import VENDORS, Bench, Heard, SleeplessClock, ask
from tests.providers.scripted import END, Part, Pause, ScriptedProvider
from tests.sim.llm import LlmSim, answer, drop, error_event, status, text

REQUEST = Bench(VENDORS["openai"], LlmSim()).request()
ANSWER: list[Part] = [ModelText("Hi"), END]


async def tried(inner: ScriptedProvider, **asked: Any) -> tuple[Heard, list[float]]:
    """``asked`` are fields of the request."""
    clock = SleeplessClock()
    heard = await ask(Retry(inner, "lab", clock, Random(7)), replace(REQUEST, **asked))
    assert inner.left == inner.entered, "every stream was left"
    return heard, clock.slept


@pytest.mark.parametrize("error", [ProviderBusy("b"), ProviderFailed("f"), ProviderUnreachable("u"), StreamCut("c")])
async def test_what_may_pass_is_tried_three_times(error: ProviderError) -> None:
    heard, slept = await tried(ScriptedProvider(error, [error], ANSWER))
    assert heard.events == tuple(ANSWER)
    assert len(slept) == 2
    assert 0.5 <= slept[0] <= 1.5
    assert 1.0 <= slept[1] <= 3.0


async def test_the_third_failure_is_the_answer() -> None:
    inner = ScriptedProvider(ProviderBusy("b"))
    heard, slept = await tried(inner)
    assert isinstance(heard.error, ProviderBusy)
    assert (inner.entered, len(slept), heard.error.attempt) == (3, 2, 3)


async def test_the_caller_says_how_often() -> None:
    for attempts in (1, 2, 5):
        inner = ScriptedProvider(ProviderBusy("b"))
        heard, slept = await tried(inner, attempts=attempts)
        assert (inner.entered, len(slept)) == (attempts, attempts - 1)
        assert isinstance(heard.error, ProviderBusy) and heard.error.attempt == attempts


async def test_no_backoff_is_longer_than_half_a_minute() -> None:
    _, slept = await tried(ScriptedProvider(ProviderBusy("b")), attempts=12)
    assert slept[:2] == sorted(slept[:2])
    assert max(slept) == 30.0


async def test_attempts_from_before_count_and_the_next_waits_its_turn() -> None:
    inner = ScriptedProvider(ProviderBusy("b"))
    heard, slept = await tried(inner, tried=1)
    assert (inner.entered, len(slept)) == (2, 2)
    assert 0.5 <= slept[0] <= 1.5 and 1.0 <= slept[1] <= 3.0
    assert isinstance(heard.error, ProviderBusy) and heard.error.attempt == 3


async def test_an_error_behind_the_first_text_says_which_attempt_it_was() -> None:
    heard, _ = await tried(ScriptedProvider([ProviderBusy("b")], [ModelText("Hello wor"), StreamCut("c")]))
    assert isinstance(heard.error, StreamCut) and heard.error.attempt == 2


async def test_what_an_attempt_brought_that_came_to_nothing_is_told() -> None:
    wasted: list[list[ModelEvent]] = []
    thought = [ModelUsage(Usage(500, 1)), ModelThinking("hm, ")]
    inner = ScriptedProvider(ProviderBusy("never began"), [*thought, StreamCut("c")], ANSWER)
    await tried(inner, wasted=lambda events: wasted.append(list(events)))
    assert wasted == [thought]


async def test_what_an_attempt_brought_is_told_when_nobody_wants_it_any_more() -> None:
    wasted: list[list[ModelEvent]] = []
    inner = ScriptedProvider([ModelUsage(Usage(500, 1)), Pause(30), *ANSWER])
    request = replace(REQUEST, wasted=lambda events: wasted.append(list(events)))
    task = asyncio.ensure_future(ask(Retry(inner, "lab", FakeClock(), Random(7)), request))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert wasted == [[ModelUsage(Usage(500, 1))]]


async def test_what_will_not_pass_is_not_tried_again() -> None:
    inner = ScriptedProvider(KeyRefused("k"))
    heard, slept = await tried(inner)
    assert isinstance(heard.error, KeyRefused)
    assert (inner.entered, slept) == (1, [])


async def test_a_stall_is_tried_once_more_only() -> None:
    inner = ScriptedProvider([StreamStalled("s")])
    await tried(inner)
    assert inner.entered == 2


async def test_b126_nothing_is_tried_again_once_something_was_said() -> None:
    for first in (ModelText("Hello wor"), ModelCall(ToolCall("1", "t"))):
        inner = ScriptedProvider([first, StreamCut("c")], ANSWER)
        heard, _ = await tried(inner)
        assert heard.events == (first,)
        assert isinstance(heard.error, StreamCut)
        assert inner.entered == 1


async def test_b126_a_failure_after_the_start_but_before_any_word_is_invisible() -> None:
    started: list[Part] = [ModelUsage(Usage(5)), ModelThinking("")]
    heard, _ = await tried(
        ScriptedProvider([*started, ProviderBusy("b")], [ModelUsage(Usage(6)), ModelThinking(""), *ANSWER])
    )
    assert heard.events == (ModelUsage(Usage(6)), *ANSWER)


async def test_b126_a_failure_within_the_reasoning_is_invisible() -> None:
    first: list[Part] = [ModelThinking("hm, "), ModelThought(ThinkingBlock("lab", "hm, ", "{}")), StreamCut("c")]
    again: list[Part] = [ModelThinking("well, "), ModelThought(ThinkingBlock("lab", "well, ", "{}")), *ANSWER]
    heard, slept = await tried(ScriptedProvider(first, again))
    assert heard.events == tuple(again)
    assert len(slept) == 1


async def test_jitter_comes_from_the_given_random() -> None:
    pauses = []
    for seed in (1, 1, 2):
        clock = SleeplessClock()
        await ask(Retry(ScriptedProvider(ProviderBusy("b"), ANSWER), "lab", clock, Random(seed)), REQUEST)
        pauses.append(clock.slept)
    assert pauses[0] == pauses[1] != pauses[2]


async def test_a_wait_that_is_asked_for_is_kept_in_full() -> None:
    _, slept = await tried(ScriptedProvider(ProviderBusy("b", retry_after=42.0), ANSWER))
    assert slept == [42.0]


async def test_a_wait_beyond_a_minute_is_not_waited_for() -> None:
    inner = ScriptedProvider(ProviderBusy("b", retry_after=61.0), ANSWER)
    heard, slept = await tried(inner)
    assert isinstance(heard.error, ProviderBusy)
    assert heard.error.retry_after == 61.0
    assert (inner.entered, slept) == (1, [])


async def test_the_failed_stream_is_left_before_the_pause() -> None:
    clock, inner = FakeClock(), ScriptedProvider([ProviderBusy("b")], ANSWER)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask(Retry(inner, "lab", clock, Random(7)), REQUEST))
        await clock.settle()
        assert (inner.entered, inner.left) == (1, 1)
        await clock.advance(1.5)
    assert asking.result().text == "Hi"


async def test_a_pause_can_be_cancelled() -> None:
    clock, inner = FakeClock(), ScriptedProvider(ProviderBusy("b"))
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask(Retry(inner, "lab", clock, Random(7)), REQUEST))
        await clock.settle()
        asking.cancel()
    assert asking.cancelled()
    assert inner.entered == 1


async def test_the_pause_is_logged_without_the_vendors_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    await tried(ScriptedProvider(ProviderBusy("sentence", detail="vendor body"), ANSWER))
    assert "lab: attempt 1 for gpt-5.4-mini failed (ProviderBusy)" in caplog.text
    assert "vendor body" not in caplog.text


async def test_closing_closes_the_provider_inside() -> None:
    inner = ScriptedProvider(ANSWER)
    await Retry(inner, "lab", FakeClock(), Random(7)).aclose()
    assert inner.closed


async def test_b124_on_the_wire_a_failure_before_the_text_is_invisible(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(status(503)), answer(error_event()), answer(text("Hi")))
    heard = await ask(bench.wrapped(SleeplessClock()), bench.request())
    assert (heard.text, len(sim.chats)) == ("Hi", 3)


async def test_b126_on_the_wire_a_failure_after_the_text_is_told(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hello wor"), drop("fin")), answer(text("Hello world")))
    heard = await ask(bench.wrapped(SleeplessClock()), bench.request())
    assert heard.text == "Hello wor"
    assert isinstance(heard.error, StreamCut)
    assert len(sim.chats) == 1
