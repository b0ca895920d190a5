"""Markdown becomes safe HTML; a growing answer never shows half a marker and ends like a finished one."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.outbox.dialect import trimmed
from bot.outbox.partial import repaired
from channels.web.render import Growing, blocks

ANSWER = """\
# Plan for **Saturday**

Here is what I'd do, *in order*, with `code` and a [link](https://example.org/a_b_c?q=1):

1. Buy **bread** and ~~milk~~ oat milk
   - at the `corner` shop
2. Call [the office](tel:1) — see https://example.org/hours(today).
3. 然后**打电话：**请在五点前。

> A quote with **bold
> over two lines** and `x`.

| day | price | note |
|:----|------:|:----:|
| Mon | $5 | *early* |
| Tue | $10 | `late` |

```python
def f(x: int) -> str:
    return f"**{x}** `not markdown`"
```

- [ ] open task
- [x] done task

The formula $a_1 + b^2$ and \\(c_3\\), then

$$
\\frac{1}{2} + \\sqrt{x}
$$

\\[ E = mc^2 \\]

Text with a footnote-like [reference] and an image ![alt text](https://example.org/p.png).
Second line, same paragraph; 2 * 3 * 4 and snake_case_name stay as they are.

---

Done!
"""


class Visible(HTMLParser):
    """The text outside code and formulas, and every tag and attribute."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags, self.attributes, self._inside = "", set[str](), set[tuple[str, str]](), 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        self._inside += tag in ("code", "math")

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag in ("code", "math")

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text += data


def html(markdown: str) -> str:
    return "".join(blocks(markdown))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Hello **you** and *me*", "<p>Hello <strong>you</strong> and <em>me</em></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("# A\n### B", "<h3>A</h3><h5>B</h5>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("**注意：**请回复", "<p><strong>注意：</strong>请回复</p>"),
        ("中文**「重点」**中文", "<p>中文<strong>「重点」</strong>中文</p>"),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ("snake_case_name", "<p>snake_case_name</p>"),
        ("It costs $5 or $10, not $HOME/$USER.", "<p>It costs $5 or $10, not $HOME/$USER.</p>"),
        ("US$7 and CA$9", "<p>US$7 and CA$9</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](/relative)", "<p>[x](/relative)</p>"),
        ("[x](data:text/html,1)", "<p>[x](data:text/html,1)</p>"),
    ],
)
def test_what_becomes_of_markdown(markdown: str, expected: str) -> None:
    assert html(markdown) == expected


def test_links_open_outside_and_pictures_are_only_links() -> None:
    outside = 'target="_blank" rel="noopener noreferrer nofollow"'
    assert html("[a](https://x.org/?a=1&b=2)") == f'<p><a href="https://x.org/?a=1&amp;b=2" {outside}>a</a></p>'
    assert html("<a@b.org>") == f'<p><a href="mailto:a@b.org" {outside}>a@b.org</a></p>'
    assert (
        html("![cat](https://x.org/c.png)") == f'<p><a class="picture" href="https://x.org/c.png" {outside}>cat</a></p>'
    )
    assert "<img" not in html('![](https://x.org/c.png "t")')


def test_a_link_as_slack_writes_it_is_one_and_leads_only_to_the_web() -> None:
    outside = 'target="_blank" rel="noopener noreferrer nofollow"'
    assert html("see <https://x.org/a?b=1|the *page*>.") == (
        f'<p>see <a href="https://x.org/a?b=1" {outside}>the *page*</a>.</p>'
    )
    assert html("<mailto:a@b.org|Ann>") == f'<p><a href="mailto:a@b.org" {outside}>Ann</a></p>'
    assert html("`<https://x.org|x>`") == "<p><code>&lt;https://x.org|x&gt;</code></p>"
    assert "<a" not in html("<javascript:alert(1)|x>") and "<b>" not in html("<https://x.org|<b>x</b>>")


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("see https://example.org/a.", "https://example.org/a"),
        ("(https://example.org/a)", "https://example.org/a"),
        ("https://en.wikipedia.org/wiki/Bower_(bird)", "https://en.wikipedia.org/wiki/Bower_(bird)"),
        ("见 https://example.org/路，请看", "https://example.org/"),
        ("https://example.org/a?b=1&c=2!", "https://example.org/a?b=1&amp;c=2"),
        ("**https://example.org/x**", "https://example.org/x"),
    ],
)
def test_bare_addresses_become_links_without_the_sentence_around_them(text: str, href: str) -> None:
    assert f'href="{href}"' in html(text)


