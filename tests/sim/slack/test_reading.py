"""What a person reads of mrkdwn, Markdown and rich text."""

import pytest

from tests.sim.slack.blocks import expansion
from tests.sim.slack.reading import markdown, mrkdwn, pings, rich_text
from tests.sim.slack.test_blocks import bullets, line, rich, word


def name(id: str) -> str:
    return {"U1": "Ann", "C1": "team"}.get(id, id)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("*bold* _italic_ ~gone~", "bold italic gone"),
        ("2*3*4 and snake_case_name and a * b * c", "2*3*4 and snake_case_name and a * b * c"),
        ("`*code*` and ```\na_b_\n```", "*code* and a_b_"),
        ("&lt;b&gt; &amp;amp;", "<b> &amp;"),
        ("<@U1> in <#C1> and <#C2|two>", "@Ann in #team and #two"),
        ("<https://x.org|the *site*> <https://x.org>", "the site https://x.org"),
        ("<!here> <!channel> <!subteam^S1|@crew> <mailto:a@x.org>", "@here @channel @crew a@x.org"),
        ("你好*世界*", "你好*世界*"),
        ("", ""),
    ],
)
def test_mrkdwn_is_read_without_its_marks(text: str, read: str) -> None:
    assert mrkdwn(text, name) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("# Title\n\nSome **bold** and *it*\nnext", "Title\n\nSome bold and it\nnext"),
        ("- a\n- b\n  1. c\n  2. d\n- e\n\nend", "• a\n• b\n    1. c\n    2. d\n• e\n\nend"),
        ("```python\nx = 1\n\ny\n```\n\nafter", "x = 1\n\ny\n\nafter"),
        ("| a | b |\n|---|---|\n| 1 | **2** |", "a | b\n1 | 2"),
        ("[label](https://x.org) `code` ~~gone~~", "label code gone"),
        ("<@U1> a &lt; b", "@Ann a < b"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("> quoted\n\nsaid", "quoted\n\nsaid"),
        ("half **open", "half **open"),
    ],
)
def test_markdown_is_read_without_its_marks(text: str, read: str) -> None:
    assert markdown(text, name) == read


def test_rich_text_is_read_with_bullets_numbers_and_names() -> None:
    block = rich(
        line(word("Dear "), {"type": "user", "user_id": "U1"}, word("!\n")),
        bullets(line(word("a", bold=True)), line({"type": "link", "url": "https://x.org"})),
        bullets(line(word("b")), indent=1),
        bullets(line(word("one")), line(word("two")), style="ordered"),
        bullets(line(word("deep")), style="ordered", indent=1),
        bullets(line(word("three")), style="ordered", offset=2),
        {"type": "rich_text_preformatted", "elements": [word("code\n  in")]},
        {"type": "rich_text_quote", "elements": [word("said"), {"type": "broadcast", "range": "here"}]},
        line({"type": "emoji", "name": "tada"}, {"type": "channel", "channel_id": "C1"}),
    )
    assert rich_text(block, name).splitlines() == [
        "Dear @Ann!", "• a", "• https://x.org", "    • b", "1. one", "2. two", "    1. deep", "3. three", "code", "  in",
        "said@here", ":tada:#team",
    ]  # fmt: skip


def test_pings_are_found_wherever_slack_parses() -> None:
    assert pings("<!here>", [{"type": "section", "text": {"type": "mrkdwn", "text": "<@U1>"}}]) == ["<!here>", "<@U1>"]
    assert (
        pings([{"type": "section", "text": {"type": "plain_text", "text": "<@U1>"}}], "&lt;@U1&gt; <#C1> @here") == []
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a\n\nb", 1),
        ("# a\n\nb\n\nc\n\n# d", 3),
        ("a\n```\nx\n```\nb", 3),
        ("- a\n- b\n\n---\n\n| a |\n|---|\n| b |", 3),
        ("", 0),
    ],
)
def test_slack_makes_blocks_of_markdown(text: str, count: int) -> None:
    assert expansion(text) == count
