from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.brain.guards import BREAKER, POLLED, SAME_CALLS, WITHOUT_PROGRESS, Guards, result_fingerprint
from bot.brain.limits import TurnLimits
from bot.core.address import Address
from bot.core.model import CallBlock, ModelEvent
from bot.core.stop import StopReason
from bot.core.tool import Effect, ToolCall, ToolContext, ToolResult, ToolSpec
from bot.core.transcript import Body, ResultRow, Row, StepRow
from tests.brain.conftest import House, MakeHouse
from tests.fakes.provider import calls, says

HERE = Address("web", "main", "c")


class Scripted:
    """A tool whose results are given. Implements ``bot.core.ports.Tool``."""

    def __init__(self, name: str, result: Callable[[Mapping[str, Any]], str], effect: Effect = Effect.READ) -> None:
        self.spec = ToolSpec(name, name, {"type": "object"}, effect)
        self.runs = 0
        self._result = result

    def check(self, args: Mapping[str, Any]) -> str:
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        self.runs += 1
        return ToolResult(self._result(args))


def tools(*named: Scripted) -> dict[str, Scripted]:
    return {tool.spec.name: tool for tool in named}


def endless(*wanted: tuple[str, Mapping[str, Any]]) -> list[list[ModelEvent]]:
    """Steps that each ask for the next of the calls, over and over."""
    return [calls(ToolCall(f"c{n}", *want)) for n, want in zip(range(80), cycle(wanted), strict=False)]  # type: ignore[misc]


async def ends(house: House) -> tuple[StopReason, int]:
    """How the turn ends, and after how many calls that ran."""
    reason = await house.answer(await house.turn())
    ran = sum(tool.runs for tool in house.tools.values() if isinstance(tool, Scripted))
    return reason, ran


STILL = Scripted("status", lambda args: "waiting")
WIDE = TurnLimits(tool_calls=200, tokens=10**9)


async def test_b166_b168_a_poll_that_does_not_move_is_noticed_then_blocked_and_then_the_turn_ends(
    make_house: MakeHouse,
) -> None:
    house = make_house(*endless(("status", {"job": 1})), tools=tools(Scripted("status", lambda args: "waiting")))
    house.provider.scripts[POLLED] = says("It is still waiting.")
    reason, ran = await ends(house)
    assert (reason, ran) == (StopReason.LOOP, POLLED - 1)
    assert house.view.text == "It is still waiting."
    assert house.provider.requests[-1].tool_choice == "none"
    assert f"{POLLED - 1} calls of tools in a row brought nothing new" in house.view.notices[-1]
    results = [row.body for row in await house.store.transcript.turn_rows("turn1") if isinstance(row.body, ResultRow)]
    assert [n for n, result in enumerate(results, 1) if result.notice] == [SAME_CALLS]
    assert results[-1].outcome == "blocked"


async def test_b168_a_poll_that_moves_is_not_stopped(make_house: MakeHouse) -> None:
    moving = iter(range(1, 30))
    house = make_house(
        *endless(("status", {"job": 1}))[:15],
        says("Done."),
        tools=tools(Scripted("status", lambda args: f"{next(moving)} %")),
    )
    assert await ends(house) == (StopReason.ANSWERED, 15)


@pytest.mark.parametrize(
    "wanted",
    [
        [("a", {}), ("b", {})],
        [("a", {"n": 1}), ("a", {"n": 2}), ("b", {}), ("a", {"n": 3})],
        [("a", {"n": n}) for n in range(79)],
        [("ab"[n % 2], {"n": n}) for n in range(79)],
    ],
    ids=["ping-pong", "a cycle", "ever-new arguments with the same result", "the same with two tools"],
)
async def test_going_round_in_circles_ends_within_twenty_calls_that_bring_nothing(
    make_house: MakeHouse, wanted: list[tuple[str, Mapping[str, Any]]]
) -> None:
    same = Scripted("a", lambda args: "nothing found"), Scripted("b", lambda args: "nothing there")
    house = make_house(*endless(*wanted), tools=tools(*same), limits=WIDE)
    reason, ran = await ends(house)
    assert reason is StopReason.LOOP
    assert ran < WITHOUT_PROGRESS + len(wanted[:4])
    assert len(house.provider.requests) <= ran + 3