def test_bare_addresses_stay_text_where_they_are_code_or_a_link_already() -> None:
    assert "<a" not in html("`https://example.org`")
    assert html("[https://a.org](https://b.org)").count("<a ") == 1
    assert trimmed("https://x.org/a).)") == "https://x.org/a"


def test_code_has_its_language_and_a_copy_button() -> None:
    (block,) = blocks('```python title="x"\nprint("<hi>")\n```')
    assert '<span class="code-name">python</span>' in block
    assert '<button type="button" class="copy" data-copy="code"></button>' in block
    assert '<code class="language-python">print("&lt;hi&gt;")\n</code>' in block
    assert 'class="code-name"></span>' in blocks('```"><script>\nx\n```')[0]


def test_tables_align_by_class_and_task_lists_are_boxes() -> None:
    table = html("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert '<th class="center">a</th>' in table
    assert '<td class="right">2</td>' in table
    assert "style=" not in table
    tasks = html("- [ ] open\n- [x] done")
    assert tasks.count('type="checkbox"') == 2
    assert tasks.count('checked="checked"') == 1


def test_each_top_level_block_stands_alone() -> None:
    parts = blocks(ANSWER)
    assert len(parts) == 13
    for part in parts:
        opened = re.findall(r"<(\w+)(?=[ >])", part)
        closed = re.findall(r"</(\w+)>", part)
        void = {"br", "hr", "input"}
        assert sorted(tag for tag in opened if tag not in void) == sorted(closed), part


MARKERS = ("**", "`", "](", "~~", "$$", "\\(", "\\[", "|--", "|:-", "![", "##", "- [")


def test_a_growing_answer_never_shows_half_a_marker() -> None:
    final = Visible(html(ANSWER)).text
    growing = Growing()
    for end in range(1, len(ANSWER)):
        shown = Visible("".join(growing.update(ANSWER[:end], final=False))).text
        for marker in MARKERS:
            assert shown.count(marker) <= final.count(marker), (marker, ANSWER[max(0, end - 40) : end], shown[-60:])


@pytest.mark.parametrize(
    ("partial", "shown"),
    [
        ("Hello **wor", "<p>Hello <strong>wor</strong></p>"),
        ("Hello **", "<p>Hello</p>"),
        ("Hello *", "<p>Hello</p>"),
        ("Hello **world*", "<p>Hello <strong>world</strong></p>"),
        ("**a `b", "<p><strong>a <code>b</code></strong></p>"),
        ("run `ls -", "<p>run <code>ls -</code></p>"),
        ("run `", "<p>run</p>"),
        ("run ``a`b", "<p>run <code>a`b</code></p>"),
        ("see [the pa", "<p>see the pa</p>"),
        ("see [the page](https://exa", "<p>see the page</p>"),
        ("see [the page]", "<p>see the page</p>"),
        ("an array [1, 2", "<p>an array [1, 2</p>"),
        ("![a pict", "<p>a pict</p>"),
        ("see <https://exa", '<a href="https://exa"'),
        ("Title\n-", "<p>Title</p>"),
        ("Title\n==", "<p>Title</p>"),
        ("list:\n\n1", "<p>list:</p>"),
        ("list:\n\n1.", "<p>list:</p>"),
        ("- a\n- [", "<ul>\n<li>a</li>\n</ul>"),
        ("##", ""),
        ("text\n```", "<p>text</p>"),
        ("text\n```pyth", "<p>text</p>"),
        ("```\nx = 1\n``", "x = 1</code>"),
        ("| a | b |", ""),
        ("| a | b |\n", ""),
        ("| a | b |\n|--", ""),
        ("| a | b |\n|---|---|", "<th>b</th>"),
        ("| a | b |\n|---|---|\n| 1 | **2", "<td><strong>2</strong></td>"),
        ("so \\(x + ", "<p>so</p>"),
        ("so $x + ", "<p>so</p>"),
        ("costs $5 and", "<p>costs $5 and</p>"),
        ("$$\n\\frac{1}{", ""),
        ("2 * 3", "<p>2 * 3</p>"),
        ("a_b", "<p>a_b</p>"),
        ("x \\", "<p>x</p>"),
    ],
)
def test_the_end_of_a_half_written_text(partial: str, shown: str) -> None:
    got = "".join(Growing().update(partial, final=False))
    assert got == shown if shown.startswith("<p>") or not shown else shown in got


PARTS = (
    "# T\n\n|para *one* `x`\n|two **b**\n\n|- a\n|- b\n  - c\n|\n|1. x\n|\n2. y\n\n|```py\ncode\n|```\n|> q\n|$$x^2$$\n\n"
    "|text $a_1$ end\n\n|---\n\n|    indented\n|[r]: https://example.org\n\n|see [r] and [q]\n\n|\r\n|==\n|<b>\n"
    "|你好**强调。**后文\n\n"
)
DOCUMENT = st.lists(st.sampled_from([*PARTS.split("|"), "| a | b |\n|---|---|\n| 1 | 2 |\n"]), max_size=30).map("".join)


@settings(max_examples=200, deadline=None)
@given(source=DOCUMENT, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_however_it_grew_the_end_is_that_of_a_finished_text(source: str, cuts: list[int]) -> None:
    growing = Growing()
    for cut in sorted(cuts):
        growing.update(source[:cut], final=False)
    assert growing.update(source, final=True) == blocks(source)


@settings(max_examples=100, deadline=None)
@given(first=DOCUMENT, second=DOCUMENT, kept=st.integers(0, 200))
def test_a_text_that_is_taken_back_leaves_nothing_behind(first: str, second: str, kept: int) -> None:
    growing = Growing()
    growing.update(first, final=False)
    rewritten = first[:kept] + second
    assert growing.update(rewritten, final=True) == blocks(rewritten)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab *_`~[]()!<>$\\|-#=.1\n>:你。", max_size=120))
def test_any_text_renders_and_repairs(source: str) -> None:
    repaired(source)
    Growing().update(source, final=False)
    tags = Visible(html(source)).tags
    assert not tags & {"script", "img", "iframe", "style", "form", "object", "svg"}


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 20_000,
        "*a " * 7_000,
        "![[" * 7_000,
        "$$a" * 7_000,
        "\\(" * 10_000,
        "~~a" * 7_000,
        "`" * 20_000,
        ">" * 20_000,
        "[a](b" * 4_000,
        "- " * 10_000,
        "|a" * 10_000 + "\n" + "|-" * 10_000,
        "<http" * 5_000,
        "\\frac" * 800,
    ],
    ids=range(13),
)
def test_no_text_takes_long(hostile: str) -> None:
    before = time.perf_counter()
    Growing().update(hostile, final=False)
    blocks(hostile)
    assert time.perf_counter() - before < 5


def test_a_very_long_answer_stays_cheap_while_it_grows() -> None:
    growing = Growing()
    paragraph = "Some words with **bold** and `code` in them, as usual. " * 6 + "\n\n"
    text = ""
    for _ in range(400):
        text += paragraph
        growing.update(text, final=False)
    before = time.perf_counter()
    for _ in range(50):
        text += "more words "
        growing.update(text, final=False)
    assert time.perf_counter() - before < 2.5
    assert growing.update(text, final=True) == blocks(text)
