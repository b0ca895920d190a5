"""Formulas on the page: MathML that a browser sets, with the source beside it, and no way to smuggle markup in."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.async_api import Browser, expect

from bot.outbox.formula.layout import inline
from channels.web.formula import mathml
from channels.web.render import blocks
from tests.channels.web.browser import visiting
from tests.channels.web.house import House, Turn
from tests.channels.web.scenes import write
from tests.outbox.formula.table import DISPLAYS, LINES, UNREADABLE
from tests.outbox.formula.test_formulas import FORMULAS, PIECES

CHILDREN = {
    "mfrac": 2,
    "msup": 2,
    "msub": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
    "mroot": 2,
}
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"),
    *CHILDREN,
}
"""What every browser with MathML Core sets."""
ATTRIBUTES = {
    *("display", "alttext", "stretchy", "fence", "largeop", "accent", "accentunder", "width", "linethickness"),
    *("mathvariant", "class"),
}

SHOWN = r"""Inline $x^2 + y_1$, then

$$
\begin{aligned}
f(x) &= \frac{a+b}{\sqrt{c}} \\
     &= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \boxed{7} \cancel{8}
\end{aligned}
$$

\[ \text{<b>bold</b>} \]

and \(\no{such}\) for $5 or $10."""


def html(markdown: str) -> str:
    return "".join(blocks(markdown))


def check(drawn: str, source: str) -> None:
    root = ElementTree.fromstring(drawn)
    assert root.get("alttext") == " ".join(source.split("\n"))
    for element in root.iter():
        assert element.tag in TAGS
        assert set(element.attrib) <= ATTRIBUTES
        assert len(element) == CHILDREN.get(element.tag, len(element))
        assert not len(element) or not (element.text or "").strip()


@pytest.mark.parametrize("source", [source for source, _ in (*LINES, *DISPLAYS)])
@pytest.mark.parametrize("display", [False, True])
def test_every_formula_that_a_chat_can_read_is_set(source: str, display: bool) -> None:
    drawn = mathml(source, display=display)
    assert drawn is not None
    check(drawn, source)


@pytest.mark.parametrize("source", UNREADABLE)
def test_what_is_not_understood_is_shown_as_it_is(source: str) -> None:
    assert mathml(source, display=False) is None


def test_the_source_of_what_is_not_understood_is_code() -> None:
    assert html("so $\\no{x<y}$") == '<p>so <code class="math">$\\no{x&lt;y}$</code></p>'


@settings(max_examples=300, deadline=None)
@given(st.one_of(FORMULAS, st.lists(PIECES, max_size=40).map("".join)), st.booleans())
def test_any_text_is_sound_mathml_or_none(source: str, display: bool) -> None:
    drawn = mathml(source, display=display)
    assert (drawn is None) == (inline(source) is None)
    if drawn is not None and "\x00" not in drawn:
        check(drawn, source)


def test_a_formula_cannot_carry_markup() -> None:
    drawn = html('$\\text{<img src=x onerror=alert(1)> "}$')
    said = "&lt;img src=x onerror=alert(1)&gt; &quot;"
    assert drawn == f'<p><math alttext="\\text{{{said}}}"><mrow><mtext>{said}</mtext></mrow></math></p>'
    assert "<script" not in html("$\\unknown<script>alert(1)</script>$")


def test_a_word_keeps_the_space_around_it() -> None:
    assert "<mtext>\u00a0if\u00a0</mtext>" in html("$x\\text{ if }y$")


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="module")
async def test_chromium_sets_formulas(browser: Browser) -> None:
    async def script(turn: Turn) -> None:
        await turn.stream(SHOWN, size=7)
        await turn.end()

    house = House(script=script)
    async with house.open(), visiting(browser, house) as page:
        await write(page, "Formulas")
        await expect(page.locator(".turn.live")).to_have_count(0)
        maths = page.locator(".answer math")
        await expect(maths).to_have_count(3)
        assert await maths.first.get_attribute("alttext") == "x^2 + y_1"
        boxes = await page.locator(".answer math[display=block]").evaluate_all(
            "all => all.map((one) => [one.namespaceURI, getComputedStyle(one).display, one.getBoundingClientRect().height])"
        )
        assert [box[:2] for box in boxes] == [["http://www.w3.org/1998/Math/MathML", "block math"]] * 2
        bar = await page.locator("mfrac").evaluate(
            "one => one.children[0].getBoundingClientRect().bottom <= one.children[1].getBoundingClientRect().top"
        )
        assert bar and boxes[0][2] > 2.5 * boxes[1][2]
        columns = await page.locator("mtable.aligned > mtr").evaluate_all(
            "all => all.map((row) => Math.round(row.children[1].getBoundingClientRect().left))"
        )
        assert columns[0] == columns[1]
        meets = await page.locator("mtable.aligned > mtr:first-child").evaluate(
            "one => one.children[1].getBoundingClientRect().left - one.children[0].firstChild.getBoundingClientRect().right"
        )
        assert abs(meets) < 2
        await expect(page.locator(".answer b")).to_have_count(0)
        await expect(page.locator("code.math")).to_have_text("\\(\\no{such}\\)")
        await expect(page.locator(".answer")).to_contain_text("for $5 or $10.")
