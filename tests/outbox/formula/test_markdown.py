"""Formulas in Markdown: found where they are, never taken for money, shells or code, and whole while the text grows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.view import Limits
from bot.outbox.marks import formulas
from bot.outbox.paging import open_page, pages
from bot.outbox.partial import repaired
from channels.telegram.entities import Renderer
from tests.outbox.formula.table import LINES
from tests.outbox.styled.corpus import styled

LIMITS = Limits(size=4096, unit="utf16", pace=1.0)
SMALL = Limits(size=200, unit="utf16", pace=1.0)
NO_FORMULAS = (
    "$5 and $10",
    "It costs $5 or $10, not more.",
    "costs $3.50–$4",
    "between $5-$10 or $5–10",
    "US$7, CA$9 and A$1",
    "$1,000/month (was $1,200)",
    "$5M–$10M, $3k, then $2bn",
    "**$5** or **$10**",
    "from $5 to 10$",
    "from $100 million to 200$",
    "5$ and 10$",
    "a $20 bill, (~$5) and ($7)",
    "$HOME and $PATH",
    "set $HOME or $PATH:$HOME in prose",
    "$HOME/$USER.",
    "${HOME}/${USER}",
    "$(date)$(time)",
    "cp $file $backup_dir/$(basename $file)",
    '$(cat "$file").$(date)',
    "$1 and $2, $@ and $#",
    "$a, $b = $c->$d",
    "$_GET['a'] and $_POST['b']",
    "the regex ^foo$ and ^bar$",
    "大约$5到$10。",
    "是$5，不是$10",
    "是$5，不是10$。",
    "花了$5到10$之间",
    "a $ b $ c",
    "$ x $",
    "only one $ here",
    "AT$T and $$$",
)
FOUND = (
    ("so $x^2$.", "so x²."),
    ("so \\(x^2\\).", "so x²."),
    ("so $$x^2$$.", "so x²."),
    ("so \\[x^2\\].", "so x²."),
    ("**bold $x_1$** and *a*", "bold x₁ and a"),
    ("$a_1 * b_1 * c$", "a₁ * b₁ * c"),
    ("其中$x^2$是", "其中x²是"),
    ("（$x^2$）", "（x²）"),
    ("$5x + 3$", "5x + 3"),
    ("$2^{10} = 1024$", "2¹⁰ = 1024"),
    ("it is $\\$5$ and $\\$6$", "it is $5 and $6"),
    ("$x$-axis, $n$th", "x-axis, $n$th"),
    ("- item $x^2$\n- $y_1$", "• item x²\n• y₁"),
    ("> $x^2$", "x²"),
    ("# About $x^2$", "About x²"),
    ("| $x^2$ | b |\n|---|---|\n| 1 | $y_1$ |", "x²  | b\n----+----\n1   | y₁"),
    ("$$\nx^2\n$$", "x²"),
    ("so\n$$\nx^2\n$$\nand", "so\nx²\nand"),
    ("\\[\nx^2,\n\\]\n\nand", "x²,\n\nand"),
    ("$$x^2$$.", "x²."),
    ("\\begin{align}\na &= b \\\\\n- c &= d\n\\end{align}", " a = b\n−c = d"),
    ("- so:\n  $$\n  x^2\n  $$\n- b", "• so:\n    x²\n• b"),
    ("1. a\n\n   \\[\n   = b\n   \\]", "1. a\n\n    = b"),
)


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_money_and_shells_are_not_formulas(text: str) -> None:
    page = styled(text)
    assert page.text == text.replace("**", "")
    assert not [span for span in page.spans if span.kind == "code"]


@pytest.mark.parametrize("text", ["`$x^2$`", "``a $x$``", "```\n$x^2$\n```", "    $x^2$", "`\\(x^2\\)`", "\\$x^2\\$"])
def test_code_and_escaped_dollars_are_left_alone(text: str) -> None:
    assert styled(text).text == text.strip("` \n").replace("\\$", "$")


@pytest.mark.parametrize(("markdown", "text"), FOUND)
def test_formulas_are_found_and_read(markdown: str, text: str) -> None:
    assert styled(markdown).text == text


@pytest.mark.parametrize("source", ["$\\no{x}$", "\\(a & b\\)", "\\( open and close \\)", "\\( and \\)"])
def test_what_cannot_be_read_is_shown_as_its_source(source: str) -> None:
    page = styled(f"so {source}!")
    assert page.text == f"so {source}!"
    assert [page.text[span.start : span.end] for span in page.spans if span.kind == "code"] == [source]


def test_a_matrix_is_lines_of_code() -> None:
    page = styled("so\n\n$$A = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$\n\nand")
    assert page.text == "so\n\nA = ⎛1  2⎞\n    ⎝3  4⎠\n\nand"
    assert [page.text[span.start : span.end] for span in page.spans] == ["A = ⎛1  2⎞\n    ⎝3  4⎠"]


ANSWER = """\
Let $x = 2$ and $2x + 1 = 5$ cost $5 or $10, in \\(\\mathbb{R}\\).

