"""An answer that only repeats the question, or the tool, gives way to what the tool said in words for a person."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.core.model import ModelEvent, ModelStop, ModelStopReason, ModelText
from bot.providers.local.echo import EchoStream

KNOWN = "Monday, 30 November 2026, 15:27 (Asia/Shanghai, UTC+0800; 2026年11月30日 星期一 15:27)"
STOP = ModelStop(ModelStopReason.END)


class Answer:
    """Each fed payload is a piece of text; the end is a stop."""

    complete = closed = False

    def feed(self, payload: str) -> Iterable[ModelEvent]:
        return [ModelText(payload)]

    def end(self) -> Iterable[ModelEvent]:
        return [STOP]


def heard(question: str, *pieces: str) -> list[str]:
    """The texts, after each piece and at the end."""
    stream = EchoStream(Answer(), question, KNOWN, "15:27")
    said = [stream.feed(piece) for piece in pieces] + [stream.end()]
    assert said[-1][-1] == STOP
    return ["".join(event.text for event in events if isinstance(event, ModelText)) for events in said]


@pytest.mark.parametrize("echo", [("现在", "几点", "了。"), ("现在几点了",), ("现在几点了？\n",)])
def test_an_echo_becomes_the_facts(echo: tuple[str, ...]) -> None:
    assert heard("现在几点了？", *echo) == ["" for _ in echo] + ["15:27"]


def test_another_answer_comes_at_once() -> None:
    assert heard("what time is it?", "The", " time is", " 15:27.") == ["The", " time is", " 15:27.", ""]


def test_an_answer_that_begins_like_the_question_is_only_delayed() -> None:
    assert heard("17*23", "17", "*23", " = 391") == ["", "", "17*23 = 391", ""]


@pytest.mark.parametrize(("question", "echo"), [("请问现在几点了？", "现在几点了。"), ("note: buy milk", "Buy milk")])
def test_most_of_the_question_is_an_echo(question: str, echo: str) -> None:
    assert heard(question, echo) == ["", "15:27"]


def test_a_few_words_of_the_question_are_an_answer_of_their_own() -> None:
    assert heard("Is it Monday or Tuesday today?", "Monday") == ["", "Monday"]


def test_the_raw_words_of_a_tool_become_those_for_a_person() -> None:
    assert heard("现在几点？", *(KNOWN[start : start + 9] for start in range(0, len(KNOWN), 9)))[-1] == "15:27"
    assert heard("现在几点？", KNOWN[:40])[-1] == "15:27"


def test_a_little_of_what_the_tool_said_is_an_answer_of_its_own() -> None:
    assert heard("今天星期几？", "2026年11月30日 星期一") == ["", "2026年11月30日 星期一"]


def test_silence_stays_silence() -> None:
    assert heard("what time is it?") == [""]
