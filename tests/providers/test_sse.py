"""Framing: any bytes, cut anywhere, give the same payloads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.sse import Frames, LineTooLong, NdjsonFrames, SseFrames, WholeBody

STREAM = (
    "\ufeff: a comment\r\n"
    'event: message_start\r\ndata: {"a": "你好 🐦"}\r\n\r\n'
    "id: 7\nretry: 10\ndata:first line\ndata: second line\ndata\n\n"
    "event: ping\n\n"
    "data: {}\r\rdata: a: b\n\n"
    "datax: not ours\n\n"
    "data: [DONE]\n\n"
).encode()
PAYLOADS = ['{"a": "你好 🐦"}', "first line\nsecond line\n", "{}", "a: b", "[DONE]"]


def fed(frames: Frames, data: bytes, cuts: list[int]) -> list[str]:
    payloads, start = [], 0
    for cut in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        payloads += frames.feed(data[start:cut])
        start = cut
    return payloads + frames.end()


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=40))
def test_events_are_the_same_however_the_bytes_are_cut(cuts: list[int]) -> None:
    assert fed(SseFrames(), STREAM, cuts) == PAYLOADS


def test_events_are_the_same_byte_by_byte() -> None:
    assert fed(SseFrames(), STREAM, list(range(len(STREAM)))) == PAYLOADS


@given(st.binary(max_size=300), st.lists(st.integers(min_value=0, max_value=300), max_size=10))
def test_no_bytes_break_the_framing(data: bytes, cuts: list[int]) -> None:
    for make in (SseFrames, NdjsonFrames, WholeBody):
        assert fed(make(), data, cuts) == fed(make(), data, [])


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), max_size=8))
def test_what_is_framed_comes_out(lines: list[str]) -> None:
    stream = "".join(f"data: {line}\n\n" for line in lines).encode()
    assert fed(SseFrames(), stream, []) == lines


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    frames = SseFrames()
    assert frames.feed(b"data: a\r\n\r") == ["a"]
    assert frames.feed(b"\ndata: b\n\n") == ["b"]


def test_a_last_event_without_its_blank_line_counts_and_a_torn_line_does_not() -> None:
    assert fed(SseFrames(), b"data: [DONE]\n", []) == ["[DONE]"]
    assert fed(SseFrames(), b'data: {"cho', []) == []


def test_json_lines_keep_signs_that_only_look_like_line_ends() -> None:
    line = '{"a": "one\u2028two\x85three\x0bfour"}'
    assert fed(NdjsonFrames(), f"{line}\n\n{line}\r\n".encode(), []) == [line, line]


def test_a_last_json_line_without_its_newline_counts_unless_it_is_torn() -> None:
    assert fed(NdjsonFrames(), b'{"a": 1}\n{"done": true}', []) == ['{"a": 1}', '{"done": true}']
    assert fed(NdjsonFrames(), b'{"a": 1}\n{"don', []) == ['{"a": 1}']


def test_a_whole_body_is_one_payload() -> None:
    assert fed(WholeBody(), b'{"a":\n 1}', [3]) == ['{"a":\n 1}']
    assert fed(WholeBody(), b" \n", []) == []


@pytest.mark.parametrize("frames", [SseFrames(64), NdjsonFrames(64), WholeBody(64)])
def test_a_line_without_end_is_given_up(frames: Frames) -> None:
    with pytest.raises(LineTooLong):
        for _ in range(100):
            frames.feed(b"x" * 10)


def test_an_event_of_lines_without_end_is_given_up() -> None:
    frames = SseFrames(64)
    with pytest.raises(LineTooLong):
        for _ in range(100):
            frames.feed(b"data: xxxxxxxx\n")
