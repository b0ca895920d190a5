"""Links: bare addresses are found, and no label hides where its link leads."""

from __future__ import annotations

import pytest

from bot.outbox.styled.links import candid, inserted, misleads
from bot.outbox.styled.spans import Span, Styled
from tests.outbox.styled.corpus import styled


def links(markdown: str, *, masked: bool = True) -> tuple[str, list[tuple[str, str]]]:
    page = candid(styled(markdown), lambda label, url: masked or label in url)
    found = sorted((span for span in page.spans if span.kind == "text_link"), key=lambda span: span.start)
    return page.text, [(page.text[span.start : span.end], span.value) for span in found]


@pytest.mark.parametrize(
    ("markdown", "text", "found"),
    [
        ("[a](https://x.example)", "a", [("a", "https://x.example")]),
        ("(see https://x.example/a_(b), ok)", "(see https://x.example/a_(b), ok)", [("https://x.example/a_(b)",) * 2]),
        ("https://x.example，然后", "https://x.example，然后", [("https://x.example",) * 2]),
        ("<https://x.example>*i*", "https://x.examplei", [("https://x.example",) * 2]),
        ("<a@x.example>", "a@x.example", [("a@x.example", "mailto:a@x.example")]),
        ("`https://x.example`", "https://x.example", []),
        ("https://x.example:smile:", "https://x.example:smile:", []),
        ("[a](tg://user?id=1)", "a", []),
        ("[bank.example](https://evil.example/a)", "bank.example (https://evil.example/a)",
         [("https://evil.example/a",) * 2]),
        ("**[https://a.example](https://b.example)** c", "https://a.example (https://b.example) c",
         [("https://b.example",) * 2]),
    ],
)  # fmt: skip
def test_each_link(markdown: str, text: str, found: list[tuple[str, str]]) -> None:
    assert links(markdown) == (text, found)


def test_what_a_platform_cannot_mask_is_written_out() -> None:
    text, found = links("[a b](https://x.example) and [w](mailto:c@x.example?subject=d)", masked=False)
    assert text == "a b (https://x.example) and w (c@x.example)"
    assert found == [("https://x.example",) * 2, ("c@x.example", "mailto:c@x.example?subject=d")]


@pytest.mark.parametrize(
    ("label", "url", "does"),
    [
        ("https://a.example", "https://b.example", True),
        ("a.example/path", "https://b.example", True),
        ("www.a.example", "https://a.example/x", False),
        ("a.example", "https://docs.a.example", False),
        ("docs.a.example", "https://a.example", True),
        ("ａ.example", "https://b.example", True),
        ("user@a.example", "https://b.example", True),
        ("c@a.example", "mailto:c@a.example", False),
        ("README.md", "https://b.example", False),
        ("e.g.", "https://b.example", False),
        ("a label", "https://b.example", False),
    ],
)
def test_a_label_misleads_only_if_it_looks_like_another_address(label: str, url: str, does: bool) -> None:
    assert misleads(label, url) is does


def test_what_is_inserted_belongs_to_what_goes_on_around_it() -> None:
    page = Styled("ab", (Span("bold", 0, 2), Span("italic", 0, 1), Span("heading", 0, 2, "", 1)))
    opened = inserted(page, [(0, "<"), (1, "-"), (2, ">")])
    assert opened.text == "<a-b>"
    assert [(span.kind, span.start, span.end) for span in opened.spans] == [
        ("bold", 1, 4),
        ("italic", 1, 2),
        ("heading", 0, 5),
    ]
