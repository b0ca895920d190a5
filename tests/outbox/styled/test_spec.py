"""Every example of the CommonMark specification reads as its HTML does, but for what the house does on purpose."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from tests.outbox.styled.corpus import styled
from tests.outbox.styled.examples import COMMONMARK_EXAMPLES, COMMONMARK_ON_PURPOSE, commonmark, needs_spec
from tests.outbox.styled.reading import Reading, reference


def expected(markdown: str, html: str) -> str:
    """What the specification's HTML shows; where it holds HTML of the text's own, that HTML is shown as text."""
    full = MarkdownIt("commonmark")
    if any(one.type.startswith("html") for block in full.parse(markdown) for one in (block, *(block.children or ()))):
        html = reference().render(markdown)
    return "".join(piece if isinstance(piece, str) else piece.as_columns() for piece in Reading(html).pieces)


def squeezed(text: str) -> str:
    """Without white space, which HTML does not keep, and with the one kind of number that it knows."""
    return re.sub(r"(\d)\)", r"\1.", "".join(text.split()))


@needs_spec
@pytest.mark.parametrize("number", range(1, COMMONMARK_EXAMPLES + 1))
def test_commonmark_example(number: int) -> None:
    markdown, html = commonmark()[number]
    same = squeezed(styled(markdown).text) == squeezed(expected(markdown, html))
    assert same is (number not in COMMONMARK_ON_PURPOSE)


@needs_spec
def test_all_examples_are_there() -> None:
    assert len(commonmark()) == COMMONMARK_EXAMPLES
