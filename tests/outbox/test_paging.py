from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from bot.core.view import Limits, Rendered
from bot.outbox.graphemes import Unit, length
from bot.outbox.paging import MIN_SIZE, Page, Render, open_page, pages
from tests.outbox.renders import escaping, identity, shortening


def paged(text: str, size: int, unit: Unit = "utf16", render: Render | None = None) -> list[Page]:
    render = render or identity(unit)
    found = list(pages(text, Limits(size=size, unit=unit), render))
    assert "".join(text[page.start : page.end] for page in found) == text
    assert all(page.rendered.length <= size for page in found)
    return found


def code_of(markdown: str) -> str:
    return "".join(token.content for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence")


def test_a_short_text_is_one_page() -> None:
    (page,) = paged("Hello.\n", 2000)
    assert (page.markdown, page.last, page.start, page.end) == ("Hello.", True, 0, 7)


def test_nothing_is_one_blank_page() -> None:
    assert [page.markdown for page in paged("\n \n", 2000)] == [""]
    assert [page.markdown for page in paged("```py\n", 2000)] == [""]


@pytest.mark.parametrize("size", [0, -5, 1, MIN_SIZE - 1])
def test_b027_a_size_below_the_minimum_is_refused_at_once(size: int) -> None:
    with pytest.raises(ValueError, match="too small"):
        open_page("hello 🎩", Limits(size=size, unit="utf16"), identity("utf16"))


def test_b018_pages_are_measured_after_rendering() -> None:
    text = "\n".join("a < b & c > d **bold**" for _ in range(180))
    found = paged(text, 4096, render=escaping("utf16"))
    assert len(found) > 1
    assert "\n".join(page.markdown for page in found) == text


def test_b025_every_page_of_a_long_code_block_opens_and_closes_it() -> None:
    body = "".join(f"line_{number} = {number}\n" for number in range(300))
    found = paged(f"```py\n{body}```", 2000)
    assert len(found) > 2
    for page in found:
        assert page.markdown.startswith("```py\n") and page.markdown.endswith("\n```")
        assert page.markdown.count("```") == 2
    assert "".join(code_of(page.markdown) for page in found) == body


@pytest.mark.parametrize("extra", range(-8, 9))
@pytest.mark.parametrize("after", ["", "\n", "\n\nThat is all."])
def test_b023_no_page_holds_only_fence_markers(extra: int, after: str) -> None:
    size = 2000
    lines = "x" * 49 + "\n"
    body = lines * ((size - 10) // 50)
    body += "y" * (size - 10 - len(body) + extra) + "\n"
    for page in paged(f"```py\n{body}```{after}", size):
        assert re.sub(r"(?m)^```\w*$", "", page.markdown).strip()


def test_b029_no_page_ends_inside_an_emoji() -> None:
    text = "a" * 4090 + "🎩" * 4 + " tail"
    first, second = paged(text, 4096)
    assert first.markdown.encode() + second.markdown.encode() == text.encode()
    assert first.rendered.length > 4000


@pytest.mark.parametrize("unit", ["chars", "utf16", "bytes"])
def test_no_page_ends_inside_a_family_or_a_flag(unit: Unit) -> None:
    for text in ("👨‍👩‍👧" * 400, "🇳🇴" * 900, "e\u0301" * 900):
        whole = text[:8] if text.startswith("👨") else text[:2]
        whole = "👨‍👩‍👧" if text.startswith("👨") else whole
        for page in paged(text, 500, unit):
            assert page.markdown.replace(whole, "") == ""


def test_characters_of_many_marks_stay_whole() -> None:
    letter = "e" + "\u0301" * 100
    for page in paged(letter * 50, 500):
        assert page.markdown.replace(letter, "") == ""
    family = "👨‍👩‍👧"
    for lead in range(480, 500):
        found = paged("x" * lead + family + "> " + "y" * 300, 500)
        assert sum(family in page.markdown for page in found) == 1


def test_pages_end_between_paragraphs_rather_than_lines_rather_than_sentences() -> None:
    paragraph = "One sentence here. Another one there.\nA second line of it."
    found = paged("\n\n".join([paragraph] * 30), 500)
    assert all(page.markdown.endswith("A second line of it.") for page in found)
    found = paged("\n".join(["word " * 12 + "end."] * 30), 500)
    assert all(page.markdown.endswith("end.") for page in found)
    found = paged("This is a sentence of some words. " * 60, 500)
    assert all(page.markdown.endswith("words.") for page in found)
    found = paged("这是一个没有空格的句子。" * 90, 500)
    assert all(page.markdown.endswith("。") for page in found)
    found = paged("word " * 400, 500)
    assert all(page.markdown.endswith("word") for page in found)


def test_a_word_longer_than_a_page_is_cut() -> None:
    assert [len(page.markdown) for page in paged("x" * 1200, 500)] == [500, 500, 200]


def test_a_fence_line_longer_than_a_page_is_cut_and_nothing_is_lost() -> None:
    found = paged("```" + "i" * 1500 + "\ncode\n```\nafter", 500)
    assert "code" in found[-1].markdown
    paged("`" * 1500 + "\ncode\n" + "`" * 1500, 500)


def test_lists_part_between_items_and_keep_their_depth() -> None:
    items = "".join(
        f"- item {number} with some words\n    - below it\n      and its second line\n" for number in range(40)
    )
    for page in paged(items, 500):
        assert re.match(r" {0,3}- ", page.markdown)
        depths = [len(line) - len(line.lstrip()) for line in page.markdown.split("\n")]
        assert depths[0] == 0


def test_tables_part_between_rows_and_keep_their_head() -> None:
    head = "| name | value |\n|:-----|------:|\n"
    table = head + "".join(f"| row {number} | {number * number} |\n" for number in range(80))
    found = paged(f"Here it is:\n\n{table}\nThat was it.", 500)
    assert len(found) > 3
    for page in found[1:-1]:
        assert page.markdown.startswith(head)
        assert all(line.startswith("|") and line.endswith("|") for line in page.markdown.split("\n"))


@pytest.mark.parametrize("lead", range(380, 470, 6))
def test_the_head_of_a_table_is_never_parted_from_its_first_row(lead: int) -> None:
    head = "| name | value |\n|:-----|------:|\n"
    text = "x" * lead + "\n" + head + "| row | 1 |\n" * 30
    for page in paged(text, 500):
        lines = page.markdown.split("\n")
        assert "|:---" not in lines[-1] and "name" not in lines[-1] and "|:---" not in lines[0]


@pytest.mark.parametrize("sign", ["- ", "> ", "# ", "1. ", "* ", "``` "])
def test_no_page_begins_with_a_sign_that_was_none(sign: str) -> None:
    text = f"some words {sign}more " * 60
    for page in paged(text, 500):
        assert not page.markdown.startswith(sign)


def test_space_that_nobody_sees_does_not_fill_pages() -> None:
    (page,) = paged("word" + " " * 900 + "\n" + " " * 900 + "word", 500)
    assert len(page.markdown) < 200
    assert [page.markdown for page in paged("\n" * 600 + "x" * 600, 500)] == ["x" * 500, "x" * 100]


def test_a_page_is_measured_where_it_really_ends() -> None:
    """A shorter page may render to more: this rendering hides comments, but only closed ones."""

    def render(markdown: str) -> Rendered:
        return identity("chars")(re.sub(r"(?s)<!--.*?-->", "", markdown))

    text = "word " * 30 + "<!-- " + "hidden " * 50 + "\n" + "hidden " * 30 + "-->" + "x" * 200
    found = paged(text, 200, "chars", render)
    assert all(page.rendered.length <= 200 for page in found)


def test_no_page_ends_with_a_heading() -> None:
    text = "".join(f"## Part {number}\n\n{'Some words go here. ' * 12}\n\n" for number in range(8))
    assert not any(page.markdown.rsplit("\n", 1)[-1].startswith("#") for page in paged(text, 520))


def test_b045_code_stays_untouched_where_emphasis_goes_over_a_boundary() -> None:
    code = "".join(f"value_{number} = a_{number} * _b_\n" for number in range(20))
    text = "_" + "reasoning goes on and on " * 50 + f"\n\n```py\n{code}```\n\n" + "and further on " * 60 + "_"
    found = paged(text, 2000)
    assert "".join(code_of(page.markdown) for page in found) == code
    assert not any(re.search(r"```\w*\n_\n|\n_\n```", page.markdown) for page in found)


def test_inline_markup_is_not_parted_where_a_sentence_ends_nearby() -> None:
    text = (
        "Plain words stand here. " * 18
        + "**Bold words. More of them. And [a link. Or two](https://x.example/a)**. "
        + "End. " * 90
    )
    for page in paged(text, 500):
        assert page.markdown.count("**") % 2 == 0
        assert page.markdown.count("[") == page.markdown.count("](")


def test_markers_inside_code_do_not_close_it() -> None:
    body = 'def f():\n    """\n        ```\n    """\n' + "    x = 1\n" * 60 + "~~~\n" + "    y = 2\n" * 60
    found = paged(f"```py\n{body}```", 500)
    assert "".join(code_of(page.markdown) for page in found) == body


@pytest.mark.parametrize("prefix", ["   ", "> ", "     ", "10. "])
def test_code_in_lists_and_quotations_is_reopened_where_it_stands(prefix: str) -> None:
    inner = re.sub(r"[^>]", " ", prefix) if ">" not in prefix else prefix
    lead = "" if prefix in ("> ", "10. ") else "1. first\n"
    body = [f"row {number}" for number in range(120)]
    text = f"{lead}{prefix}```js\n" + "".join(f"{inner}{row}\n" for row in body) + f"{inner}```\n\nThe end."
    found = paged(text, 500)
    assert len(found) > 2
    assert "".join(code_of(page.markdown) for page in found).split("\n")[:-1] == body
    assert found[-1].markdown.endswith("The end.")


def test_b028_a_code_block_open_at_the_limit_goes_on_in_the_next_message() -> None:
    text = "Words. " * 1600 + "\n\n```py\n" + "x = 1\n" * 300
    found = paged(text, 12_000, "chars")
    assert len(found) == 2
    assert found[1].markdown.startswith("```py\n") and found[1].markdown.endswith("```")


def test_a_page_that_would_render_to_nothing_is_shown_as_written() -> None:
    def hiding(markdown: str) -> Rendered:
        return identity("chars")(re.sub(r"(?m)^\[\d+\]: .*$", "", markdown))

    links = "".join(f"[{number}]: https://x.example/{number}\n" for number in range(60))
    found = paged("Text.\n\n" + links, 500, "chars", hiding)
    assert all(page.rendered.text.strip() for page in found)


def test_hidden_link_targets_make_room_for_more_text() -> None:
    text = "See [the page](https://x.example/" + "a" * 80 + ") and so on.\n" * 1
    found = paged(text * 60, 500, render=shortening("utf16"))
    assert all(page.rendered.length > 250 for page in found[:-1])
    assert max(len(page.markdown) for page in found) > 1000


def test_a_tail_takes_room_from_the_text_unless_it_is_long() -> None:
    limits, render = Limits(size=500), identity("chars")
    short, long = "status " * 8, "card " * 60
    page = open_page("word " * 80, limits, render, tail=short.strip())
    assert page.tailed and page.last and page.markdown.endswith(short.strip())
    page = open_page("word " * 95, limits, render, tail=short.strip())
    assert not page.last and page.end <= 500 - len(short)
    page = open_page("word " * 95, limits, render, tail=long.strip())
    assert page.last and not page.tailed
    page = open_page("word " * 120, limits, render, tail=long.strip())
    assert not page.last and page.end > 400


def test_an_open_fence_may_be_left_open_for_platforms_that_only_append() -> None:
    page = open_page("```py\nx = 1\n", Limits(size=500), identity("chars"), closed=False)
    assert page.markdown == "```py\nx = 1"
    assert open_page("```py\nx = 1\n", Limits(size=500), identity("chars")).markdown == "```py\nx = 1\n```"


def test_the_open_page_alone_is_rendered() -> None:
    text = "Some words make a sentence. " * 4000
    rendered = 0

    def counting(markdown: str) -> Rendered:
        nonlocal rendered
        rendered += len(markdown)
        return identity("chars")(markdown)

    sealed: list[int] = []
    for end in range(2000, len(text), 400):
        page = open_page(text[:end], Limits(size=2000), counting, sealed)
        if not page.last:
            sealed.append(page.end)
    assert rendered < len(text) * 12
    assert len(sealed) > 50
    assert length(text[: sealed[0]], "chars") <= 2000
