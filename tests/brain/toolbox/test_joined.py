"""What has joined follows from the rows alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.brain.toolbox.joined import MOST_JOINED, joined_in, used_in, with_new
from bot.core.model import CallBlock
from bot.core.tool import ToolCall
from bot.core.transcript import Body, JoinedRow, ResultRow, Row, StepRow
from tests.brain.conftest import HERE

NAMES = [f"tool{number}" for number in range(24)]


def rows(*bodies: Body) -> list[Row]:
    return [Row(number, HERE, "t", 1.0, body) for number, body in enumerate(bodies, 1)]


def calling(*names: str) -> StepRow:
    return StepRow(0, tuple(CallBlock(ToolCall(f"c{name}", name)) for name in names), "a/b", "tool_use")


def test_what_a_result_brings_is_there_from_then_on() -> None:
    said = rows(
        JoinedRow(("quiz",), ("a",), ("quiz",)), calling("find_tools"), ResultRow("c", "find_tools", "", joins=("b",))
    )
    assert joined_in(said) == JoinedRow(("quiz",), ("a", "b"), ("quiz",))
    assert joined_in(said[:2]).tools == ("a",)


def test_a_later_turn_that_wrote_what_has_joined_counts_alone() -> None:
    said = rows(ResultRow("c", "find_tools", "", joins=("b",)), JoinedRow((), ("a",)))
    assert joined_in(said).tools == ("a",)


def test_uses_are_told_in_the_order_of_the_last_call() -> None:
    assert list(used_in(rows(calling("a", "b"), calling("c"), calling("a")))) == ["b", "c", "a"]


def test_the_last_that_was_never_called_makes_room_first() -> None:
    full = NAMES[:MOST_JOINED]
    assert with_new(full, ["new"], {full[-1]: 3, full[0]: 2}) == (*full[:-2], full[-1], "new")


def test_of_those_that_were_called_the_one_longest_ago_makes_room() -> None:
    full = NAMES[:MOST_JOINED]
    used = {name: 10 + number for number, name in enumerate(full)} | {full[4]: 1}
    assert with_new(full, ["new"], used) == (*full[:4], *full[5:], "new")


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(NAMES), max_size=14), st.lists(st.sampled_from(NAMES), max_size=3))),
)
def test_there_are_never_more_than_ten_and_what_is_new_is_always_among_them(
    deeds: list[tuple[list[str], list[str]]],
) -> None:
    hot: tuple[str, ...] = ()
    used: dict[str, int] = {}
    for number, (new, called) in enumerate(deeds):
        before, hot = hot, with_new(hot, new, used)
        assert len(hot) == len(set(hot)) <= MOST_JOINED
        assert set(dict.fromkeys(new[:MOST_JOINED])) <= set(hot)
        stayed = [name for name in before if name in hot]
        assert list(hot[: len(stayed)]) == stayed, "the order of those that stay is what it was"
        used |= dict.fromkeys(called, number)
