"""What Slack shows of a rendered text is the styled text: for the specifications, real answers and any text."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.view import Limits
from bot.outbox.paging import open_page, pages
from bot.outbox.styled.links import candid
from bot.outbox.styled.spans import is_blank
from channels.slack.markup import Renderer
from tests.answers import needs_answers
from tests.channels.slack.reader import read, same, seen, visible, wanted
from tests.channels.telegram.texts import LONG, whole
from tests.outbox.styled.corpus import HOSTILE, PIECES, TEXTS, answers, prose, styled
from tests.outbox.styled.examples import COMMONMARK_EXAMPLES, GFM_NUMBERS, commonmark, gfm, needs_spec, needs_suite
from tests.outbox.styled.sight import differences

LIMITS = Limits(size=4000, unit="bytes", pace=1.3)
MOST_CHARS = 12_000
"""Of text in all blocks together; Slack refuses more (bolt-js issue 2509)."""
OWN_PIECES = st.sampled_from(
    [
        *(
            "**b**",
            "*i*",
            "~~s~~",
            "||p||",
            "***bi***",
            "**注意：**",
            "`c*d`",
            "``e`f``",
            "\\*",
            "\\_",
            "\\~",
            "\\`",
            "&lt;",
            "&amp;",
        ),
        *("[l](https://e.example)", "[l*](https://e.example)", "[**b** `c`](https://e.example/(x))", "<a@x.example>"),
        *(
            "@channel",
            "<!here>",
            "<@U1>",
            "&lt;!here&gt;",
            ":smile:",
            "https://x.example/*a*",
            "[b.example](https://e.example)",
        ),
        *("\n> ", "\n- ", "\n  - ", "\n    - ", "\n1. ", "\n3. ", "\n0. ", "\n   ", "\n## ", "\n\\> "),
    ]
)
ANY = st.lists(st.one_of(PIECES, OWN_PIECES), max_size=40).map("".join)


def misread(markdown: str, renderer: Renderer) -> list[str]:
    """Where what is seen first leaves what ``markdown`` says, in blocks and in mrkdwn."""
    meant = candid(styled(markdown), lambda label, url: not is_blank(label))
    if is_blank(meant.text):
        return ["not blank"] if renderer.render(markdown).text or renderer.rich(markdown) else []
    found = list(differences(seen(renderer.rich(markdown)), wanted(meant)))
    if differs := same(read(renderer.render(markdown).text), visible(meant)):
        found.append(differs)
    return found


def check(markdown: str) -> None:
    renderer = Renderer()
    rendered = renderer.render(markdown)
    assert rendered.length == len(rendered.text.encode())
    assert misread(markdown, renderer) == []


@needs_spec
@pytest.mark.parametrize("number", range(1, COMMONMARK_EXAMPLES + 1))
def test_commonmark_example(number: int) -> None:
    check(commonmark()[number].markdown)


@needs_suite
@pytest.mark.parametrize("number", GFM_NUMBERS)
def test_gfm_example(number: int) -> None:
    check(gfm()[number].markdown)


@settings(max_examples=400, deadline=None)
@given(st.one_of(TEXTS, ANY))
def test_any_text_is_read_as_it_is_meant(text: str) -> None:
    check(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(PIECES, OWN_PIECES), max_size=30))
def test_a_growing_text_is_read_as_it_is_meant_and_remembers_nothing(pieces: list[str]) -> None:
    used, text = Renderer(), ""
    for piece in pieces:
        text += piece
        page = open_page(text, LIMITS, used.render, growing=True)
        assert used.render(page.markdown) == Renderer().render(page.markdown)
        assert used.rich(page.markdown) == Renderer().rich(page.markdown)
        assert misread(page.markdown, used) == []


@pytest.mark.parametrize("text", [LONG, *answers()[::6]])
def test_parts_are_short_enough_and_read_as_they_are_meant(text: str) -> None:
    renderer = Renderer()
    found = list(pages(text, LIMITS, renderer.render))
    for page in found:
        assert 0 < page.rendered.length <= LIMITS.size
        assert misread(page.markdown, renderer) == []
        blocks = renderer.rich(page.markdown)
        assert len(blocks) == 1
        assert sum(len(sight.text) + 1 for sight in seen(blocks)) < MOST_CHARS
    assert prose([page.markdown for page in found]) == prose([text])


def test_nothing_of_a_long_answer_is_lost() -> None:
    renderer = Renderer()
    parts = [renderer.rich(page.markdown) for page in pages(LONG, LIMITS, renderer.render)]
    whole(["\n".join(sight.text for sight in seen(part)) + "\n" for part in parts])


def live(text: str, step: int) -> None:
    """At every step as the publisher would show it."""
    renderer, sealed = Renderer(), list[int]()
    for end in (*range(1, len(text), step), len(text)):
        while not (page := open_page(text[:end], LIMITS, renderer.render, sealed, growing=True)).last:
            sealed.append(page.end)
            assert page.rendered.length <= LIMITS.size
            assert misread(page.markdown, renderer) == []
        assert page.rendered.length <= LIMITS.size
        assert misread(page.markdown, renderer) == []


def test_prefixes_of_a_sample() -> None:
    for text in answers()[:2]:
        live(text[:4000], 331)


@pytest.mark.prove
@needs_answers
@pytest.mark.parametrize("number", range(70))
def test_prefixes_and_parts_of_every_answer(number: int) -> None:
    live(answers()[number], 197)
    test_parts_are_short_enough_and_read_as_they_are_meant(answers()[number])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markdown_does_not_hang(text: str) -> None:
    began = time.thread_time()
    renderer = Renderer()
    json.dumps(renderer.rich(text))
    for page in pages(text, LIMITS, renderer.render):
        json.dumps(renderer.rich(page.markdown))
    assert time.thread_time() - began < 8
