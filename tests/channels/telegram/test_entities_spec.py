"""Every example of the CommonMark specification reads as its HTML does, but for what the house does on purpose."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from markdown_it import MarkdownIt

from channels.telegram.entities import Renderer
from tests.channels.telegram.reading import Reading, illegal, reference

SPEC: Final = Path(__file__).parents[3] / ".npm" / "node_modules" / "commonmark-spec" / "spec.txt"
EXAMPLE: Final = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)
ON_PURPOSE: Final = {
    12: "an escaped bracket that is closed by another is a formula",
    194: "a definition without an address is shown",
    203: "a definition without an address is shown",
    204: "a definition without an address is shown",
}

needs_spec = pytest.mark.skipif(
    not SPEC.exists(), reason="commonmark-spec is not installed: `make test` installs it into .npm"
)


@cache
def examples() -> list[tuple[str, str]]:
    """Markdown and HTML of each, in order; the first is number 1."""
    text = SPEC.read_text(encoding="utf-8").partition("<!-- END TESTS -->")[0]
    return [(found[1].replace("→", "\t"), found[2].replace("→", "\t")) for found in EXAMPLE.finditer(text)]


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
@pytest.mark.parametrize("number", range(1, 653))
def test_commonmark_example(number: int) -> None:
    markdown, html = examples()[number - 1]
    rendered = Renderer().render(markdown)
    assert not illegal(rendered)
    assert (squeezed(rendered.text) == squeezed(expected(markdown, html))) is (number not in ON_PURPOSE)


@needs_spec
def test_all_examples_are_there() -> None:
    assert len(examples()) == 652
