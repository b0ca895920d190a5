"""Markdown as Telegram shows it: every construct, and the cases in which others went wrong."""

from __future__ import annotations

import pytest

from bot.core.view import Limits, Rendered
from bot.outbox.paging import open_page, pages
from channels.telegram.entities import Renderer
from tests.channels.telegram.reading import illegal, spans

LIMITS = Limits(size=4096, unit="utf16", pace=1.0)


def render(markdown: str) -> Rendered:
    rendered = Renderer().render(markdown)
    assert not illegal(rendered)
    return rendered


def growing(markdown: str) -> Rendered:
    rendered = open_page(markdown, LIMITS, Renderer().render, growing=True).rendered
    assert not illegal(rendered)
    return rendered


@pytest.mark.parametrize(
    ("markdown", "text", "formatted"),
    [
        ("plain", "plain", []),
        ("**b** *i* _i_ ~~s~~ `c`", "b i i s c", ["bold b", "italic i", "italic i", "strikethrough s", "code c"]),
        ("***both***", "both", ["bold both", "italic both"]),
        ("||hidden *x*|| y", "hidden x y", ["spoiler hidden x", "italic x"]),
        ("# Head **b**\ntext", "Head b\n\ntext", ["bold Head b"]),
        ("text\n## Head", "text\n\nHead", ["bold Head"]),
        ("Head\n===\ntext", "Head\n\ntext", ["bold Head"]),
        ("# A `b` c", "A b c", ["bold A", "code b", "bold c"]),
        ("a\nb", "a\nb", []),
        ("for x in y:\n    a(x)\n\tb", "for x in y:\n    a(x)\n    b", []),
        ("- a\n  **b\n    c**", "• a\n    b\n      c", ["bold b\n      c"]),
        ("a  \nb\\\nc<br>d", "a\nb\nc\nd", []),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", []),
        ("- a\n- b", "• a\n• b", []),
        ("- a\n\n- b", "• a\n\n• b", []),
        ("- a\n\n  b", "• a\n\n    b", []),
        ("- a\nb", "• a\n    b", []),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c", []),
        ("3) a\n5) b", "3) a\n5) b", []),
        ("- - a", "• ◦ a", []),
        ("-\n- b", "•\n• b", []),
        ("- [ ] open\n- [x] done\n- [y] no", "☐ open\n☑ done\n• [y] no", []),
        ("1. [X] **done**", "1. ☑ done", ["bold done"]),
        ("> a\n> b", "a\nb", ["blockquote a\nb"]),
        ("> a\n> > b\n>\n> - c", "a\nb\n\n• c", ["blockquote a\nb\n\n• c"]),
        ("> `a`", "a", ["blockquote a", "code a"]),
        ("- a\n  > b", "• a\nb", ["blockquote b"]),
        ("> a\n\nb", "a\n\nb", ["blockquote a"]),
        ("```py\n  x = 1\n\n```", "  x = 1", ["pre   x = 1=py"]),
        ("```\n\na\n\tb\n```", "a\n    b", ["pre a\n    b"]),
        ("```\n```", "", []),
        ("    indented", "indented", ["pre indented"]),
        ("- a\n  ```sh\n  ls\n  ```\n- b", "• a\nls\n• b", ["pre ls=sh"]),
        ("- ```\n  x\n  ```", "•\nx", ["pre x"]),
        ("> ```\n> x\n> ```", "x", ["blockquote x", "pre x"]),
        ("**a `b` c**", "a b c", ["bold a", "code b", "bold c"]),
        ("[`a` b](https://x.example)", "a b", ["text_link a b=https://x.example"]),
        ("**[a](https://x.example)**", "a", ["text_link a=https://x.example", "bold a"]),
        ("[a **b**](https://x.example)", "a b", ["text_link a b=https://x.example", "bold b"]),
        ("![pic](https://x.example/p.png)", "pic", ["text_link pic=https://x.example/p.png"]),
        ("![](https://x.example/p.png)", "https://x.example/p.png", []),
        ("[![pic](https://x.example/p.png)](https://y.example)", "pic", ["text_link pic=https://y.example"]),
        ("<https://x.example> <a@x.example>", "https://x.example a@x.example", []),
        ("https://x.example/__init__.py_*a*", "https://x.example/__init__.py_*a*", []),
        ("**https://x.example/**", "https://x.example/", ["bold https://x.example/"]),
        ("[a][1]\n\n[1]: https://x.example", "a", ["text_link a=https://x.example"]),
        ("snake_case_name 2 * 3 * 4 a*b", "snake_case_name 2 * 3 * 4 a*b", []),
        ("<think>a</think> <b>x</b> &lt;", "<think>a</think> <b>x</b> <", []),
        ("<!-- note -->", "<!-- note -->", []),
        ("echo '<br>'", "echo '<br>'", []),
        ("x[^1]\n\n[^1]: Note", "x[^1]\n\n[^1]: Note", []),
        ("[Answer]: 42", "[Answer]: 42", []),
        ("so $x^2$ and \\(y_1\\)", "so x² and y₁", []),
        ("so $\\no{x}$", "so $\\no{x}$", ["code $\\no{x}$"]),
        ("\\[ a\n+ b \\]", "a + b", []),
        ("\\[ a\n\\no \\]", "\\[ a\n\\no \\]", ["pre \\[ a\n\\no \\]"]),
        (
            "$$\\binom{a}{b}$$\n\n$$(\\begin{matrix} 1 \\\\ 2 \\end{matrix})$$",
            "C(a, b)\n\n( 1 )\n  2",
            ["pre ( 1 )\n  2"],
        ),
        ("$5 and $6", "$5 and $6", []),
        ("**注意：**请", "注意：请", ["bold 注意："]),
        ("norm ||x|| + ||y||, a || b, ||||", "norm ||x|| + ||y||, a || b, ||||", []),
        ("a ||", "a ||", []),
        ("&#x202e;&#xd800;a\x01\u202eb&#10;", "\ufffdab", []),
        ("**a** **a**b **", "a ab **", ["bold a", "bold a"]),
        ("** a**", "** a**", []),
        ("\u2003\u2003a", "a", []),
    ],
)
def test_each_construct(markdown: str, text: str, formatted: list[str]) -> None:
    rendered = render(markdown)
    assert rendered.text == text
    assert [f"{kind} {inside}{'=' + value if value else ''}" for kind, inside, value in spans(rendered)] == formatted


