"""The extensions of GitHub's Markdown (tables, tasks, strikethrough, addresses, tags) read as their specification says."""

from __future__ import annotations

import re

import pytest

from tests.outbox.styled.corpus import styled
from tests.outbox.styled.examples import GFM_NUMBERS, GFM_ON_PURPOSE, gfm, needs_suite
from tests.outbox.styled.reading import Reading, Table
from tests.outbox.styled.test_spec import squeezed


def drawn(table: Table) -> list[str]:
    """The table as lines of columns, whose padding does not count."""
    return [" | ".join(cell.strip() for cell in row).strip() for row in table.rows]


def lines(text: str) -> list[str]:
    without_rule = [line for line in text.split("\n") if not re.fullmatch(r"-{3,}(-\+-+)*", line)]
    return [re.sub(" +", " ", line).strip() for line in without_rule]


def boxed(html: str) -> str:
    """The check box of a task stands for its bullet."""
    ticked = html.replace('<input checked="" disabled="" type="checkbox">', "☑")
    return ticked.replace('<input disabled="" type="checkbox">', "☐")


def words_as_specified(text: str, html: str) -> bool:
    said = "".join(piece if isinstance(piece, str) else "" for piece in Reading(boxed(html)).pieces)
    return squeezed(text) == re.sub("[•◦▪]([☐☑])", r"\1", squeezed(said))


@needs_suite
@pytest.mark.parametrize("number", GFM_NUMBERS)
def test_gfm_example(number: int) -> None:
    example = gfm()[number]
    page = styled(example.markdown)
    text, html = page.text, example.html
    for table in (piece for piece in Reading(html).pieces if isinstance(piece, Table)):
        [block] = [page.text[one.start : one.end] for one in page.spans if one.kind == "pre"]
        assert lines(block) == drawn(table)
        text = text.replace(block, "", 1)
    struck = [page.text[one.start : one.end] for one in page.spans if one.kind == "strikethrough"]
    right = words_as_specified(text, html) and struck == re.findall("<del>(.*?)</del>", html)
    assert right is (number not in GFM_ON_PURPOSE)


@needs_suite
def test_all_extensions_are_there() -> None:
    assert sorted(gfm()) == sorted(GFM_NUMBERS)