async def test_tools_that_do_not_exist_end_it_as_well(make_house: MakeHouse) -> None:
    house = make_house(*endless(*((f"tool{n}", {}) for n in range(79))), tools={}, limits=WIDE)
    reason, _ = await ends(house)
    assert reason is StopReason.LOOP
    assert len(house.provider.requests) <= WITHOUT_PROGRESS + 2


async def test_many_notes_with_the_same_answer_are_work_and_no_loop(make_house: MakeHouse) -> None:
    wanted = [("note", {"text": f"line {n}"}) for n in range(40)]
    note = Scripted("note", lambda args: "noted", Effect.WRITE)
    house = make_house(
        *endless(*wanted)[:40], says("All noted."), tools=tools(note), approve={"*": "allow"}, limits=WIDE
    )
    assert await ends(house) == (StopReason.ANSWERED, 40)


async def test_outputs_that_grow_for_ever_end_at_the_limit_of_calls(make_house: MakeHouse) -> None:
    grown: list[str] = []

    def grow(args: Mapping[str, Any]) -> str:
        grown.append(f"line {len(grown)}")
        return "\n".join(grown)

    house = make_house(*endless(("log", {})), tools=tools(Scripted("log", grow)))
    assert await ends(house) == (StopReason.TOOL_LIMIT, TurnLimits().tool_calls)


async def test_b170_the_count_is_read_from_the_rows_and_survives_a_restart(make_house: MakeHouse) -> None:
    house = make_house(tools=tools(Scripted("status", lambda args: "waiting")))
    turn = await house.turn()
    asked = [ToolCall(f"c{n}", "status", {"job": 1}) for n in range(POLLED - 1)]
    for n, call in enumerate(asked):
        step = StepRow(n, (CallBlock(call),), "a/big", "tool_use")
        await house.store.transcript.append(
            turn.address, turn.id, 1.0, step, ResultRow(call.id, call.name, "waiting", notice="whatever")
        )
    house.provider.scripts = [list(calls(ToolCall("last", "status", {"job": 1}))), list(says("No change."))]
    assert await house.answer(turn) is StopReason.LOOP


def rows_of(made: list[tuple[ToolCall, str]]) -> list[Row]:
    bodies: list[Body] = []
    for n, (call, result) in enumerate(made):
        bodies += [StepRow(n, (CallBlock(call),), "m", "tool_use"), ResultRow(call.id, call.name, result)]
    return [Row(n, HERE, "t", 1.0, body) for n, body in enumerate(bodies)]


