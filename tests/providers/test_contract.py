"""The contract of `Provider` over every vendor, part one: answers, and how they end."""

from __future__ import annotations

from bot.core.model import ModelStopReason, ModelText, ModelThinking
from bot.providers.discovery import kinds
from tests.providers.bench import VENDORS, Bench, ask, assistant, called, result, user
from tests.sim.llm import (
    LlmSim,
    answer,
    begin,
    call,
    call_close,
    call_more,
    call_open,
    garbage,
    ping,
    sleep,
    stop,
    text,
    thinking,
    usage,
)

MODEL_RUNS_ITSELF = {"local"}
"""Kinds that have no wire to simulate; ``test_contract_live`` holds them to what needs no script."""


def test_every_kind_of_provider_is_held_to_the_contract() -> None:
    assert set(kinds()) - MODEL_RUNS_ITSELF == set(VENDORS)


async def test_text_comes_in_pieces_and_the_stop_comes_last(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hel"), sleep(0.1), text("lo, "), sleep(0.1), text("you")))
    heard = await ask(bench.bare(), bench.request())
    assert [event.text for event in heard.events if isinstance(event, ModelText)] == ["Hel", "lo, ", "you"]
    assert heard.stop.reason is ModelStopReason.END
    assert heard.usage.input_tokens > 0
    assert heard.usage.output_tokens > 0


async def test_bytes_may_be_cut_anywhere(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("你好 🐦"), call("c1", "add", ('{"a":', " 1}")), split=1))
    heard = await ask(bench.bare(), bench.request())
    assert heard.text == "你好 🐦"
    assert [(said.name, said.arguments) for said in heard.calls] == [("add", {"a": 1})]


async def test_calls_come_whole_and_in_order(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Let me see."), call("c1", "get_time"), call("c2", "add", ('{"a":1,', '"b":2}'))))
    heard = await ask(bench.bare(), bench.request())
    assert [(said.name, said.arguments, said.invalid) for said in heard.calls] == [
        ("get_time", {}, ""),
        ("add", {"a": 1, "b": 2}, ""),
    ]
    assert len({said.id for said in heard.calls}) == 2
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b118_calls_run_whatever_the_end_is_called(bench: Bench, sim: LlmSim) -> None:
    spellings: dict[str, list[str | None]] = {"anthropic": ["end_turn"], "openai": ["stop", "function_call", None]}
    reasons = spellings.get(bench.kind, ["stop"])
    for reason in reasons:
        sim.script(answer(call("c1", "get_time"), stop(reason)))
        heard = await ask(bench.bare(), bench.request())
        assert heard.stop.reason is ModelStopReason.TOOL_USE
        assert [said.invalid for said in heard.calls] == [""]


async def test_b127_a_call_without_text_says_nothing(bench: Bench, sim: LlmSim) -> None:
    sim.script(
        answer(text(""), call("c1", "get_time")) if bench.kind != "anthropic" else answer(call("c1", "get_time"))
    )
    heard = await ask(bench.bare(), bench.request())
    assert not any(isinstance(event, ModelText) for event in heard.events)
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b119_an_empty_answer_after_a_result_is_an_empty_answer(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(stop()))
    heard = await ask(bench.bare(), bench.request(user("time?"), assistant(called("call_1")), user(result("call_1"))))
    assert (heard.text, heard.calls, heard.stop.reason) == ("", [], ModelStopReason.END)


async def test_b135_a_call_without_arguments_has_empty_ones(bench: Bench, sim: LlmSim) -> None:
    for pieces in [("",), ("  ",), ("", ""), *([(None,)] if bench.kind == "openai" else [])]:
        sim.script(answer(call("c1", "get_time", pieces)))
        heard = await ask(bench.bare(), bench.request())
        assert [(said.arguments, said.invalid) for said in heard.calls] == [({}, "")], pieces


async def test_b135_a_lone_brace_is_cut_off(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("c1", "add", ("{",))))
    heard = await ask(bench.bare(), bench.request())
    assert "cut off" in heard.calls[0].invalid
    assert heard.calls[0].arguments == {}


