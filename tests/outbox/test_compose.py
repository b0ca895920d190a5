from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.core.stop import StopReason
from bot.core.view import ApprovalCard, Phase, ToolLine, View
from bot.outbox.compose import buttons, footer

CARD = ApprovalCard("c1", "1", "shell", "run", "This tool runs a program.", '{\n  "cmd": "ls"\n}', 2000.0)
RUNNING = ToolLine("1", "web_search", "rust async")


def status(view: View, elapsed: dict[str, float] | None = None, language: str = "en") -> str:
    return footer(view, elapsed or {}, language, live=True)


def shown(markdown: str) -> str:
    """What a reader sees of inline Markdown."""
    (inline,) = [token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "inline"]
    return "".join(child.content for child in inline.children or ())


def test_the_status_line_says_what_goes_on() -> None:
    assert status(View("t")) == "*thinking…*"
    assert status(View("t"), language="zh") == "*正在思考…*"
    assert status(View("t", phase=Phase.WRITING)) == ""
    assert footer(View("t"), {}, "en", live=False) == ""


def test_a_running_tool_shows_what_it_is_about_and_its_seconds() -> None:
    assert shown(status(View("t", tools=(RUNNING,)), {"1": 6.9})) == "web_search: rust async · 6 s"
    assert shown(status(View("t", tools=(RUNNING,)), {"1": 0.4})) == "web_search: rust async"
    assert shown(status(View("t", tools=(replace(RUNNING, summary=""),)))) == "web_search"


def test_several_tools_share_one_line() -> None:
    tools = tuple(ToolLine(str(n), f"tool{n}", "about") for n in range(5))
    line = status(View("t", tools=tools), {"1": 3.0, "4": 12.2})
    assert line == "*tool0, tool1, tool2 +2 · 12 s*"


def test_a_failed_tool_is_named_while_the_model_thinks_on() -> None:
    failed = replace(RUNNING, seconds=30.0, error=True)
    assert shown(status(View("t", tools=(failed,)))) == "web_search failed · thinking…"
    assert status(View("t", tools=(failed,), phase=Phase.WRITING)) == ""
    assert status(View("t", tools=(replace(RUNNING, seconds=1.0),))) == "*thinking…*"


def test_an_open_card_shows_the_whole_call_and_a_decided_one_a_line() -> None:
    view = View("t", phase=Phase.WAITING, cards=(CARD,))
    text = status(view)
    assert text.startswith("**May I run shell?**\n\nThis tool runs a program.\n\n```json\n")
    assert CARD.arguments in text
    assert text.endswith("*waiting for your decision*")
    decided = replace(view, phase=Phase.THINKING, cards=(replace(CARD, decision="once", decided_by="Ann"),))
    assert status(decided) == "**shell** · Approved once. (Ann)\n\n*thinking…*"


@pytest.mark.parametrize("decision", ["once", "chat", "always", "deny", "expired", "void"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_decision_has_words(decision: str, language: str) -> None:
    assert "shell" in status(View("t", cards=(replace(CARD, decision=decision),)), language=language)


def test_arguments_can_not_leave_their_fence_and_are_cut_in_the_middle_only_when_huge() -> None:
    fenced = status(View("t", cards=(replace(CARD, arguments="```\n# not a heading\n````"),)))
    (fence,) = [token for token in MarkdownIt("commonmark").parse(fenced) if token.type == "fence"]
    assert fence.content == "```\n# not a heading\n````\n"
    long = status(View("t", cards=(replace(CARD, arguments="a" * 5000 + "b" * 7000),)))
    assert "… 4000 characters left out …" in long
    assert "aaa" in long and "bbb" in long


def test_notices_stand_below_the_cards_in_order() -> None:
    view = View("t", notices=("One.", "Two."), cards=(replace(CARD, decision="deny"),), stop=StopReason.ANSWERED)
    assert footer(view, {}, "en", live=False) == "**shell** · Denied.\n\nOne.\n\nTwo."


def test_the_verbs_are_there_while_the_card_is_open() -> None:
    view = View("turn", cards=(CARD,), phase=Phase.WAITING)
    found = buttons(view, 1999.0, "en", 64, stop=True)
    assert [button.payload for button in found] == ["b:c1:once", "b:c1:chat", "b:c1:always", "b:c1:deny", "b:turn:stop"]
    assert [button.style for button in found] == ["primary", "plain", "plain", "danger", "plain"]
    assert [button.payload for button in buttons(view, 2000.0, "en", 64, stop=True)] == ["b:turn:stop"]
    decided = replace(view, cards=(replace(CARD, decision="once"),))
    assert [button.payload for button in buttons(decided, 0, "en", 64, stop=True)] == ["b:turn:stop"]
    assert buttons(replace(view, stop=StopReason.STOPPED), 0, "en", 64, stop=False) == ()


def test_several_open_cards_are_told_apart_by_numbers() -> None:
    view = View("turn", cards=(CARD, replace(CARD, id="c2", tool="mail")), phase=Phase.WAITING)
    labels = [button.label for button in buttons(view, 0, "en", 64, stop=False)]
    assert labels[0] == "1. Allow once" and labels[4] == "2. Allow once"
    assert "**1. May I run shell?**" in status(view) and "**2. May I run mail?**" in status(view)


def test_labels_fit_the_platform() -> None:
    view = View("turn", cards=(CARD,), phase=Phase.WAITING)
    assert all(len(button.label) <= 10 for button in buttons(view, 0, "en", 10, stop=True))


def test_b100_payloads_fit_64_bytes() -> None:
    view = View("f" * 32, cards=(replace(CARD, id="0" * 32),), phase=Phase.WAITING)
    assert all(len(button.payload.encode()) <= 64 for button in buttons(view, 0, "zh", 64, stop=True))


@given(st.text(max_size=40).filter(lambda text: text.strip()))
def test_what_a_tool_is_about_is_never_taken_for_markdown(summary: str) -> None:
    line = status(View("t", tools=(ToolLine("1", "web", summary),)))
    tokens = MarkdownIt("commonmark").parse(line)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert [child.type for child in children if child.type not in ("text", "text_special")] == ["em_open", "em_close"]
