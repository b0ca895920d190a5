"""Formulas read as a person would type them; nothing of them is lost, and nothing hostile costs much."""

from __future__ import annotations

import subprocess
import sys
import time
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.outbox.formula.layout import Lines, display, inline
from bot.outbox.formula.letters import styled
from bot.outbox.formula.source import LONGEST_CHARS
from tests.outbox.formula.table import DISPLAYS, LINES, UNREADABLE

WIDEST = 40
HOSTILE = (
    *("{" * 24 + "x" + "}" * 24, r"\frac" * 400, r"\hat " * 400, "x^" * 1000, "a_1" * 600, r"\left(" * 300),
    *("&" * 2000, r"\\" * 1000, "$" * 2000, "a $b" * 500, r"\text{a}" * 280, "(" * 2000, "'" * 2000, "%" * 2000),
    *("(" * 1000 + ")" * 1000, "1," * 1000, "a b " * 500, "word " * 400, "[[[" * 600, r"\sqrt[" * 300, "\\" * 2000),
    *(r"\begin{aligned}" * 20 + "x" + r"\end{aligned}" * 20, r"\begin{matrix}" + "a&" * 900 + r"\end{matrix}"),
    *(r"\begin{matrix}" + r"a\\" * 600 + r"\end{matrix}", r"\begin{array}{" + "c" * 1500 + "}a" + r"\end{array}"),
    *(r"\frac{1}{" * 24 + "x" + "}" * 24, r"\begin{pmatrix}a\\b" * 20 + r"\end{pmatrix}" * 20, r"\over " * 300),
    *(r"\ce{" + "H2" * 900 + "}", r"\not" * 500, "{,}" * 600, r"\left(\frac{1}{" * 20 + "x" + r"}\right)" * 20),
)
PIECES = st.sampled_from(
    [
        *(r"\frac", r"\sqrt", r"\left", r"\right", r"\begin{aligned}", r"\end{aligned}", r"\begin{array}{cc}"),
        *(r"\end{array}", r"\begin{cases}", r"\end{cases}", "{", "}", "[", "]", "(", ")", "^", "_", "'", "&", r"\\"),
        *(r"\hline", r"\text", r"\text{a $x$ b}", r"\mathbf", r"\mathrm", r"\hat", r"\vec", r"\underbrace", r"\binom"),
        *(r"\overset", r"\xrightarrow", r"\not", r"\pmod", r"\operatorname", r"\operatorname*", r"\ce", r"\tag"),
        *(r"\substack", r"\textcolor", r"\alpha", r"\sum", r"\lim", r"\to", r"\pm", "a", "d", "1", "23", "+", "-", "="),
        *(
            "|",
            r"\|",
            r"\{",
            ",",
            ".",
            ":",
            "!",
            "%",
            "~",
            "$",
            r"\$",
            r"\,",
            r"\quad",
            "中",
            "\n",
            " ",
            "é",
            "😀",
            "#",
        ),
        *(
            r"\over",
            r"\choose",
            r"\big",
            r"\limits",
            r"\label{x}",
            "/",
            r"\ ",
            '"',
            "`",
            "\x00",
            "\u202e",
            r"\rm",
            "\\",
        ),
    ]
)
LETTER = st.sampled_from("abdnxyABMN")
DIGIT = st.sampled_from(["1", "7", "42", "3.5"])


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    one = inner.map(lambda text: f"{{{text}}}")
    return st.one_of(
        st.tuples(inner, inner).map(" ".join),
        st.tuples(inner, st.sampled_from(["+", "-", "=", r"\times ", r"\le ", ","]), inner).map("".join),
        st.tuples(st.sampled_from([r"\frac", r"\binom"]), one, one).map("".join),
        st.tuples(st.sampled_from([r"\sqrt", r"\mathbf", r"\hat", r"\overline", r"\boxed", r"\mathrm"]), one).map(
            "".join
        ),
        st.tuples(LETTER, st.sampled_from("^_"), one).map("".join),
        st.tuples(LETTER, one, one).map(lambda three: "{}_{}^{}".format(*three)),
        st.tuples(st.just(r"\sum_"), one, st.just("^"), one).map("".join),
        inner.map(lambda text: rf"\left( {text} \right]"),
        st.tuples(inner, inner).map(lambda two: r"\begin{pmatrix}" + " & ".join(two) + r" \\ 1 & 0\end{pmatrix}"),
        st.tuples(inner, inner).map(lambda two: r"\begin{cases}" + r" \\ ".join(two) + r"\end{cases}"),
        st.sampled_from([r"\text{if x1}", r"\text{kg}"]),
    )


