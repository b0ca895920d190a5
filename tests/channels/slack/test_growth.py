"""What is appended to a stream stays right whatever comes behind it."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from channels.slack.growth import settled
from channels.slack.markup_stream import streamable
from tests.channels.slack.texts import LONG

PIECES = [
    "`",
    "``",
    "```\n",
    "<",
    ">",
    "<@U0ANN>",
    "!",
    "[a](",
    "https://a.example)",
    "<https://a.example>",
    "@channel",
    "<!here>",
    "&lt;",
    "\\",
    "\n",
    "\n\n",
    " ",
    "word ",
    "<div>",
    "| a | b |\n",
    "**",
    "- ",
    "> ",
    "$x^2$",
    "$",
    "$$",
    "\\(",
    "\\)",
    "$5 ",
]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("`\\``<https://a.example>`\n\n")
def test_every_beginning_of_a_text_is_continued_by_a_longer_one(text: str) -> None:
    sent = ""
    for end in range(len(text) + 1):
        now = streamable(settled(text[:end]))
        assert now.startswith(sent) or sent.startswith(now), (text[:end], sent, now)
        sent = max(sent, now, key=len)


def test_nothing_of_a_long_answer_is_ever_taken_back() -> None:
    sent = ""
    for end in range(0, 4000, 3):
        now = streamable(settled(LONG[:end]))
        if now.startswith(sent):
            sent = now
        else:
            assert sent.startswith(now)
    assert len(sent) > 3900
