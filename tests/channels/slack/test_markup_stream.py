"""Markdown for Slack's streams: nothing in it pings, loads or hides, and what was appended stays as it was."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.outbox.partial import repaired
from bot.outbox.spelling import spelled, unfinished
from channels.slack.markup_stream import streamable
from tests.channels.telegram.texts import LONG
from tests.outbox.styled.corpus import HOSTILE, PIECES, answers
from tests.outbox.styled.examples import COMMONMARK_EXAMPLES, commonmark, needs_spec

PING = re.compile(r"<!(?:channel|here|everyone|subteam|date)|<@[UW]|@(?:channel|here|everyone)", re.IGNORECASE)
DEEP_FENCE = re.compile(r"^[ \t>]*(?: {4}|\t)[ \t>]*(?:`{3}|~{3})", re.MULTILINE)
"""Taken for a fence in a list, which it is not where there is no list."""
OWN_PIECES = st.sampled_from(
    [
        *(
            "<!channel>",
            "<!here|x>",
            "<@U123>",
            "<@W1|x>",
            "<!subteam^S1>",
            "<!date^1^x|y>",
            "@channel",
            "@Here",
            "@everyone",
        ),
        *(
            "&lt;!here>",
            "&lt;@U1>",
            "&#60;!here>",
            "\\<!here>",
            "<mailto:a@b.c>",
            "<a@b.c>",
            "<https://x.y/z>",
            "<h1>",
            "<h",
            "<m",
        ),
        *(
            "<b>",
            "</b>",
            "<img src=x>",
            "<script>",
            "<!-- x -->",
            "<div>\n",
            "<?php ?>",
            "![p](https://x.y/p.png)",
            "foo![p](u)",
        ),
        *("1. ```\n", "- ```\n", "`<b>`", "`a", "\\`", "!", " !", "\n\n!", "[x](y)"),
    ]
)
ANY = st.lists(st.one_of(PIECES, OWN_PIECES), max_size=25).map("".join)


def tokens(markdown: str) -> Iterator[Token]:
    """Of CommonMark with raw HTML."""
    for block in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        yield block
        yield from block.children or ()


def takes_back(text: str, step: int = 1) -> list[int]:
    """Ends of whole prefixes whose Markdown is not continued by that of the whole text."""
    sent = streamable(text)
    ends = (end for end in range(0, len(text), step) if text[max(0, end - 1) : end + 1] != "``")
    whole = (end for end in ends if repaired(text[:end]) == text[:end] and unfinished(text[:end]) == end)
    return [end for end in whole if not sent.startswith(streamable(text[:end]))]


@pytest.mark.parametrize(
    ("markdown", "sent"),
    [
        ("**b** [a](https://x.example) `c`\n\n- d", "**b** [a](https://x.example) `c`\n\n- d"),
        ("<!channel> and <@U123>", "<·!channel> and <·@U123>"),
        ("@channel @here @everyone a@x.example", "@channe·l @her·e @everyon·e a@x.example"),
        ("&lt;!here>", "&lt;·!here>"),
        ("`<!channel>` `<b>`", "`<!channe·l>` `<b>`"),
        ("```html\n<b>x</b> <!DOCTYPE>\n```\n<b>", "```html\n<b>x</b> <!DOCTYPE>\n```\n<·b>"),
        ("![p](https://x.example/p.png) foo![p](u)", "[p](https://x.example/p.png) foo!·[p](u)"),
        ("<https://x.example/a> <mailto:a@x.example>", "https://x.example/a mailto:a@x.example"),
        (
            "<https://x.example|x> <https://x.example/a_(b)|my *own* link>",
            "[x](https://x.example) [my \\*own\\* link](https://x.example/a_%28b%29)",
        ),
        (
            "`<https://x.example|x>` [a <https://x.example|x>](y) <https://x.example| >",
            "`<·https://x.example|x>` [a <·https://x.example|x>](y) <·https://x.example| >",
        ),
        ("a < b, a <- b, x<5", "a < b, a <- b, x<5"),
        ("<think>x</think>", "<·think>x<·/think>"),
    ],
)
def test_each_construct(markdown: str, sent: str) -> None:
    """A dot stands for the character that nobody sees."""
    assert streamable(markdown) == sent.replace("·", "\u200b")


@settings(max_examples=400, deadline=None)
@given(ANY)
def test_nothing_pings_or_loads_or_is_html(text: str) -> None:
    assume(not DEEP_FENCE.search(text))
    sent = streamable(text)
    assert not PING.search(sent)
    assert [token.content for token in tokens(sent) if token.type.startswith("html") or token.type == "image"] == []


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_a_longer_text_continues_a_shorter_one(text: str) -> None:
    assert takes_back(text) == []


@settings(max_examples=200, deadline=None)
@given(ANY)
def test_only_what_nobody_sees_is_added(text: str) -> None:
    """Beside what formulas are spelled as, which tests/outbox/test_spelling.py is about."""
    unseen = streamable(text).replace("\u200b", "")
    assert re.sub(r"[<>!]", "", unseen) == re.sub(r"[<>!]", "", spelled(text).replace("\u200b", ""))


def test_a_link_as_slack_writes_it_is_only_continued() -> None:
    assert (
        takes_back("See <https://x.example|x>, <https://x.example/a|a *long* label> and <https://x.example|no link")
        == []
    )
    assert takes_back(f"See <https://x.example|{'word ' * 50}> and <mailto:a@x.example|a`b>") == []


@pytest.mark.parametrize("text", [LONG, *answers()[::6]])
def test_a_real_answer_is_only_continued(text: str) -> None:
    assert takes_back(text, 13) == []


@needs_spec
@pytest.mark.parametrize("number", range(1, COMMONMARK_EXAMPLES + 1))
def test_commonmark_example(number: int) -> None:
    assert not PING.search(streamable(commonmark()[number].markdown))
    assert takes_back(commonmark()[number].markdown) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_does_not_hang(text: str) -> None:
    began = time.thread_time()
    streamable(text)
    assert time.thread_time() - began < 2