async def test_b136_fragments_are_joined_and_parsed_once(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(call("c1", "add", ('{"file_', 'path":"a.py","n', '":1}'))))
    heard = await ask(bench.bare(), bench.request())
    assert heard.calls[0].arguments == {"file_path": "a.py", "n": 1}


async def test_b132_malformed_arguments_make_an_invalid_call_not_a_failed_stream(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("So:"), call("c1", "add", ('{"mode": ffull"}',)), call("c2", "get_time")))
    heard = await ask(bench.bare(), bench.request())
    assert "not valid JSON" in heard.calls[0].invalid
    assert "cut off" not in heard.calls[0].invalid
    assert heard.calls[1].invalid == ""
    assert heard.stop.reason is ModelStopReason.TOOL_USE


async def test_b129_calls_of_an_answer_that_hit_its_limit_never_run(bench: Bench, sim: LlmSim) -> None:
    cut = call("c2", "add", ('{"content":"#!/usr/bin/env py',))
    sim.script(answer(call("c1", "get_time"), cut, stop("cut")))
    heard = await ask(bench.bare(), bench.request())
    assert [(said.name, said.arguments, said.invalid) for said in heard.calls] == [
        ("get_time", {}, "cut off by the output limit"),
        ("add", {}, "cut off by the output limit"),
    ]
    assert heard.stop.reason is ModelStopReason.MAX_TOKENS


async def test_text_that_hit_its_limit_says_so(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Once upon a"), stop("cut")))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.text, heard.stop.reason) == ("Once upon a", ModelStopReason.MAX_TOKENS)


async def test_keep_alives_and_unknown_events_are_passed_over(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(ping(), begin(), ping(), garbage("event"), text("Hi"), ping(), garbage("event")))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.text, heard.stop.reason) == ("Hi", ModelStopReason.END)


async def test_half_a_character_costs_one_character_not_the_answer(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("a"), garbage("utf8"), text("b")))
    heard = await ask(bench.bare(), bench.request())
    assert heard.text == "a\ufffdb"


async def test_reasoning_is_never_answer_text(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(thinking("secret "), thinking("plan"), text("Answer")))
    more = {"thinking": {"type": "adaptive", "display": "summarized"}} if bench.kind == "anthropic" else {}
    heard = await ask(bench.bare(**more), bench.request())
    assert heard.text == "Answer"
    assert "".join(event.text for event in heard.events if isinstance(event, ModelThinking)) == "secret plan"
    assert [block.text for block in heard.thoughts] == ["secret plan"]


async def test_arguments_that_grow_are_a_sign_of_life(bench: Bench, sim: LlmSim) -> None:
    """Without one the watchdog would take a long call for silence."""
    growing = [step for piece in ('{"a": "', *"xxxxxxxx", '"}') for step in (call_more("c1", piece), sleep(0.03))]
    sim.script(answer(call_open("c1", "add"), *growing, call_close("c1")))
    heard = await ask(bench.bare(), bench.request())
    signs = [event for event in heard.events if event == ModelThinking("")]
    assert len(signs) >= (1 if bench.kind == "ollama" else 5)


async def test_tokens_are_counted_whole(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi"), usage(input=200, output=7)))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.usage.input_tokens, heard.usage.output_tokens) == (200, 7)


async def test_an_answer_without_counts_is_an_answer(bench: Bench, sim: LlmSim) -> None:
    sim.script(answer(text("Hi"), usage(absent=True)))
    heard = await ask(bench.bare(), bench.request())
    assert (heard.text, heard.stop.reason) == ("Hi", ModelStopReason.END)


async def test_calls_of_one_conversation_never_share_an_id(bench: Bench, sim: LlmSim) -> None:
    provider, messages = bench.bare(), [user("time?")]
    seen: list[str] = []
    for _ in range(3):
        sim.script(answer(call("c1", "get_time"), call("c1", "get_time", index=1)))
        heard = await ask(provider, bench.request(*messages))
        ids = [said.id for said in heard.calls]
        seen += ids
        messages += [assistant(*[called(one) for one in ids]), user(*[result(one) for one in ids])]
    assert len(set(seen)) == 6
    assert all(seen)
