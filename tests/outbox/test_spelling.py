"""Markdown with formulas spelled out: readable, still the same Markdown around them, and only ever continued."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.outbox.spelling import spelled, unfinished
from tests.outbox.formula.table import LINES
from tests.outbox.formula.test_markdown import ANSWER, NO_FORMULAS
from tests.outbox.styled.corpus import PIECES

OWN = st.sampled_from(
    [
        *("$x$", "$x^2$ ", "$$", "$", "\\(", "\\)", "\\[", "\\]", "\\frac{a}{b}", "^2", "\n$$\n", "\n\\begin{align}\n"),
        *(
            "a &= b",
            "\n\\end{align}\n",
            "\\begin{pmatrix}1\\\\2\\end{pmatrix}",
            "$5 ",
            "word ",
            "\n",
            "\n\n",
            "- ",
            "> ",
            "`",
        ),
        *("```\n", "\\", "$\\no$"),
    ]
)


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("so $x^2$, **b**", "so x², **b**"),
        ("so $x_C * y$", "so x\\_C \\* y"),
        ("$x^2$", "x²"),
        ("`$x^2$` and ```$y$```", "`$x^2$` and ```$y$```"),
        ("```\n$x^2$\n```", "```\n$x^2$\n```"),
        ("\\$5 and \\$6", "\\$5 and \\$6"),
        ("so $\\no$", "so `$\\no$`"),
        ("- so\n  $$\n  x^2\n  $$\n- b", "- so\n  x²\n- b"),
        ("$$= b$$\n", "\\= b\n"),
        ("$$1. x$$\n", "1\\. x\n"),
        (
            "> $$\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}$$\n> b",
            "> ```\n> ⎛1⎞\n> ⎝2⎠\n> ```\n> b",
        ),
        ("so $$\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}$$ is", "so (1; 2) is"),
        ("$$\n\\no\n$$\n\nb", "```\n$$\n\\no\n$$\n```\n\nb"),
    ],
)
def test_formulas_are_spelled_out(markdown: str, said: str) -> None:
    assert spelled(markdown) == said


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_what_is_no_formula_stays(text: str) -> None:
    assert spelled(text) == text


def _goes_on(text: str) -> None:
    whole = spelled(text)
    for end in range(len(text)):
        begun = text[: unfinished(text[:end])]
        assert whole.startswith(spelled(begun)), (text[:end], whole)


@pytest.mark.parametrize("text", [ANSWER, *(f"a $5 ${source}$ b\n$${source}$$\nc" for source, _ in LINES[::9])])
def test_what_was_said_is_only_continued(text: str) -> None:
    _goes_on(text)


@settings(max_examples=400, deadline=None)
@given(st.lists(OWN, max_size=12).map("".join).filter(lambda text: "`" not in text))
def test_any_text_is_only_continued(text: str) -> None:
    """Where backticks end what was said, see tests/channels/slack/test_growth.py."""
    _goes_on(text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(OWN, PIECES), max_size=25).map("".join))
def test_any_text_can_be_spelled(text: str) -> None:
    spelled(text)
    assert 0 <= unfinished(text) <= len(text)
