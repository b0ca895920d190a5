"""What holds for any text whatever: pages are legal, complete, and never move once they are sealed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.view import Limits
from bot.outbox.graphemes import Unit, length
from bot.outbox.paging import MIN_SIZE, open_page, pages
from tests.answers import needs_answers, real_answers
from tests.outbox.renders import ALL, UNITS, Renders

PIECES = st.sampled_from(
    [
        *(
            "word ",
            "a",
            "\n",
            "\n\n",
            "```py\n",
            "```\n",
            "```",
            "~~~\n",
            "````\n",
            "- item\n",
            "    - below\n",
            "1. one\n",
        ),
        *(
            "| a | b |\n",
            "|---|---|\n",
            "**bold** ",
            "`x` ",
            "`",
            "[l](https://x.example/long/long/long)",
            "> said\n",
            "> ```\n",
        ),
        *(
            "# Head\n",
            "   ```js\n",
            "   ```\n",
            "👨‍👩‍👧",
            "🇳🇴🇸🇪",
            "e\u0301",
            "。中文",
            "<&*_>",
            "\ud83d",
            "\r\n",
            "x" * 90,
        ),
        *("." * 40, "\n" * 60, " " * 9, "```" + "i" * 60 + "\n", "\t", "<!-- ", " -->"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=400))
SIZES = st.integers(MIN_SIZE, 400)
UNIT = st.sampled_from(UNITS)
RENDERS = st.sampled_from(ALL)
MARKERS = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:`{3,}|~{3,})\w{0,8}$", re.MULTILINE)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES, UNIT, RENDERS)
def test_pages_are_within_the_limit_and_join_to_the_text(text: str, size: int, unit: Unit, renders: Renders) -> None:
    found = list(pages(text, Limits(size=size, unit=unit), renders(unit)))
    assert "".join(text[page.start : page.end] for page in found) == text
    assert [page.last for page in found] == [False] * (len(found) - 1) + [True]
    for page in found:
        assert page.rendered.length <= size
        assert page.rendered.length == length(page.rendered.text, unit)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(PIECES.filter(lambda piece: "````" not in piece and "iii" not in piece), max_size=60).map("".join), SIZES
)
def test_no_page_is_blank(text: str, size: int) -> None:
    found = list(pages(text, Limits(size=size), ALL[0]("chars")))
    for page in found if len(found) > 1 else []:
        fenced = "```py" in text.split(page.markdown)[0] or "~~~" in page.markdown  # backticks may be what stands there
        assert MARKERS.sub("", page.markdown).strip() or fenced, page


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=60), SIZES, UNIT, RENDERS)
def test_sealed_pages_stay_while_the_text_grows(deltas: list[str], size: int, unit: Unit, renders: Renders) -> None:
    text, limits, render = "", Limits(size=size, unit=unit), renders(unit)
    sealed: list[int] = []
    shown: list[str] = []
    for delta in deltas:
        text += delta
        while not (page := open_page(text, limits, render, sealed)).last:
            assert page.start == (sealed[-1] if sealed else 0) < page.end < len(text)
            sealed.append(page.end)
            shown.append(page.markdown)
    again = list(pages(text, limits, render, sealed))
    assert again[0].start == (sealed[-1] if sealed else 0)
    assert len(again) == 1


@settings(max_examples=150, deadline=None)
@given(TEXTS, SIZES, UNIT, RENDERS, st.text(max_size=300))
def test_a_tail_never_breaks_the_limit(text: str, size: int, unit: Unit, renders: Renders, tail: str) -> None:
    limits, render = Limits(size=size, unit=unit), renders(unit)
    sealed: list[int] = []
    while True:
        page = open_page(text, limits, render, sealed, tail)
        assert page.rendered.length <= size
        if page.last:
            break
        sealed.append(page.end)
    assert not page.tailed or page.markdown.endswith(tail)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_an_unclosed_page_only_grows_with_its_code(deltas: list[str]) -> None:
    """What a platform that only appends is given: the same page without the closing markers of its last fence."""
    text = "```py\n" + "".join(deltas).replace("`", "").replace("~", "")
    limits, render = Limits(size=100_000), ALL[0]("chars")
    before = ""
    for end in range(len("```py\n"), len(text) + 1):
        markdown = open_page(text[:end], limits, render, closed=False).markdown
        assert markdown.startswith(before)
        before = markdown


@needs_answers
@pytest.mark.parametrize("size", [500, 2000, 4096])
def test_real_answers_page_legally_at_every_length(size: int) -> None:
    for text in real_answers():
        for renders in ALL:
            limits, render = Limits(size=size, unit="utf16"), renders("utf16")
            sealed: list[int] = []
            for end in range(0, len(text) + 97, 97):
                while not (page := open_page(text[:end], limits, render, sealed)).last:
                    sealed.append(page.end)
                    assert page.rendered.length <= size and MARKERS.sub("", page.markdown).strip()
                assert page.rendered.length <= size
