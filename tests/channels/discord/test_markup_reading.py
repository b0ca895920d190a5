"""What Discord's client reads of a rendered text is the styled text: for the specifications, real answers and any text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.view import Limits
from bot.outbox.paging import open_page, pages
from bot.outbox.styled.links import candid
from bot.outbox.styled.spans import is_blank
from channels.discord.markup import Renderer
from channels.discord.markup_inline import masks
from tests.answers import needs_answers
from tests.channels.discord.reader import Client
from tests.channels.discord.seeing import seen, wanted
from tests.channels.telegram.texts import LONG, whole
from tests.outbox.styled.corpus import HOSTILE, PIECES, TEXTS, answers, prose, styled
from tests.outbox.styled.examples import COMMONMARK_EXAMPLES, GFM_NUMBERS, commonmark, gfm, needs_spec, needs_suite
from tests.outbox.styled.sight import differences

LIMITS = Limits(size=2000, unit="chars", pace=1.3)
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
            "&#42;",
            "&lt;",
        ),
        *("[l](https://e.example)", "[l*](https://e.example)", "[**b** `c`](https://e.example/(x))", "<a@x.example>"),
        *(
            "@everyone",
            ":smile:",
            "<@123>",
            "<t:1>",
            "<1.@here>",
            "https://x.example/*a*",
            "discord.gg/x",
            "C#",
            "¯\\_(ツ)_/¯",
        ),
        *(
            "\n> ",
            "\n- ",
            "\n  - ",
            "\n    - ",
            "\n1. ",
            "\n3. ",
            "\n0. ",
            "\n   ",
            "\n## ",
            "\n#### ",
            "#",
            "-#",
            "-",
            "10.",
        ),
    ]
)
ANY = st.lists(st.one_of(PIECES, OWN_PIECES), max_size=40).map("".join)


def misread(markdown: str, content: str) -> list[str]:
    """Where what is seen of ``content`` first leaves what ``markdown`` says, in either generation of the client."""
    page = candid(styled(markdown), masks)
    meant = [] if is_blank(page.text) else wanted(page)
    return [f"{client.name}: {one}" for client in Client for one in differences(seen(content, client), meant)]


def check(markdown: str) -> None:
    rendered = Renderer().render(markdown)
    assert rendered.length == len(rendered.text)
    assert misread(markdown, rendered.text) == []


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
        assert misread(page.markdown, used.render(page.markdown).text) == []


@pytest.mark.parametrize("text", [LONG, *answers()[::6]])
def test_parts_are_short_enough_and_read_as_they_are_meant(text: str) -> None:
    found = list(pages(text, LIMITS, Renderer().render))
    for page in found:
        assert 0 < page.rendered.length <= LIMITS.size
        assert misread(page.markdown, page.rendered.text) == []
    assert prose([page.markdown for page in found]) == prose([text])


def test_nothing_of_a_long_answer_is_lost() -> None:
    parts = [page.rendered.text for page in pages(LONG, LIMITS, Renderer().render)]
    whole(["\n".join(sight.text for sight in seen(part)) + "\n" for part in parts])


def live(text: str, step: int) -> None:
    """At every step as the publisher would show it."""
    renderer, sealed = Renderer(), list[int]()
    for end in (*range(1, len(text), step), len(text)):
        while not (page := open_page(text[:end], LIMITS, renderer.render, sealed, growing=True)).last:
            sealed.append(page.end)
            assert page.rendered.length <= LIMITS.size
            assert misread(page.markdown, page.rendered.text) == []
        assert page.rendered.length <= LIMITS.size
        assert misread(page.markdown, page.rendered.text) == []


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
    Renderer().render(text)
    list(pages(text, LIMITS, Renderer().render))
    assert time.thread_time() - began < 8