- first $\\frac{a}{b}$, then `$code$`
- 因此$y_1$是

$$
\\begin{aligned}
- a &= b \\\\
* c &= d
\\end{aligned}
$$

\\[ x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}. \\]

\\begin{align}
x &= 1 \\\\
1. &= y
\\end{align}

Done: $\\$5$, $HOME.
"""


def _shown(text: str) -> list[str]:
    renderer = Renderer()
    return [open_page(text[:end], LIMITS, renderer.render, growing=True).rendered.text for end in range(1, len(text))]


@pytest.mark.parametrize(
    "text", [ANSWER, *(f"so ${source}$ or \\({source}\\) $$\n{source}\n$$\n" for source, _ in LINES[::7])]
)
def test_what_was_shown_stays_while_a_formula_grows(text: str) -> None:
    back = [(one, two) for one, two in pairwise(_shown(text)) if not two.startswith(one.rstrip(" \n"))]
    assert back == []


def test_half_a_formula_is_never_seen() -> None:
    for shown in _shown(ANSWER):
        assert not any(mark in shown for mark in ("\\", "frac", "begin", "aligned", "$x", "$2", "$$"))


@pytest.mark.parametrize(
    ("half", "look"),
    [
        ("so $x", "so "),
        ("so $x$", "so "),
        ("so $x$ ", "so $x$ "),
        ("so $5", "so "),
        ("so $5 ", "so "),
        ("so $5 a", "so $5 a"),
        ("so $5M", "so $5M"),
        ("so $5/", "so $5/"),
        ("so $2^", "so "),
        ("so $2x", "so "),
        ("so $HOME/bin and so on and so on and so on and on", "so $HOME/bin and so on and so on and so on and on"),
        ("so $3 + 2", "so "),
        ("so $3 + tax", "so $3 + tax"),
        ("so\n\n$$\na = b\n- c", "so\n\n"),
        ("so\n\n$$\n- a\n$$\n\nand **b", "so\n\n$$\n- a\n$$\n\nand **b**"),
        ("so\n\n\\begin{al", "so\n\n"),
        ("so\n\n\\begin{align}\n1. x", "so\n\n"),
        ("- $$\n  x", ""),
    ],
)
def test_the_end_is_held_back(half: str, look: str) -> None:
    assert repaired(half) == look


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([one for one, _ in LINES if len(one) < 90]), st.integers(0, 60)), min_size=3))
def test_no_page_ends_inside_a_formula(parts: list[tuple[str, int]]) -> None:
    text = "".join(f"{'word. ' * (size // 6)}\\({source}\\) and $${source}$$ so\n" for source, size in parts)
    inside = list(formulas(text, 0, len(text)))
    assert len(inside) == 2 * len(parts)
    for page in pages(text, SMALL, Renderer().render):
        assert page.rendered.length <= SMALL.size
        assert not [one for one in inside if one[0] < page.end < one[1]]