def test_the_breaker_counts_over_everything_that_was_tried() -> None:
    made = [(ToolCall(f"c{n}", "status", {}), "waiting") for n in range(BREAKER)]
    assert Guards(rows_of(made), tools(STILL)).is_broken
    assert not Guards(rows_of(made[:-1]), tools(STILL)).is_broken


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.sampled_from(["x", "y"])), max_size=40))
def test_one_new_result_ends_any_standstill(made: list[tuple[str, int, str]]) -> None:
    known = tools(Scripted("a", lambda args: ""), Scripted("b", lambda args: ""))
    done = [(ToolCall(f"c{n}", name, {"n": arg}), result) for n, (name, arg, result) in enumerate(made)]
    guards = Guards(rows_of(done), known)
    guards.record(ToolCall("new", "a", {"n": 99}), "never seen before", False)
    assert guards.standstill.count == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 2026-11-30T10:00:00Z all is well", "at 2026-11-30T10:05:11Z all is well"),
        ("at 2026-11-30T10:00:00.123+01:00", "at 2026-12-01T00:00:59.9-05:00"),
        ("at 20261130T100000Z", "at 20261130T100511Z"),
        ("Mon Nov 30 20:51:18 UTC 2026", "Mon Nov 30 20:51:49 UTC 2026"),
        ("Date: Mon, 30 Nov 2026 20:51:18 GMT", "Date: Mon, 30 Nov 2026 20:52:01 GMT"),
        ("[10:00:01.123] idle", "[10:00:09.001]  idle"),
        ("2026年11月30日 10点05分 正常", "2026年12月1日 11点00分 正常"),
        ("took 12 ms", "took 153 ms"),
        ("took 1m23s", "took 1m 4s"),
        ("took 2h 3m 4.5s", "took 59.9 seconds"),
        ("real\t0m1.234s", "real\t0m1.301s"),
        ("耗时3秒", "耗时12.5秒"),
        ("rtt min/avg/max = 12.3/14.5/16.7 ms", "rtt min/avg/max = 11.9/13.1/15.0 ms"),
        ("in 3.2e-05 s", "in 4.1e-05 s"),
        ("seen 3 minutes ago", "seen 21 minutes ago"),
        ("3分钟前更新", "14分钟前更新"),
        ("id 3f2b8c1a-0000-4000-8000-1234567890ab ok", "id 9f2b8c1a-0000-4000-8000-1234567890ff ok"),
        ("etag 4bf92f3577b34da6 none", "etag 91aa0c3577b34d00 none"),
        ("req_011CSHoEeqs5C35K2UUqR7Fy queued", "req_017Aa9Zeqs5Cx4K2UbqR7Gg queued"),
        ("01HZX3J8QKABCDEF12345678 queued", "01HZX3K9RLABCDEF99345678 queued"),
        ('{"request_id": "842913", "state": "queued"}', '{"request_id": "842977", "state": "queued"}'),
        ('{"traceId":"aB-3","state":"queued"}', '{"traceId":"zz-9","state":"queued"}'),
        ("<Job object at 0x7f8b1c2d3e50>", "<Job object at 0x7f8b1c2ddd10>"),
        ("worker pid 4242 idle", "worker pid 5151 idle"),
        ("attempt 4 failed", "attempt 5 failed"),
        ('{"attempt": 4}', '{"attempt": 5}'),
        ("retry #2: refused", "retry #3: refused"),
        ("poll #4: pending", "poll #5: pending"),
        ('{"duration_ms": 123, "state": "idle"}', '{"duration_ms": 97, "state": "idle"}'),
        ('{"elapsed": 0.123}', '{"elapsed": 1.2e-05}'),
        ("response_time=12 idle", "response_time=153 idle"),
        ('etag: W/"abc123" none', 'etag: W/"def456" none'),
        ("ts=1764500000 idle", "ts=1764500777 idle"),
        ("ts=1764500000123 idle", "ts=1764500777.5 idle"),
        ("ts=1764500000123456 idle", "ts=1764500777000000000 idle"),
    ],
)
def test_what_differs_each_time_it_is_looked_at_is_no_progress(one: str, other: str) -> None:
    assert result_fingerprint(one) == result_fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 % done", "4 % done"),
        ("build 41", "build 42"),
        ("on", "off"),
        ("page 1 of 9", "page 2 of 9"),
        ("chapter12_introduction_v3.md", "chapter13_introduction_v3.md"),
        ("v1.2.3", "v1.2.4"),
        ("5 minutes left", "4 minutes left"),
        ("1600000000 bytes", "1700000000 bytes"),
        ("it costs 1599", "it costs 1600"),
        ("score 2:1", "score 3:1"),
        ("first message", "second message"),
        ("line 120 of the log", "line 121 of the log"),
        ("剩余3个", "剩余2个"),
        ("duration left: 5", "duration left: 4"),
    ],
)
def test_what_tells_something_is_progress(one: str, other: str) -> None:
    assert result_fingerprint(one) != result_fingerprint(other)


@pytest.mark.parametrize(
    "piece", ["a1b2c3d4", "1234567890", "1 ", "1/", "1h2m", "attempt ", "took: 1", "12:12:", "z9", "0x", "id: "]
)
def test_no_result_takes_long_to_compare(piece: str) -> None:
    began = time.process_time()
    result_fingerprint((piece * 10_000)[:10_000])
    assert time.process_time() - began < 0.5