def test_offsets_and_length_count_utf16_units() -> None:
    rendered = render("👋🏽 **жир👍** 中`x`")
    assert [(one.type, one.offset, one.length) for one in rendered.entities] == [("bold", 5, 5), ("code", 12, 1)]
    assert render("👋🏽 жир👍 中x").length == 13


def test_dense_formatting_counts_as_length_so_that_a_page_keeps_it() -> None:
    text = "**a** b " * 300
    assert render(text).length == 4096 * 300 // 100
    found = list(pages(text, LIMITS, Renderer().render))
    assert len(found) >= 3
    assert sum(len(page.rendered.entities) for page in found) == 300
    assert all(len(page.rendered.entities) <= 100 and not illegal(page.rendered) for page in found)


def test_a_narrow_table_stands_in_columns() -> None:
    rendered = render("| día | price |\n|:--|--:|\n| Mon | 5 |\n| 星期二 | **10** |")
    assert spans(rendered) == [("pre", "día    | price\n-------+------\nMon    |     5\n星期二 |    10", "")]


def test_a_wide_table_becomes_a_list_of_its_rows() -> None:
    rendered = render(
        f"| Name | Why | |\n|--|--|--|\n| Ann | {'long ' * 9}| |\n| Bob | *so*<br>yes | [x](https://x.example) |"
    )
    assert rendered.text == f"• Name: Ann\n  Why: {('long ' * 9).strip()}\n• Name: Bob\n  Why: so\n  yes\n  x"
    assert ("text_link", "x", "https://x.example") in spans(rendered)
    assert spans(rendered, "bold") == [("bold", "Ann", ""), ("bold", "Bob", "")]


def test_a_table_of_a_header_alone_is_shown() -> None:
    assert render("| a | b |\n|--|--|").text.split() == ["a", "|", "b", "----+----"]
    assert render(f"| {'a' * 30} | {'b' * 30} |\n|--|--|").text == f"• {'a' * 30}\n  {'b' * 30}"
    assert render("| | |\n|--|--|").text == ""


