"""Reasoning between tags is taken out of an answer, wherever the deltas are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import ModelText, ModelThinking
from bot.providers.thinking import ThinkFilter


def filtered(*deltas: str) -> tuple[str, str, list[str]]:
    """The answer, the reasoning, and what could be seen of the answer after each delta."""
    filter_, text, thought, seen = ThinkFilter(), "", "", []
    for pieces in [*map(filter_.feed, deltas), filter_.end()]:
        for piece in pieces:
            text += piece.text if isinstance(piece, ModelText) else ""
            thought += piece.text if isinstance(piece, ModelThinking) else ""
        seen.append(text)
    return text, thought, seen


CASES = [
    ("Sure. <think>secret plan</think>Answer", "Sure. Answer", "secret plan"),
    ("<think>\nplan\n</think>\n\nAnswer", "Answer", "\nplan\n"),
    ("</think>Hello", "Hello", ""),
    ("\n </THINK> Hello", "Hello", ""),
    ("<thinking>a</thinking>b<think>c</think>d", "bd", "ac"),
    ("<think>never closed", "", "never closed"),
    ("<think></think>\n", "", ""),
    ("plain < text > with <b>tags</b>", "plain < text > with <b>tags</b>", ""),
    ("1 <", "1 <", ""),
    ("Use the `<think>` tag. <think>x</think>Done", "Use the `<think>` tag. Done", "x"),
    ("```xml\n<think>shown</think>\n```\n<think>x</think>Done", "```xml\n<think>shown</think>\n```\nDone", "x"),
    ("  indented", "  indented", ""),
    ("one</think> two", "one two", ""),
    ("<thinker>not a tag</thinker>", "<thinker>not a tag</thinker>", ""),
    ("It`s <b>\n<think>x</think>y", "It`s <b>\ny", "x"),
]


@pytest.mark.parametrize(("whole", "answer", "thought"), CASES)
def test_answer_and_reasoning_are_told_apart(whole: str, answer: str, thought: str) -> None:
    assert filtered(whole)[:2] == (answer, thought)
    assert filtered(*whole)[:2] == (answer, thought)


@given(st.sampled_from(CASES), st.lists(st.integers(min_value=0, max_value=70), max_size=12))
def test_the_cuts_make_no_difference(case: tuple[str, str, str], cuts: list[int]) -> None:
    whole, answer, thought = case
    places = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})
    text, hidden, seen = filtered(*[whole[start:end] for start, end in pairwise(places)])
    assert (text, hidden) == (answer, thought)
    assert all(answer.startswith(shown) for shown in seen)


def test_b139_reasoning_is_not_seen_while_its_end_is_missing() -> None:
    _, _, seen = filtered("Sure. <think>secret", " plan", "</think>Answer")
    assert seen == ["Sure. ", "Sure. ", "Sure. Answer", "Sure. Answer"]


def test_b142_a_lone_closing_tag_split_in_two_is_gone() -> None:
    assert filtered("</thi", "nk>Hello")[0] == "Hello"
    assert filtered("\n </THI", "NK> Hello")[0] == "Hello"


@given(st.text(max_size=60))
def test_text_without_tags_passes_unchanged(text: str) -> None:
    if "think" not in text.lower() and text.strip():
        assert filtered(*text)[0] == text
