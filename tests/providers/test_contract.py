"""The contract of `Provider`, over every vendor: what any stream does, whatever the wire does to it."""

from __future__ import annotations

import asyncio
import socket

import pytest

from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    ModelMissing,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.model import ImageBlock, ModelStopReason, ModelText, ModelThinking, ThinkingBlock
from bot.core.tool import ToolCall, ToolSpec
from bot.providers.discovery import kinds
from tests.fakes.clock import FakeClock
from tests.providers.bench import BENCHES, KEY, Bench, ask, assistant, called, result, user
from tests.sim.llm import (
    LlmSim,
    answer,
    begin,
    call,
    drop,
    end_early,
    error_event,
    garbage,
    gate,
    ping,
    stall,
    status,
    stop,
    text,
    thinking,
)

MODEL_RUNS_ITSELF = {"local"}
"""Kinds that have no wire to simulate; their own tests hold them to this contract with a real model."""
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")


def test_every_kind_of_provider_is_held_to_the_contract() -> None:
    assert set(kinds()) - MODEL_RUNS_ITSELF == set(BENCHES)


async def test_text_comes_in_pieces_and_the_stop_comes_last(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hel"), text("lo, "), text("you")))
    heard = await ask(bench.bare(sim), bench.request())
    assert [event.text for event in heard.events if isinstance(event, ModelText)] == ["Hel", "lo, ", "you"]
    assert heard.stop.reason is ModelStopReason.END
    assert heard.usage.input_tokens > 0
    assert heard.usage.output_tokens > 0


async def test_bytes_may_be_cut_anywhere(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("你好 🐦"), call("c1", "add", ('{"a":', " 1}")), split=1))
    heard = await ask(bench.bare(sim), bench.request())
    assert heard.text == "你好 🐦"
    assert [(said.name, said.arguments) for said in heard.calls] == [("add", {"a": 1})]


async def test_calls_come_whole_and_in_order(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Let me see."), call("c1", "get_time"), call("c2", "add", ('{"a":1,', '"b":2}'))))
    heard = await ask(bench.bare(sim), bench.request())
    assert [(said.name, said.arguments, said.invalid) for said in heard.calls] == [
        ("get_time", {}, ""),
        ("add", {"a": 1, "b": 2}, ""),
    ]
    assert len({said.id for said in heard.calls}) == 2
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b118_calls_run_whatever_the_end_is_called(bench: Bench, sim: LlmSim) -> None:
    reasons = {"anthropic": ["end_turn"], "openai": ["stop", "function_call", None], "ollama": ["stop"]}[bench.kind]
    for reason in reasons:
        sim.script(answer(call("c1", "get_time"), stop(reason)))
        heard = await ask(bench.bare(sim), bench.request())
        assert heard.stop.reason is ModelStopReason.TOOL_USE
        assert [said.invalid for said in heard.calls] == [""]


async def test_b127_a_call_without_text_says_nothing(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text(""), call("c1", "get_time")) if bench.kind != "anthropic" else answer(call("c1", "get_time")))
    heard = await ask(bench.bare(sim), bench.request())
    assert not any(isinstance(event, ModelText) for event in heard.events)
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b119_an_empty_answer_after_a_result_is_an_empty_answer(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(stop()))
    heard = await ask(
        bench.bare(sim), bench.request(user("time?"), assistant(called("call_1")), user(result("call_1")))
    )
    assert (heard.text, heard.calls, heard.stop.reason) == ("", [], ModelStopReason.END)


async def test_b135_a_call_without_arguments_has_empty_ones(bench: Bench, sim: LlmSim) -> None:
    for pieces in [("",), ("  ",), ("", ""), *([(None,)] if bench.kind == "openai" else [])]:
        sim.script(answer(call("c1", "get_time", pieces)))
        heard = await ask(bench.bare(sim), bench.request())
        assert [(said.arguments, said.invalid) for said in heard.calls] == [({}, "")], pieces


async def test_b135_a_lone_brace_is_cut_off(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("c1", "add", ("{",))))
    heard = await ask(bench.bare(sim), bench.request())
    assert "cut off" in heard.calls[0].invalid
    assert heard.calls[0].arguments == {}


