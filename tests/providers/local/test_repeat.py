"""An answer that only repeats itself ends after a sentence; one that repeats something on purpose is left whole."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.model import ModelEvent, ModelStop, ModelStopReason, ModelText, ModelThinking
from bot.providers.local.repeat import RepeatStream, repetition

STANZA: Final = (
    "The sea is a vast, silent place,\nIts waves stretch like a blanket,\n"
    "Its currents flow like a river,\nIts currents flow like a river.\n\n"
)


class Answer:
    """Each fed payload is a piece of text; the end is a stop at the limit."""

    complete = closed = False

    def feed(self, payload: str) -> list[ModelEvent]:
        return [ModelText(payload)]

    def end(self) -> list[ModelEvent]:
        return [ModelStop(ModelStopReason.MAX_TOKENS)]


def heard(text: str, size: int = 4) -> tuple[str, ModelStopReason]:
    """What a person reads of ``text`` that comes in pieces of ``size`` characters, and why it ended."""
    stream = RepeatStream(Answer())
    events: list[ModelEvent] = []
    for start in range(0, len(text), size):
        events += stream.feed(text[start : start + size])
        if stream.closed:
            break
    if not stream.closed:
        events += stream.end()
    stop = events[-1]
    assert isinstance(stop, ModelStop)
    return "".join(event.text for event in events if isinstance(event, ModelText)), stop.reason


@pytest.mark.parametrize("size", [1, 4, 37, 100_000])
@pytest.mark.parametrize(
    ("start", "thing", "most", "ends"),
    [
        ("The sun is up.\n\n", STANZA, 2.5, (".", ",")),
        ("中国有：北京市、上海市、", "吉林省、", 8, ("省",)),
        ("Well. ", "I am fine. ", 4, (".",)),
        ("好的。", "我很好，谢谢。", 5, ("。",)),
    ],
)
def test_what_goes_round_in_circles_ends_with_a_sentence(
    start: str, thing: str, most: float, ends: tuple[str, ...], size: int
) -> None:
    text, reason = heard(start + thing * 60, size)
    assert reason is ModelStopReason.END
    assert text.endswith(ends)
    assert text.startswith(start + thing[:3])
    assert len(text) <= len(start) + most * len(thing)


@pytest.mark.parametrize("size", [1, 5, 100_000])
def test_the_numbers_of_a_list_are_no_difference(size: int) -> None:
    text, reason = heard("".join(f"{number}. 吉林省\n" for number in range(1, 200)), size)
    assert reason is ModelStopReason.END
    assert text.endswith("吉林省") and text.count("吉林省") < 8


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{number} x 7 = {number * 7}" for number in range(1, 60)),
        ", ".join(map(str, range(400))),
        f"| a | b |\n|{'---|' * 30}\n| 1 | 2 |\n",
        "-" * 200 + "\nend",
        "Row, row, row your boat\n" * 3 + "Gently down the stream.",
        "ha" * 50,
        "0, " * 120,
        "hello world " * 5,
        "吉林省、吉林省、" + "辽宁省、黑龙江省、河北省。",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_what_repeats_on_purpose_comes_whole(text: str, size: int) -> None:
    assert heard(text, size) == (text, ModelStopReason.MAX_TOKENS)


def test_repetition_is_held_back_and_the_stream_stays_alive() -> None:
    stream = RepeatStream(Answer())
    said = [stream.feed("I am fine. ") for _ in range(6)]
    assert said[0] == [ModelText("I am fine. ")]
    assert said[5] == [ModelThinking("")]
    assert stream.feed("And you?") == [ModelText("I am fine. " * 4 + "And you?")]


@given(st.text(alphabet="ab 。\n1.", max_size=200), st.integers(1, 9))
def test_whatever_is_held_back_is_said_in_the_end(text: str, size: int) -> None:
    said, reason = heard(text, size)
    assert text.startswith(said)
    assert reason is ModelStopReason.END or said == text


@given(st.text(alphabet="abc1.\n", max_size=30), st.text(alphabet="abc", min_size=1, max_size=9), st.integers(2, 9))
def test_a_repetition_at_the_end_is_found(start: str, thing: str, times: int) -> None:
    text = start + thing * times
    found = repetition(text)
    assert found is not None
    assert found.first <= len(text) - len(thing) * times and found.second <= len(text) - len(thing)
    assert found.times >= 2
