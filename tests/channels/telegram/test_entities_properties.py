"""What holds for any text whatever, and for every prefix of real answers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.view import Limits
from bot.outbox.paging import open_page, pages
from channels.telegram.entities import Renderer
from tests.answers import needs_answers, real_answers
from tests.bench.render import measured
from tests.channels.telegram.reading import illegal
from tests.channels.web.test_render import ANSWER
from tests.outbox.styled.corpus import PIECES, TEXTS, prose, read
from tests.outbox.styled.reading import Reading, misread, reference

LIMITS = Limits(size=4096, unit="utf16", pace=1.0)
EDIT_SECONDS = 0.005
"""Of CPU."""


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_becomes_something_legal(text: str) -> None:
    rendered = Renderer().render(text)
    assert not illegal(rendered)
    assert rendered == Renderer().render(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=60))
def test_a_growing_text_is_legal_at_every_step_and_remembers_nothing(pieces: list[str]) -> None:
    used, text = Renderer(), ""
    for piece in pieces:
        text += piece
        page = open_page(text, LIMITS, used.render, growing=True)
        assert page.last
        assert used.render(page.markdown) == Renderer().render(page.markdown)
        assert not page.rendered.text or not illegal(page.rendered)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["**a**", "*b*", "`c`", " ", "\n", "\n\n", "- ", "> ", "# ", "_d_e", "f", "**", "|"])))
def test_no_word_is_lost_or_doubled(pieces: list[str]) -> None:
    text = "".join(piece + str(number) for number, piece in enumerate(pieces))
    assert not misread(Renderer().render(text).text, Reading(reference().render(text)).pieces)


def check(text: str, step: int) -> None:
    """Live at every step as the publisher pages it, then the parts of the whole against a reading of its HTML."""
    renderer, sealed = Renderer(), list[int]()
    for end in (*range(1, len(text), step), len(text)):
        while not (page := open_page(text[:end], LIMITS, renderer.render, sealed, growing=True)).last:
            sealed.append(page.end)
            assert page.rendered.length <= LIMITS.size and not illegal(page.rendered), text[:end][-80:]
        assert page.rendered.length <= LIMITS.size, text[:end][-80:]
        assert not illegal(page.rendered), (text[:end][-80:], illegal(page.rendered))
    found = list(pages(text, LIMITS, renderer.render))
    for page in found:
        assert not misread(page.rendered.text, read(page.markdown))
    parts = prose([page.markdown for page in found])
    assert [a for a, b in zip(parts, prose([text]), strict=True) if a != b] == []


def test_prefixes_and_parts_of_what_is_made_up() -> None:
    check(ANSWER * 8, 97)


@needs_answers
def test_some_prefixes_and_all_parts_of_every_answer_are_legal_and_no_word_is_lost() -> None:
    """About thirty of each, at other places in each."""
    for number, text in enumerate(real_answers()):
        check(text, len(text) // 60 + number)


@pytest.mark.prove
@needs_answers
@pytest.mark.parametrize("number", range(70))
def test_every_prefix_of_every_answer_is_legal_and_no_word_is_lost(number: int) -> None:
    check(real_answers()[number], 1)


@needs_answers
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.prove)])
def test_an_edit_costs_about_as_much_as_parsing_its_page(every: int) -> None:
    costs = measured(real_answers()[::every])
    edit, floor = costs.means
    assert edit < 4 * floor and edit < EDIT_SECONDS


def test_what_was_shown_stays_while_the_text_grows() -> None:
    """Outside tables, whose columns move, and brackets without an address, a longer prefix only adds."""
    text = "\n".join(line for line in ANSWER.splitlines() if not line.startswith("|")).replace(
        "[reference]", "reference"
    )
    renderer = Renderer()
    shown = [open_page(text[:end], LIMITS, renderer.render, growing=True).rendered.text for end in range(1, len(text))]
    back = [(before, after) for before, after in pairwise(shown) if not after.startswith(before.rstrip(" \n"))]
    assert back == []