def test_rows_of_other_lengths_than_the_header_are_legal() -> None:
    assert render("| a | b |\n|--|--|\n| 1 |\n| 2 | 3 | 4 |\n> q").text == "a   | b\n----+----\n1   |\n2   | 3\nq"
    wide = render(f"| {'a' * 40} | b | c |\n|--|--|--|\n| 1 |\n| 2 | 3 |")
    assert wide.text == f"• {'a' * 40}: 1\n  c: –\n• {'a' * 40}: 2\n  b: 3"


def test_blocks_too_deep_for_the_parser_are_shown_as_written() -> None:
    text = ">" * 300 + " deep"
    assert render(text).text == text
    nested = "\n".join("  " * depth + f"- level{depth}" for depth in range(90))
    assert [word for word in render(nested).text.split() if word.startswith("level")] == [
        f"level{n}" for n in range(90)
    ]


@pytest.mark.parametrize("size", [9_000, 60_000, 1_000_000])
def test_huge_texts_are_measured_and_keep_their_words(size: int) -> None:
    text = "**word**\t" * (size // 9)
    rendered = Renderer().render(text)
    assert rendered.length > 4096
    assert rendered.text.count("word") == size // 9


@pytest.mark.parametrize("text", ["\ufeff", "\u200b\u2060", "\u2800 \u2800", "\u3164", "&#8203;", "> \u200b"])
def test_what_nobody_would_see_is_nothing(text: str) -> None:
    assert Renderer().render(text).text == ""
    assert Renderer().render(text + "\n\nHello.").text.endswith("Hello.")


def test_the_same_text_looks_the_same_whatever_was_rendered_before() -> None:
    used, text = (
        Renderer(),
        "# A\n\n[x]\n\n- b\n\n```py\nc\n```\n\n| d | e |\n|--|--|\n| f | g |\n\n[x]: https://x.example",
    )
    for end in range(len(text) + 1):
        assert used.render(text[:end]) == Renderer().render(text[:end])


def test_b018_no_part_grows_past_the_limit_by_rendering() -> None:
    text = "a < b & c > d **bold** words\n" * 136
    found = list(pages(text, LIMITS, Renderer().render))
    assert all(page.rendered.length <= 4096 for page in found)
    shown = "\n".join(page.rendered.text for page in found)
    assert shown.split() == text.replace("**", "").split()


def test_b023_no_part_holds_fence_markers_alone() -> None:
    for size in range(4060, 4100):
        for page in pages("```\n" + "x" * size + "\n```", LIMITS, Renderer().render):
            assert spans(page.rendered, "pre") and not illegal(page.rendered)


def test_b025_every_part_of_a_long_code_block_is_code_of_its_language() -> None:
    text = "```py\n" + "".join(f"    line_{number} = {number} * '**x**'\n" for number in range(300)) + "```"
    found = list(pages(text, LIMITS, Renderer().render))
    assert len(found) > 1
    for page in found:
        assert [(kind, value) for kind, _, value in spans(page.rendered)] == [("pre", "py")]
        assert not illegal(page.rendered)
    assert "\n".join(page.rendered.text for page in found).split() == text.strip("`").removeprefix("py").split()


def test_b027_a_page_size_without_room_raises_and_never_hangs() -> None:
    for size in (0, -5, 1):
        with pytest.raises(ValueError, match="too small"):
            next(pages("hello 🎩", Limits(size=size, unit="utf16"), Renderer().render))


def test_b029_no_emoji_is_cut_in_half() -> None:
    text = "a" * 4090 + "🎩" * 4 + " tail"
    found = list(pages(text, LIMITS, Renderer().render))
    assert all(len(page.rendered.text.encode("utf-16-le")) <= 2 * 4096 for page in found)
    assert "".join(page.rendered.text for page in found).replace(" ", "") == text.replace(" ", "")


def test_b033_a_preview_runs_in_the_direction_of_the_final_text() -> None:
    text = "שלום עולם:\n1) ראשון Latin words\n2) שני (https://x.example/a)\n\nסוף **מודגש** כאן"
    final = render(text)
    for end in range(8, len(text) - 1):
        assert final.text.startswith(growing(text[:end]).text.rstrip(" ·)"))
    assert not {"\u200e", "\u200f"} & set(final.text)


def test_b034_unbalanced_markup_is_text() -> None:
    assert render("translate this: ```\nuse *MarkdownV2 in parse_mode").text == (
        "translate this: ```\nuse *MarkdownV2 in parse_mode"
    )
    assert spans(render("translate this:\n```\nuse *MarkdownV2 in parse_mode")) == [
        ("pre", "use *MarkdownV2 in parse_mode", "")
    ]


def test_b036_addresses_with_brackets_and_spaces_arrive_whole() -> None:
    rendered = render(
        "**x** [Mercury](https://en.wikipedia.org/wiki/Mercury_(planet)) and [x](<https://e.example/a b>)."
    )
    assert rendered.text == "x Mercury and x."
    assert spans(rendered) == [
        ("bold", "x", ""),
        ("text_link", "Mercury", "https://en.wikipedia.org/wiki/Mercury_(planet)"),
        ("text_link", "x", "https://e.example/a%20b"),
    ]


def test_b037_tables_are_readable_and_what_is_none_is_left_alone() -> None:
    table = render("| a | b | c |\n|---|---|---|\n| 1 | | `x | y` |\n| 中文 | `p \\| q` | 3 |")
    assert table.text.splitlines()[2].split("|")[0].strip() == "1"
    assert "中文 | p | q | 3" in table.text
    assert {kind for kind, _, _ in spans(table)} == {"pre"}
    assert render("a | b").text == "a | b"
    assert render("```\n| a | b |\n|---|---|\n```").text == "| a | b |\n|---|---|"
    assert render("a\n\n---\n\nb").text == "a\n\n———\n\nb"


@pytest.mark.parametrize(
    ("prefix", "text", "formatted"),
    [
        ("so **bo", "so bo", [("bold", "bo", "")]),
        ("so **", "so", []),
        ("so **bold*", "so bold", [("bold", "bold", "")]),
        ("a [te", "a te", []),
        ("a [text]", "a text", []),
        ("a [x](http://e", "a x", []),
        ("a `co", "a co", [("code", "co", "")]),
        ("a\n\n```py", "a", []),
        ("a\n\n```py\nx = 1\n``", "a\n\nx = 1", [("pre", "x = 1", "py")]),
        ("> quo", "quo", [("blockquote", "quo", "")]),
        ("~~st", "st", [("strikethrough", "st", "")]),
        ("a\n\n| b | c |\n|--", "a", []),
        ("a\n\n-", "a", []),
        ("a\n\n1.", "a", []),
        ("a\n\n- [", "a", []),
        ("x[i", "x[i", []),
        ("on [0, 1]", "on [0, 1]", []),
        ("[0]*n and (b", "[0]*n and (b", []),
        ("```py\na = 1\n\ndef f(**kw):\n```", "a = 1\n\ndef f(**kw):", [("pre", "a = 1\n\ndef f(**kw):", "py")]),
    ],
)
def test_b039_half_written_markup_looks_like_what_it_becomes(prefix: str, text: str, formatted: list[object]) -> None:
    rendered = growing(prefix)
    assert (rendered.text, spans(rendered)) == (text, formatted)


def test_b040_lines_and_three_depths_of_lists_are_visible() -> None:
    assert render("line1\nline2\n\n- a\n  - b\n    - c\n1. x\n   - y").text == (
        "line1\nline2\n\n• a\n    ◦ b\n        ▪ c\n1. x\n    ◦ y"
    )


def test_b044_only_safe_addresses_become_links() -> None:
    rendered = render(
        "[report](file:///srv/bot/report.md), [x](javascript:1), [m](mailto:a@example.org), [t](tg://user?id=1),"
        " [r](../a/b), [n](http://intranet/x), [d](data:text/html,x)"
    )
    assert rendered.text == "report, x, m, t, r, n, d"
    assert spans(rendered) == [("text_link", "m", "mailto:a@example.org"), ("text_link", "t", "tg://user?id=1")]


def test_b045_emphasis_never_reaches_into_code_over_parts() -> None:
    text = (
        "_" + "italic reasoning " * 200 + "\n\n```py\n" + "x_ = _y\n" * 300 + "```\n\n" + "more reasoning " * 60 + "_"
    )
    found = list(pages(text, LIMITS, Renderer().render))
    for page in found:
        assert not illegal(page.rendered)
    code = [inside for page in found for _, inside, _ in spans(page.rendered, "pre")]
    assert "\n".join(code).split() == ("x_ = _y\n" * 300).split()