FORMULAS = st.recursive(st.one_of(LETTER, DIGIT), _composed, max_leaves=12)


@pytest.mark.parametrize(("source", "line"), LINES)
def test_a_formula_reads_as_one_would_type_it(source: str, line: str) -> None:
    assert inline(source) == line


@pytest.mark.parametrize(("source", "lines"), DISPLAYS)
def test_a_formula_that_stands_alone_has_as_many_lines_as_it_needs(source: str, lines: tuple[str, ...]) -> None:
    found = display(source, WIDEST)
    assert found is not None and found.text == lines


@pytest.mark.parametrize("source", UNREADABLE)
def test_what_is_not_understood_is_not_guessed(source: str) -> None:
    assert inline(source) is None
    assert display(source, WIDEST) is None


def test_equations_too_wide_for_a_phone_are_lines_of_text() -> None:
    wide = r"\begin{align} f(x) &= a + b + c + d + e \\ &= h + i + j + k + l + m \end{align}"
    aligned = ("f(x) = a + b + c + d + e", "     = h + i + j + k + l + m")
    assert display(wide, WIDEST) == Lines(aligned, columns=True)
    assert display(wide, 20) == Lines(tuple(line.strip() for line in aligned), columns=False)


def _content(text: str) -> Counter[str]:
    """Letters and digits, whatever alphabet and size they have."""
    return Counter(char for char in unicodedata.normalize("NFKD", text) if char.isalnum())


def _written(source: str) -> Counter[str]:
    commands = ("frac", "binom", "sqrt", "mathbf", "hat", "overline", "boxed", "mathrm", "sum", "left", "right", "text")
    for word in ("begin{pmatrix}", "end{pmatrix}", "begin{cases}", "end{cases}", "times", "le ", *commands):
        source = source.replace("\\" + word, " ")
    return _content(source)


@settings(max_examples=400, deadline=None)
@given(FORMULAS)
def test_no_letter_and_no_digit_is_lost(source: str) -> None:
    line, lines = inline(source), display(source, WIDEST)
    assert (line is None) == (lines is None)
    if line is not None and lines is not None:
        assert not _written(source) - _content(line), line
        assert not _written(source) - _content("\n".join(lines.text)), lines


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=100)))
def test_any_text_is_a_formula_or_none(source: str) -> None:
    lines = display(source, WIDEST)
    assert (inline(source) is None) == (lines is None)
    assert lines is None or all("\n" not in line for line in lines.text)


@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_formulas_cost_little(source: str) -> None:
    inline("x")
    began = time.thread_time()
    display(source[:LONGEST_CHARS], WIDEST)
    inline(source[:LONGEST_CHARS])
    assert time.thread_time() - began < 1


def test_letters_of_every_alphabet_are_found() -> None:
    assert [styled(char, "DOUBLE-STRUCK") for char in "RQx1"] == ["ℝ", "ℚ", "𝕩", "𝟙"]
    assert [styled(char, "SCRIPT") for char in "LBe"] == ["ℒ", "ℬ", "ℯ"]
    assert [styled(char, "FRAKTUR") for char in "gHZ"] == ["𝔤", "ℌ", "ℨ"]
    assert [styled(char, "BOLD") for char in "xβ0中"] == ["𝐱", "𝛃", "𝟎", "中"]


def test_the_library_is_loaded_with_the_first_formula_only() -> None:
    program = (
        "import sys; from channels.telegram.entities import Renderer; import channels.web.render\n"
        "renderer = Renderer(); renderer.render('no $5 **formula**'); print('pylatexenc' in sys.modules)\n"
        "renderer.render('a $x^2$ formula'); print('pylatexenc' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]
