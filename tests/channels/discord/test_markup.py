"""Markdown as Discord's own Markdown: every construct, and what must not be read otherwise than it is meant."""

from __future__ import annotations

import pytest

from bot.core.view import Limits, Rendered
from bot.outbox.paging import open_page, pages
from channels.discord.markup import Renderer

LIMITS = Limits(size=2000, unit="chars", pace=1.3)
"""A dot in what is expected stands for the character that nobody sees."""


def render(markdown: str) -> str:
    rendered = Renderer().render(markdown)
    assert rendered.length == len(rendered.text)
    assert rendered.entities == ()
    return rendered.text


@pytest.mark.parametrize(
    ("markdown", "content"),
    [
        ("**b** *i* _i_ ~~s~~ `c` ||h||", "**b** *i* *i* ~~s~~ `c` ||h||"),
        ("***both***", "***both***"),
        ("**a *b***", "**a *b***"),
        ("***a* b**", "***a* b**"),
        ("**注意：**请 a**b**c", "**注意：**请 a**b**c"),
        ("**a ** b", "\\*\\*a \\*\\* b"),
        ("**a** **b**", "**a** **b**"),
        ("**a**~~b~~", "**a**·~~b~~"),
        ("**a<br>b**", "**a**\n**b**"),
        ("snake_case, 2 * 3 * 4, a|b, ~5, C:\\dir", "snake\\_case, 2 \\* 3 \\* 4, a\\|b, \\~5, C:\\\\dir"),
        ("**a `b` c** **a `*` c**", "**a `b` c** **a** `*` **c**"),
        ("||a `b` *c*||", "||a `b` *c*||"),
        ("`` a`b `` `` `a` ``", "``a`b`` `` `a` ``"),
        ("``` a``b`c ```", "``a`·`b`c``"),
        ("# A **b**\ntext", "# A **b**\ntext"),
        ("text\n\n### C#\n\nmore", "text\n### C#·\nmore"),
        ("#### deep **b**", "**deep b**"),
        ("# 1. Start", "# 1\\. Start"),
        ("\\# a\n\\- b\n\\> c\n1\\. d\n-# e\n#tag -x", "\\# a\n\\- b\n\\> c\n1\\. d\n\\-# e\n#tag -x"),
        ("**1. Intro**", "**1\\. Intro**"),
        ("- a\n  - b\n    - c\n- d", "- a\n  - b\n    - c\n- d"),
        ("- a\n\n- b", "- a\n\n- b"),
        ("- a\n\n  - b\n\n  - c", "- a\n  - b\n  - c"),
        ("- a\n  b\n\n  c", "- a\n  ·b\n  ·\n  ·c"),
        ("1. a\n   - b\n2. c", "1. a\n   - b\n2. c"),
        ("9. a\n   - b\n10. c\n    - d", "9.  a\n    - b\n10. c\n    - d"),
        ("1. a\n1. b", "1. a\n2. b"),
        ("3. a\n\n5. b", "3. a\n\n5. b"),
        ("3. a\n5. b", "3. a\n\n5. b"),
        ("- a\n\n  3. b\n  5. c", "- a\n  - 3\\. b\n  - 5\\. c"),
        ("0. a\n1. b", "- 0\\. a\n- 1\\. b"),
        ("2) a", "2. a"),
        ("- a\n1. b", "- a\n\n1. b"),
        ("- [ ] a\n- [x] b", "- ☐ a\n- ☑ b"),
        ("- # a", "- **a**"),
        ("- a\n  ```sh\n  ls\n\n    x\n  ```\n- b", "- a\n  ```sh\n  ls\n  \n    x\n  ```\n- b"),
        ("- a\n  > b\n- c", "- a\n  > b\n- c"),
        ("-\n- b", "- ·\n- b"),
        ("> a\n> b\n\nc", "> a\n> b\n\nc"),
        ("> a\n>\n> b", "> a\n> \n> b"),
        ("> # a\n> - b\n>   c", "> # a\n> - b\n>   ·c"),
        ("> - a\n> - b", "> - a\n> - b"),
        ("> ```\n> x\n>\n> y\n> ```", "> ```\n> x\n> \n> y\n> ```"),
        ("> > a", "> a"),
        ("```py\nx = 1\n```", "```py\nx = 1\n```"),
        ("````\n```\nx\n```\n````", "```\n``·`\nx\n``·`\n```"),
        ("    code", "```\ncode\n```"),
        ("| a | b |\n|--|--:|\n| c | 1 |", "```\na   |   b\n----+----\nc   |   1\n```"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("so $x^2$ and $$y_\\theta * 2$$, $\\no$", "so x² and y\\_θ \\* 2, `$\\no$`"),
        ("[a](https://x.example)", "[a](<https://x.example>)"),
        ("[a](https://x.example/b_(c))", "[a](<https://x.example/b_(c)>)"),
        ("[a](https://x.example/b%29)", "[a](<https://x.example/b%29>)"),
        ("[a](<https://x.example/b)>)", "[a](<https://x.example/b%29>)"),
        ("[**a** `b`](https://x.example)", "[**a** `b`](<https://x.example>)"),
        ("**[a](https://x.example/*)**", "**[a](<https://x.example/%2A>)**"),
        ("[a*b](https://x.example)", "a\\*b (<https://x.example>)"),
        ("[[1]](https://x.example)", "[[1]](<https://x.example>)"),
        ("[🎉](https://x.example)", "🎉 (<https://x.example>)"),
        ("[x](https://discord.gg/a)", "x (<https://discord.gg/a>)"),
        ("[bank.example](https://evil.example)", "bank.example (<https://evil.example>)"),
        ("[x.example](https://www.x.example/a)", "[x.example](<https://www.x.example/a>)"),
        ("[README.md](https://x.example/README.md)", "[README.md](<https://x.example/README.md>)"),
        ("[https://a.example](https://a.example)", "<https://a.example>"),
        ("[t](tg://user?id=1) [j](javascript:x) [m](mailto:a@x.example)", "t j [m](<mailto:a@x.example>)"),
        ("![pic](https://x.example/p.png)", "[pic](<https://x.example/p.png>)"),
        ("see https://x.example/__a__/*b*/c, ok", "see <https://x.example/__a__/*b*/c>, ok"),
        ("(https://x.example) https://例.example", "(<https://x.example>) https\\://例.example"),
        ("[a](https://x.example) b](c)", "[a](<https://x.example>) b]·(c)"),
        ("\\[a](b)", "\\[a](b)"),
        ("@everyone @here <@1> <@&2> <#3> <t:4> <:a:5> </b:6>",
         "@·everyone @·here \\<@·1> \\<@·&2> \\<#3> \\<t:4> \\<\\:a:5> \\</b:6>"),
        ("a:b:c 10:30 :smile:", "a\\:b:c 10:30 \\:smile:"),
        ("<think>a</think> a < b", "\\<think>a\\</think> a < b"),
        ("שלום **עולם** 中文", "שלום **עולם** 中文"),
        ("&#x202e;&#xd800;a\x01", "\ufffda"),
        ("\u200b", ""),
    ],
)  # fmt: skip
def test_each_construct(markdown: str, content: str) -> None:
    assert render(markdown) == content.replace("·", "\u200b")


def test_a_wide_table_becomes_a_list_of_its_rows() -> None:
    assert render(f"| Name | Why |\n|--|--|\n| Ann | {'long ' * 9}|\n| Bob | *so*<br>yes |") == (
        f"- Name: **Ann**\n  \u200bWhy: {('long ' * 9).strip()}\n- Name: **Bob**\n  \u200bWhy: *so*\n  \u200byes"
    )


def test_dense_markup_is_measured_as_it_is_sent() -> None:
    text = "a_b *c* [d](https://x.example/e) " * 200
    found = list(pages(text, LIMITS, Renderer().render))
    assert all(page.rendered.length == len(page.rendered.text) <= 2000 for page in found)
    assert "".join(page.rendered.text for page in found).count("](<https://x.example/e>)") == 200


def test_a_long_code_block_is_code_of_its_language_in_every_part() -> None:
    text = "```py\n" + "".join(f"    line_{number} = {number} * '**x**'\n" for number in range(200)) + "```"
    found = [page.rendered.text for page in pages(text, LIMITS, Renderer().render)]
    assert len(found) > 2
    assert all(part.startswith("```py\n") and part.endswith("\n```") for part in found)


def growing(markdown: str) -> Rendered:
    return open_page(markdown, LIMITS, Renderer().render, growing=True).rendered


@pytest.mark.parametrize(
    ("prefix", "content"),
    [
        ("so **bo", "so **bo**"),
        ("so **", "so"),
        ("a [te", "a te"),
        ("a [x](http://e", "a x"),
        ("a\n\n```py", "a"),
        ("a\n\n```py\nx = 1\n``", "a\n\n```py\nx = 1\n```"),
        ("a\n\n1.", "a"),
        ("> quo", "> quo"),
    ],
)
def test_half_written_markup_looks_like_what_it_becomes(prefix: str, content: str) -> None:
    assert growing(prefix).text == content
