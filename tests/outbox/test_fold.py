from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.core.events import (
    ApprovalAsked,
    ApprovalDecided,
    Notice,
    Resumed,
    TextDelta,
    ThinkingStarted,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnEvent,
)
from bot.core.stop import StopReason
from bot.core.tool import ToolCall
from bot.core.view import ApprovalCard, Phase, ToolLine, View
from bot.outbox.fold import fold

CARD = ApprovalCard("c1", "call-1", "shell", "run", "why", "{}", 2e9)


def folded(*events: TurnEvent, view: View | None = None) -> View:
    view = view or View("t")
    for event in events:
        view = fold(view, event, "en")
    return view


def test_text_is_concatenated_and_nothing_else() -> None:
    view = folded(ThinkingStarted(), TextDelta("one"), ThinkingStarted(), TextDelta("\n\n"), TextDelta("two"))
    assert view.text == "one\n\ntwo"
    assert view.phase is Phase.WRITING


def test_tools_start_end_and_unknown_ends_are_ignored() -> None:
    view = folded(ToolStarted("1", "web", "x"), ToolStarted("2", "files", "y"), ToolEnded("1", 2.5, True))
    assert view.tools == (ToolLine("1", "web", "x", 2.5, True), ToolLine("2", "files", "y"))
    assert folded(ToolEnded("9", 1.0, False), view=view) == view


def test_a_tool_that_starts_again_keeps_its_line() -> None:
    view = folded(ToolStarted("1", "web", "x"), ToolStarted("2", "b", ""), ToolStarted("1", "web", "x again"))
    assert [line.summary for line in view.tools] == ["x again", ""]


def test_a_card_makes_the_turn_wait_until_the_last_one_is_decided() -> None:
    other = replace(CARD, id="c2")
    view = folded(TextDelta("a"), ApprovalAsked(CARD), ApprovalAsked(other))
    assert view.phase is Phase.WAITING
    view = folded(ApprovalDecided(replace(CARD, decision="once")), view=view)
    assert view.phase is Phase.WAITING
    view = folded(ApprovalDecided(replace(other, decision="expired")), view=view)
    assert view.phase is Phase.THINKING
    assert [card.decision for card in view.cards] == ["once", "expired"]


def test_resuming_replaces_text_tools_and_cards_and_keeps_notices() -> None:
    tools = (ToolLine("1", "web", "x", 1.0),)
    view = folded(TextDelta("a long draft"), Notice("The model changed."), Resumed("short", tools))
    assert (view.text, view.tools, view.cards, view.phase) == ("short", tools, (), Phase.THINKING)
    assert view.notices == ("The model changed.",)
    assert folded(Resumed("", (), (CARD,))).phase is Phase.WAITING


def test_the_end_brings_its_sentence_and_the_callers_calls() -> None:
    calls = (ToolCall("1", "theirs"),)
    view = folded(TextDelta("a"), TurnEnded(StopReason.CALLER_TOOLS, "Done.", calls))
    assert (view.phase, view.stop, view.notices, view.calls) == (Phase.DONE, StopReason.CALLER_TOOLS, ("Done.",), calls)
    assert view.final


def test_a_stopped_turn_always_says_so() -> None:
    assert fold(View("t"), TurnEnded(StopReason.STOPPED), "en").notices == ("Stopped.",)
    assert fold(View("t"), TurnEnded(StopReason.STOPPED), "zh-CN").notices == ("已停止。",)
    assert fold(View("t"), TurnEnded(StopReason.ANSWERED), "en").notices == ()


EVENTS: st.SearchStrategy[TurnEvent] = st.one_of(
    st.builds(TextDelta, st.text(max_size=5)),
    st.just(ThinkingStarted()),
    st.builds(ToolStarted, st.sampled_from("12"), st.just("web"), st.text(max_size=5)),
    st.builds(ToolEnded, st.sampled_from("123"), st.floats(0, 9), st.booleans()),
    st.just(ApprovalAsked(CARD)),
    st.just(ApprovalDecided(replace(CARD, decision="deny"))),
    st.builds(Notice, st.text(max_size=5)),
    st.builds(Resumed, st.text(max_size=5)),
    st.builds(TurnEnded, st.sampled_from(StopReason), st.text(max_size=5)),
)


@given(st.lists(EVENTS, max_size=30))
def test_any_events_fold_and_nothing_changes_after_the_end(events: list[TurnEvent]) -> None:
    view = View("t")
    for event in events:
        before = view
        view = fold(before, event, "en")
        assert not before.final or view is before
        assert (view.phase is Phase.DONE) == view.final
        assert view.phase is not Phase.WAITING or any(not card.decision for card in view.cards)
