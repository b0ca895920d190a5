"""Markdown as plain text and neutral spans: what every platform finds of headings, lists, quotations and addresses."""

from __future__ import annotations

import pytest

from bot.outbox.monospace import width
from bot.outbox.styled.spans import is_blank, shown_text
from tests.outbox.styled.corpus import styled


def marks(markdown: str) -> list[str]:
    """Kind, level, value and text of each span, in order."""
    page = styled(markdown)
    spans = sorted(page.spans, key=lambda span: (span.start, -span.end))
    shown = (f"{span.kind} {span.level or ''}{span.value}: {page.text[span.start : span.end]!r}" for span in spans)
    return [one.replace(" :", ":") for one in shown]


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("## A **b**", ["heading 2: 'A b'", "bold: 'b'"]),
        ("- a\n  - b", ["item 1: '• '", "indent 1: '    '", "item 2: '◦ '"]),
        ("3) a\n   b", ["item 13): '3) '", "indent 1: '    '"]),
        ("- [x] a\n1. [ ] b", ["item 1☑: '☑ '", "item 11.: '1. '"]),
        ("- - a", ["item 1: '• '", "item 2: '◦ '"]),
        ("-", ["item 1: '•'"]),
        ("- a\n  ```py\n  x\n  ```", ["item 1: '• '", "pre 1py: 'x'"]),
        ("- a\n  > b", ["item 1: '• '", "blockquote 1: 'b'"]),
        ("> a\n> - b", ["blockquote: 'a\\n• b'", "item 1: '• '"]),
        ("> - a\n> - b", ["blockquote item: '• a\\n• b'", "item 1: '• '", "item 1: '• '"]),
        ("<https://x.example> a", ["address https://x.example: 'https://x.example'"]),
        ("[a](tg://user?id=1) [b](javascript:x)", ["text_link tg://user?id=1: 'a'"]),
    ],
)  # fmt: skip
def test_each_span(markdown: str, found: list[str]) -> None:
    assert marks(markdown) == found


def test_the_rows_of_a_wide_table_are_items() -> None:
    found = marks(f"| Name | Why |\n|--|--|\n| Ann | {'long ' * 9}|")
    assert [one for one in found if one.startswith(("item", "indent"))] == ["item 1: '• '", "indent 1: '  '"]


def test_what_disguises_a_text_is_left_out() -> None:
    assert shown_text("a\x01\u202eb\r\nc\u2028d\ud800 e\u0301\u030a") == "ab\nc\nd\ufffd e\u0301\u030a"
    assert shown_text("שלום \u200f😀") == "שלום \u200f😀"


def test_what_nobody_sees_is_blank() -> None:
    assert is_blank(" \n\u200b\u3164")
    assert not is_blank("\u200b.")


def test_width_is_that_of_monospace() -> None:
    assert [width(text) for text in ("abc", "中文", "e\u0301", "🙂")] == [3, 4, 1, 2]
