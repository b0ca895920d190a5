"""Where streams keep breaking, answers come in one piece for a while: the same events, from every vendor."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.core.errors import ProviderBusy, ProviderError, StreamCut, StreamGarbled, StreamStalled
from bot.core.model import ModelRequest, ModelStopReason, ModelText, ModelThinking
from bot.providers.downgrade import WHOLE_SECONDS, Downgrade
from tests.fakes.clock import FakeClock
from tests.providers.bench import VENDORS, Bench, SleeplessClock, ask
from tests.providers.scripted import END, Part, Pause, ScriptedProvider
from tests.sim.llm import (
    LlmSim,
    answer,
    call,
    drop,
    end_early,
    error_event,
    garbage,
    raw,
    sleep,
    stop,
    text,
    thinking,
    usage,
)

REQUEST = Bench(VENDORS["openai"], LlmSim()).request()
ANSWER: list[Part] = [ModelText("Hi"), END]
CUT: list[Part] = [ModelText("H"), StreamCut("c")]


class Asked(ScriptedProvider):
    """Keeps for each request whether it asked for a whole answer."""

    def __init__(self, *scripts: Any) -> None:
        super().__init__(*scripts)
        self.whole: list[bool] = []

    def stream(self, request: ModelRequest) -> Any:
        self.whole.append(request.whole)
        return super().stream(request)


async def asked(
    inner: Asked, times: int, clock: FakeClock | None = None, request: ModelRequest = REQUEST
) -> list[bool]:
    downgrade = Downgrade(inner, "lab", clock or FakeClock())
    for _ in range(times):
        await ask(downgrade, request)
    return inner.whole


@pytest.mark.parametrize("error", [StreamCut("c"), StreamStalled("s"), StreamGarbled("g")])
async def test_b121_after_two_broken_streams_in_a_row_the_answer_is_asked_for_in_one_piece(
    error: ProviderError,
) -> None:
    assert await asked(Asked([error], [ModelText("H"), error], ANSWER), 4) == [False, False, True, True]


async def test_a_stream_that_ends_well_between_them_counts() -> None:
    assert await asked(Asked(CUT, ANSWER, CUT, ANSWER), 5) == [False] * 5


async def test_other_failures_do_not_count() -> None:
    assert await asked(Asked(ProviderBusy("b")), 4) == [False] * 4


async def test_streams_that_break_side_by_side_broke_once() -> None:
    clock = SleeplessClock()
    inner = Asked([ModelText("H"), Pause(0.05), StreamCut("c")])
    downgrade = Downgrade(inner, "lab", clock)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(downgrade, REQUEST)) for _ in range(5)]
        await asyncio.sleep(0.02)
        await clock.sleep(1.0)
    assert all(isinstance(task.result().error, StreamCut) for task in tasks)
    await ask(downgrade, REQUEST)
    assert inner.whole == [False] * 6


async def test_after_a_while_streaming_is_tried_again_and_one_break_is_enough_then() -> None:
    clock = FakeClock()
    inner = Asked(CUT, CUT, ANSWER, CUT, ANSWER)
    downgrade = Downgrade(inner, "lab", clock)
    for _ in range(3):
        await ask(downgrade, REQUEST)
    await clock.advance(WHOLE_SECONDS)
    await ask(downgrade, REQUEST)
    await ask(downgrade, REQUEST)
    assert inner.whole == [False, False, True, False, True]


async def test_each_model_is_on_its_own() -> None:
    inner = Asked(CUT, CUT, ANSWER)
    downgrade = Downgrade(inner, "lab", FakeClock())
    sibling = replace(REQUEST, model=replace(REQUEST.model, model="sibling"))
    for request in (REQUEST, REQUEST, sibling, REQUEST):
        await ask(downgrade, request)
    assert inner.whole == [False, False, False, True]


async def test_it_is_said_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    await asked(Asked(CUT), 2)
    assert "lab: the streams of gpt-5.4-mini keep breaking" in caplog.text


async def test_on_the_wire_the_third_attempt_is_whole(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(drop("fin")), answer(end_early()), answer(text("Hi"), usage(input=20, output=3)))
    heard = await ask(bench.wrapped(SleeplessClock()), bench.request())
    assert (heard.text, heard.stop.reason) == ("Hi", ModelStopReason.END)
    assert [seen.body["stream"] for seen in sim.chats] == [True, True, False]
    assert "stream_options" not in sim.chats[2].body


async def test_a_whole_answer_is_the_same_events(bench: Bench, sim: LlmSim) -> None:
    more = {"thinking": {"type": "adaptive", "display": "summarized"}} if bench.kind == "anthropic" else {}
    said = (
        thinking("plan"),
        text("Let me "),
        text("see."),
        call("c1", "add", ('{"a":1,', '"b":2}')),
        usage(input=20, output=7),
    )
    sim.script(answer(*said), answer(*said))
    streamed = await ask(bench.bare(**more), bench.request())
    whole = await ask(bench.bare(**more), bench.request(whole=True))
    assert whole.text == streamed.text == "Let me see."
    assert [(one.name, one.arguments, one.invalid) for one in whole.calls] == [("add", {"a": 1, "b": 2}, "")]
    assert [block.text for block in whole.thoughts] == [block.text for block in streamed.thoughts] == ["plan"]
    assert any(event == ModelThinking("plan") for event in whole.events)
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (20, 7)
    assert whole.stop.reason is streamed.stop.reason is ModelStopReason.TOOL_USE


async def test_a_whole_answer_that_hit_its_limit_runs_no_call(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("So:"), call("c1", "get_time"), stop("cut")))
    heard = await ask(bench.bare(), bench.request(whole=True))
    assert heard.stop.reason is ModelStopReason.MAX_TOKENS
    assert [one.invalid for one in heard.calls] == ["cut off by the output limit"]


async def test_a_whole_answer_without_an_end_is_cut(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hello wor"), end_early()))
    heard = await ask(bench.bare(), bench.request(whole=True))
    assert isinstance(heard.error, StreamCut)


async def test_whole_answers_fail_as_streams_do(bench: Bench, sim: LlmSim) -> None:
    for fault, error in (
        (error_event(), ProviderBusy),
        (drop("rst"), StreamCut),
        (garbage("json"), StreamCut),
        (raw("[1, 2]\n"), StreamGarbled),
    ):
        sim.script(answer(sleep(0.01), fault))
        heard = await ask(bench.bare(), bench.request(whole=True))
        assert isinstance(heard.error, error), (fault, heard)


async def test_an_answer_of_an_hour_is_not_asked_for_in_one_piece(sim: LlmSim) -> None:
    bench = Bench(VENDORS["anthropic"], sim)
    sim.script(answer(text("Hi")))
    await ask(bench.bare(), bench.request(whole=True, max_tokens=64_000))
    assert sim.chats[0].body["max_tokens"] == 21_333
    await bench.aclose()
