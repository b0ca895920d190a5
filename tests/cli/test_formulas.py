"""Formulas on the terminal: read as one would type them, laid out where they need lines, never mixed up with blocks."""

from __future__ import annotations

from textwrap import dedent

import pytest

from bot.cli.paint import Painter, ending, settled


def painted(text: str) -> list[str]:
    return [line for line in Painter(80, None).markdown(text) if line.strip()]


@pytest.mark.parametrize(
    ("markdown", "lines"),
    [
        ("so $x^2$ costs $5 or $10", ["so x² costs $5 or $10"]),
        ("so $\\no{x}$ and `$x^2$`", ["so $\\no{x}$ and $x^2$"]),
        ("- a\n- \\(\\frac{a+b}{c}\\)", ["• a", "• (a+b)/c"]),
        ("$$\nE = mc^2\n$$", ["E = mc²"]),
        ("$$A = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$$", ["A = ⎛1  2⎞", "    ⎝3  4⎠"]),
        ("\\[\n\\no\n- b\n\\]", ["\\[", "\\no", "- b", "\\]"]),
        ("$x^2$\x1b[2J", ["x²␛[2J"]),
    ],
)
def test_what_a_terminal_shows_of_formulas(markdown: str, lines: list[str]) -> None:
    assert dedent("\n".join(painted(markdown))).split("\n") == lines


def test_a_formula_is_one_block_whatever_its_lines_begin_with() -> None:
    text = "so\n\n$$\na\n- b\n=\n# c\n$$\n\nend"
    assert settled(text) == text.index("end")
    assert settled(text[: text.index("end")]) == text.index("$$")
    assert ending(text, 2) == text