async def test_b136_fragments_are_joined_and_parsed_once(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("c1", "add", ('{"file_', 'path":"a.py","n', '":1}'))))
    heard = await ask(bench.bare(sim), bench.request())
    assert heard.calls[0].arguments == {"file_path": "a.py", "n": 1}


async def test_b132_malformed_arguments_make_an_invalid_call_not_a_failed_stream(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("So:"), call("c1", "add", ('{"mode": ffull"}',)), call("c2", "get_time")))
    heard = await ask(bench.bare(sim), bench.request())
    assert "not valid JSON" in heard.calls[0].invalid
    assert "cut off" not in heard.calls[0].invalid
    assert heard.calls[1].invalid == ""
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b129_calls_of_an_answer_that_hit_its_limit_never_run(bench: Bench, sim: LlmSim) -> None:
    cut = call("c2", "add", ('{"content":"#!/usr/bin/env py',))
    sim.script(answer(call("c1", "get_time"), cut, stop("cut")))
    heard = await ask(bench.bare(sim), bench.request())
    assert [(said.name, said.arguments, said.invalid) for said in heard.calls] == [
        ("get_time", {}, "cut off by the output limit"),
        ("add", {}, "cut off by the output limit"),
    ]
    assert heard.stop.reason is ModelStopReason.MAX_TOKENS


async def test_text_that_hit_its_limit_says_so(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Once upon a"), stop("cut")))
    heard = await ask(bench.bare(sim), bench.request())
    assert (heard.text, heard.stop.reason) == ("Once upon a", ModelStopReason.MAX_TOKENS)


@pytest.mark.parametrize("break_off", [drop("rst"), drop("fin"), end_early()], ids=["reset", "closed", "ended"])
async def test_a_stream_that_breaks_off_gives_its_text_and_then_fails(
    bench: Bench, sim: LlmSim, break_off: object
) -> None:
    sim.script(answer(text("Hello wor"), gate("text"), break_off))
    asking = asyncio.ensure_future(ask(bench.bare(sim), bench.request()))
    await sim.at("text")
    await asyncio.sleep(0.05)  # a reset throws away what the client has not read yet
    sim.release("text")
    heard = await asking
    assert heard.text == "Hello wor"
    assert isinstance(heard.error, StreamCut)


async def test_a_connection_lost_after_the_end_of_the_answer_is_no_error(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("All of it."), stop(), gate("stopped"), drop("rst")))
    asking = asyncio.ensure_future(ask(bench.bare(sim), bench.request()))
    await sim.at("stopped")
    await asyncio.sleep(0.05)
    sim.release("stopped")
    heard = await asking
    assert (heard.text, heard.stop.reason) == ("All of it.", ModelStopReason.END)


async def test_a_connection_lost_before_the_answer_is_unreachable(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(drop("fin", before_headers=True)))
    heard = await ask(bench.bare(sim), bench.request())
    assert isinstance(heard.error, ProviderUnreachable | StreamCut)
    assert heard.error.retryable


async def test_nobody_at_the_address_is_unreachable(bench: Bench, sim: LlmSim) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        base_url = bench.base_url(sim).replace(sim.url, f"http://127.0.0.1:{taken.getsockname()[1]}")
        heard = await ask(bench.bare(sim, base_url=base_url), bench.request())
    assert isinstance(heard.error, ProviderUnreachable)
    assert bench.kind in str(heard.error)
    assert "base_url" in str(heard.error)


@pytest.mark.parametrize("first", [(), (text("Two"), text(" words"))], ids=["before the text", "after some text"])
async def test_b121_silence_ends_the_stream_and_closes_the_connection(
    bench: Bench, sim: LlmSim, first: tuple[object, ...]
) -> None:
    sim.script(*[answer(*first, stall())] * 2)
    models = bench.wrapped(sim, FakeClock(), silence_seconds=0.15, first_seconds=0.3)
    heard = await _advanced(models, bench)
    assert isinstance(heard.error, StreamStalled)
    assert heard.text == ("Two words" if first else "")
    await sim.until(lambda requests: all(seen.left_early for seen in requests))
    await models.aclose()


async def _advanced(models: object, bench: Bench) -> object:
    return await ask(models, bench.request())  # type: ignore[arg-type]
