"""A few long turns are summed up as many short ones are: by what they take of the model's window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.brain.compaction import TRIES
from bot.brain.history import by_turn, paired, size_of
from bot.brain.past import MOST, answerable, front_in, front_of
from bot.brain.prompt import Persona, history_tokens, request_for
from bot.brain.summary import FULL_SHARE, LAST_TURNS, due, is_crowded, next_front
from bot.brain.tokens import estimated_tokens
from bot.brain.turn import Turn
from bot.core.inbound import UserMessage
from bot.core.model import CallBlock, ModelRef, TextBlock
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.transcript import Body, EndRow, ResultRow, RouteRow, Row, StepRow, SummaryRow, UserRow
from tests.brain.conftest import MakeHouse
from tests.brain.test_compaction import Writing, summed, words
from tests.brain.test_past import DAY, HERE, WHO, talked
from tests.fakes.provider import says

MIDDLE = ModelRef("a", "middle", window_tokens=32_000, max_tokens=2_000)
"""Its history may have 18,000 tokens, and is full at 12,600."""
PAGE = "the harbour and its ships lay still in the grey morning light. " * 120
TOKENS = estimated_tokens(PAGE)


class LongTalk(Writing):
    """Each answer is a page."""

    async def talk(self, first: int, last: int) -> None:
        self.house.chain[:] = [MIDDLE]
        for number in range(first, last + 1):
            self.house.provider.scripts = [says(f"Fact {number}. {PAGE}")]
            await self.house.answer(await self.house.turn(f"Tell me fact {number} of {number * 1000 + 17}.", number))
            await self.settled()


def turns_until_full() -> int:
    return int(history_tokens(MIDDLE) * FULL_SHARE / TOKENS) + 1


async def test_long_turns_are_summed_up_before_the_window_is_full_and_the_last_ones_stay(make_house: MakeHouse) -> None:
    talk, full = LongTalk(make_house(), *(summed(f"Summary {n}.") for n in range(9))), turns_until_full()
    assert LAST_TURNS < full < MOST // 2
    await talk.talk(1, full - 1)
    assert not talk.asked.requests
    await talk.talk(full, full)
    assert talk.asked.requests and await talk.summaries()
    await talk.talk(full + 1, full + 1)
    said = words(talk.prompt.messages)
    assert said.startswith("<summary>\nSummary")
    assert "1017" in said.split("</summary>")[0], "exact words are kept"
    whole = [n for n in range(1, full + 1) if f"Fact {n}. the harbour" in words(talk.prompt.messages[1:-1])]
    assert whole == list(range(whole[0], full + 1)) and LAST_TURNS <= len(whole) < full


async def test_the_front_stays_in_between_and_no_prompt_outgrows_the_window(make_house: MakeHouse) -> None:
    talk, moved, before = LongTalk(make_house(), *(summed(f"Summary {n}.") for n in range(60))), 0, ""
    for number in range(1, 31):
        await talk.talk(number, number)
        head = words(talk.prompt.messages[:1])
        moved += bool(before) and head != before
        before = head
        assert sum(map(size_of, talk.prompt.messages)) < 30_000
    assert 3 <= moved <= 30 // (turns_until_full() - LAST_TURNS) + 1


async def test_short_turns_wait_for_their_number(make_house: MakeHouse) -> None:
    writing = Writing(make_house(), summed("Facts."))
    writing.house.chain[:] = [MIDDLE]
    await writing.talk(1, 12)
    assert not writing.asked.requests


async def test_a_small_model_that_is_shown_no_summaries_causes_none(make_house: MakeHouse) -> None:
    talk = LongTalk(make_house(), summed("Facts."))
    small = replace(MIDDLE, window_tokens=4096, max_tokens=512)
    for number in range(1, 8):
        talk.house.chain[:] = [small]
        talk.house.provider.scripts = [says(PAGE)]
        await talk.house.answer(await talk.house.turn("Go on.", number))
        await talk.settled()
    assert not talk.asked.requests


async def test_b161_three_failures_in_a_row_are_told_to_the_person_and_not_tried_with_each_turn(
    make_house: MakeHouse,
) -> None:
    talk, full = LongTalk(make_house(), *(says("I cannot do that.") for _ in range(90))), turns_until_full()
    await talk.talk(1, full + TRIES)
    tried = len(talk.asked.requests)
    assert tried == 2 * TRIES, "each may show its mistake to the model once"
    assert "could not be summed up" in talk.compaction.trouble(HERE, "en")
    assert "未能归纳" in talk.compaction.trouble(HERE, "zh")
    assert talk.compaction.trouble(replace(HERE, chat="other"), "en") == ""
    await talk.talk(full + TRIES + 1, full + TRIES + 3)
    assert len(talk.asked.requests) == tried and await talk.summaries() == []
    assert paired(talk.prompt.messages) and f"Fact {full + TRIES + 2}. the harbour" in words(talk.prompt.messages)
    talk.asked.scripts = [summed("At last.")] * 60
    await talk.talk(full + TRIES + 4, MOST + 3)
    assert await talk.summaries(), "other material is another try"
    assert talk.compaction.trouble(HERE, "en") == ""


def long_talk(sizes: Sequence[int]) -> list[Row]:
    return talked([("Go on.", f"{n} " + "word " * size) for n, size in enumerate(sizes)])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 6_000), max_size=16), st.integers(2_000, 20_000))
def test_what_is_summed_up_for_its_length_leaves_the_last_turns(sizes: list[int], budget: int) -> None:
    rows = long_talk(sizes)
    wanted = due(rows, budget, 10**9)
    turns = [turn[0].id for turn in answerable(by_turn(rows))]
    usual = front_of(answerable(by_turn(rows)), front_in(rows))
    assert (wanted is not None) == is_crowded(rows, budget)
    if wanted is not None:
        assert wanted.upto in turns and len(turns) - turns.index(wanted.upto) >= LAST_TURNS
        assert wanted.source.count("Person: ") == turns.index(wanted.upto)
        behind = [*rows, Row(rows[-1].id + 1, HERE, "s", DAY, SummaryRow("s", wanted.upto))]
        assert next_front(behind, answerable(by_turn(behind)), budget) == wanted.upto
        assert next_front(behind, answerable(by_turn(behind)), 10**9) == usual, "a larger window has room"
        assert due(behind, budget, 10**9) is None, "once is enough"
    assert next_front(rows, answerable(by_turn(rows)), budget) == usual, "not without a summary"


def with_tools(number: int, calls: int, length: int, front: int) -> list[Row]:
    ids = [f"c{number}.{n}" for n in range(calls)]
    bodies: list[Body] = [
        UserRow("Look it up.", WHO, str(number)),
        RouteRow("", "", "", "default", ("a/middle",), front=front),
        StepRow(0, tuple(CallBlock(ToolCall(one, "read", {"path": "x"})) for one in ids), "a/middle", "tool_use"),
        *(ResultRow(one, "read", "line\n" * length) for one in ids),
        StepRow(1, (TextBlock("Found. " + "word " * (length // 4)),), "a/middle", "end"),
        EndRow(StopReason.ANSWERED),
    ]
    return [Row(100 * number + n, HERE, f"turn{number}", DAY, body) for n, body in enumerate(bodies)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4_000)), min_size=1, max_size=9),
    st.integers(8_192, 40_000),
    st.sampled_from([1.0, 0.5]),
)
def test_b151_b155_wherever_the_history_begins_calls_keep_their_results_and_the_prompt_fits(
    made: list[tuple[int, int]], window: int, share: float
) -> None:
    """Every row as the place where the summary ends, turns cut in their middle included."""
    past = [row for n, (calls, length) in enumerate(made, 1) for row in with_tools(n, calls, length, 0)]
    number = len(made) + 1
    message = UserMessage("x", HERE, WHO, "And now?", DAY)
    for cut in (0, *(row.id for row in past)):
        rows = [*with_tools(number, 1, 1, cut)[:2]]
        history = [*past, Row(100 * number - 1, HERE, "s", DAY, SummaryRow("What was.", cut))]
        request = request_for(
            Turn(f"turn{number}", message, "en"),
            ModelRef("a", "middle", window_tokens=window, max_tokens=1_000),
            Persona("soul", "small"),
            history=history,
            rows=rows,
            tools=(),
            at=DAY,
            zone="UTC",
            share=share,
        )
        assert paired(request.messages)
        size = sum(map(size_of, request.messages)) + estimated_tokens(request.system)
        assert size <= (window - 1_000) * share
