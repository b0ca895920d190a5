"""Markdown as Slack shows it: every construct in rich text and in mrkdwn."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.blocks import RichTextBlock

from channels.slack.markup import Renderer

Element = dict[str, Any]


def text(content: str, **style: bool) -> Element:
    return {"type": "text", "text": content, **({"style": style} if style else {})}


def link(url: str, label: str = "", **style: bool) -> Element:
    shown = {"text": label} if label else {}
    return {"type": "link", "url": url, **shown, **({"style": style} if style else {})}


def section(*found: Element) -> Element:
    return {"type": "rich_text_section", "elements": list(found)}


def listed(style: str, indent: int, *items: Element, **more: int) -> Element:
    return {"type": "rich_text_list", "elements": list(items), "style": style, "indent": indent, **more}


def quote(*found: Element) -> Element:
    return {"type": "rich_text_quote", "elements": list(found)}


def code(content: str, **more: Any) -> Element:
    return {"type": "rich_text_preformatted", "elements": [text(content)], **more}


def rich(markdown: str) -> list[Element]:
    [block] = Renderer().rich(markdown)
    assert block["type"] == "rich_text"
    RichTextBlock(elements=block["elements"]).validate_json()
    found: list[Element] = block["elements"]
    return found


def mrkdwn(markdown: str) -> str:
    rendered = Renderer().render(markdown)
    assert rendered.length == len(rendered.text.encode())
    assert rendered.entities == ()
    return rendered.text


@pytest.mark.parametrize(
    ("markdown", "elements"),
    [
        ("plain", [section(text("plain"))]),
        ("**b** *i* ~~s~~ `c`", [section(text("b", bold=True), text(" "), text("i", italic=True), text(" "),
                                         text("s", strike=True), text(" "), text("c", code=True))]),
        ("***both***", [section(text("both", bold=True, italic=True))]),
        ("**注意：**请", [section(text("注意：", bold=True), text("请"))]),
        ("a\nb\n\nc", [section(text("a\nb\n\nc"))]),
        ("# A\ntext", [section(text("A", bold=True), text("\n\ntext"))]),
        ("||hidden||", [section(text("||hidden||"))]),
        ("[a](https://x.example) https://y.example", [section(link("https://x.example", "a"), text(" "), link("https://y.example"))]),
        ("[**a** `b`](https://x.example)", [section(link("https://x.example", "a", bold=True), link("https://x.example", " "),
                                                     link("https://x.example", "b", code=True))]),
        ("[bank.example](https://evil.example)", [section(text("bank.example ("), link("https://evil.example"), text(")"))]),
        ("[m](mailto:a@x.example) [t](tg://user?id=1)", [section(link("mailto:a@x.example", "m"), text(" t"))]),
        ("@channel <!here> <@U1>", [section(text("@channel <!here> <@U1>"))]),
        ("x:\n- a\n  b\n- c", [section(text("x:")), listed("bullet", 0, section(text("a\nb")), section(text("c")))]),
        ("x\n\n- a\n\ny", [section(text("x\n\n")), listed("bullet", 0, section(text("a"))), section(text("\ny"))]),
        ("- a\n  - b\n- c", [listed("bullet", 0, section(text("a"))), listed("bullet", 1, section(text("b"))),
                             listed("bullet", 0, section(text("c")))]),
        ("3. a\n4. b\n   - c\n5. d", [listed("ordered", 0, section(text("a")), section(text("b")), offset=2),
                                       listed("bullet", 1, section(text("c"))), listed("ordered", 0, section(text("d")), offset=4)]),
        ("1. a\n3. b", [listed("ordered", 0, section(text("a"))), listed("ordered", 0, section(text("b")), offset=2)]),
        ("0. a", [listed("bullet", 0, section(text("0. a")))]),
        ("- [ ] a\n- [x] b", [listed("bullet", 0, section(text("☐ a")), section(text("☑ b")))]),
        ("-\n- b", [listed("bullet", 0, section(text("\u200b")), section(text("b")))]),
        ("> a\n>\n> b\n\nc", [quote(text("a\n\nb")), section(text("\nc"))]),
        ("> - a\n> - b", [listed("bullet", 0, section(text("a")), section(text("b")), border=1)]),
        ("> ```\n> x\n> ```", [code("x", border=1)]),
        ("```py\nx = 1\n```", [code("x = 1", language="py")]),
        ("1. a\n   ```\n   x\n   ```\n2. b", [listed("ordered", 0, section(text("a"))), code("x"),
                                            listed("ordered", 0, section(text("b")), offset=1)]),
        ("| a | b |\n|--|--|\n| c | d |", [code("a   | b\n----+----\nc   | d")]),
        ("so $x^2$, $\\no$", [section(text("so x², "), text("$\\no$", code=True))]),
        ("a\n\n---\n\nb", [section(text("a\n\n———\n\nb"))]),
    ],
)  # fmt: skip
def test_each_construct_as_rich_text(markdown: str, elements: list[Element]) -> None:
    assert rich(markdown) == elements


@pytest.mark.parametrize(
    ("markdown", "content"),
    [
        ("**b** *i* ~~s~~ `c`", "*b* _i_ ~s~ `c`"),
        ("**注意：**请 a**b**c", "*注意：*·请 a·*b*·c"),
        ("***both***", "*_both_*"),
        ("# A `b`", "*A `b`*"),
        ("a & b < c > d", "a &amp; b &lt; c &gt; d"),
        ("\\> no quotation\n\n> a\n>\n> b", "·&gt; no quotation\n\n&gt; a\n&gt; \n&gt; b"),
        ("<!channel> <@U1> @here @channel &lt;!everyone>", "&lt;!channel&gt; &lt;@U1&gt; @·here @·channel &lt;!everyone&gt;"),
        ("snake_case 2 * 3 *args __init__ \\`x :smile: 10:30", "snake_case 2 * 3 ∗args *init* ˋx :·smile: 10:30"),
        ("[a|b](https://x.example/?a=1&b=2)", "<https://x.example/?a=1&amp;b=2|a|b>"),
        ("see https://x.example/a_b.", "see <https://x.example/a_b>."),
        ("- a\n  - b\n1. c", "• a\n    ◦ b\n1. c"),
        ("- [x] a\n  b", "☑ a\n    b"),
        ("```py\nx < 1\n```", "```\nx &lt; 1\n```"),
        ("````\n```\n````", "```\n``·`\n```"),
        ("`` a`b ``", "aˋb"),
        ("||hidden||", "||hidden||"),
        ("\u200b", ""),
    ],
)  # fmt: skip
def test_each_construct_as_mrkdwn(markdown: str, content: str) -> None:
    """A dot stands for the character that nobody sees."""
    assert mrkdwn(markdown) == content.replace("·", "\u200b")


def test_b042_code_stays_as_it_is_links_that_are_slacks_own_stay_links_and_a_list_is_no_emphasis() -> None:
    markdown = "```python\nx = a ** b  # **not bold**\n```\nand <https://x.example|x> and\n\n* item\n* item 2"
    assert rich(markdown) == [
        code("x = a ** b  # **not bold**", language="python"),
        section(text("and "), link("https://x.example", "x"), text(" and\n\n")),
        listed("bullet", 0, section(text("item")), section(text("item 2"))),
    ]
    assert "python" not in mrkdwn(markdown)
    assert mrkdwn(markdown) == "```\nx = a ** b  # **not bold**\n```\nand <https://x.example|x> and\n\n• item\n• item 2"


@pytest.mark.parametrize(
    ("markdown", "content"),
    [
        ("<https://x.example/?a=1&b=2|a *b* `c`>", "<https://x.example/?a=1&amp;b=2|a ∗b∗ ˋcˋ>"),
        ("**<https://x.example|x y>**", "*<https://x.example|x y>*"),
        ("<mailto:a@x.example|Ann>", "<mailto:a@x.example|Ann>"),
        ("<https://evil.example|bank.example>", "bank.example (<https://evil.example>)"),
        ("`<https://x.example|x>`", "`&lt;https://x.example|x&gt;`"),
    ],
)
def test_a_link_as_slack_writes_it_is_one(markdown: str, content: str) -> None:
    assert mrkdwn(markdown) == content


def test_nothing_to_show_is_no_block() -> None:
    assert Renderer().rich("\u200b\n\n[a]: https://x.example") == []


def test_the_first_run_of_a_list_goes_on_counting_behind_code() -> None:
    found = rich("1. a\n\n```\nx\n```\n\n2. b\n3. c")
    assert [one.get("offset", 0) for one in found if one["type"] == "rich_text_list"] == [0, 1]
