"""Styled text as lines of runs and blocks of code."""

from __future__ import annotations

import pytest

from bot.outbox.styled.leaves import Leaf, Run, leaves
from tests.outbox.styled.corpus import styled


def outline(leaf: Leaf) -> str:
    """Gap, what it stands in, markers and text."""
    stands = f"{'>' * bool(leaf.quote)}{'o' * leaf.outer}{'-' * leaf.depth}{'#' * leaf.heading}{'`' * leaf.code}"
    return f"{leaf.gap}{stands} {''.join(item.text for item in leaf.items)}{leaf.text}"


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("a\nb\n\nc", ["0 a", "1 b", "2 c"]),
        ("# A\ntext", ["0# A", "2 text"]),
        ("- a\n  b\n  - c", ["0- • a", "1- b", "1-- ◦ c"]),
        ("- - a", ["0-- • ◦ a"]),
        ("- a\n\n  ```\n  x\n\n  y\n  ```\nb", ["0- • a", "2-` x\n\ny", "1 b"]),
        ("> a\n>\n> b\n\nc", ["0> a", "2> b", "2 c"]),
        ("- > a\n  > - b", ["0- •", "1>o a", "1>o- ◦ b"]),
        ("> - a\n>   b\n> - c", ["0>- • a", "1>- b", "1>- • c"]),
        ("- > - a", ["0- • ", "1>o- ◦ a"]),
        ("-\n- b", ["0- •", "1- • b"]),
        ("a<br><br>b", ["0 a", "2 b"]),
    ],
)
def test_each_leaf(markdown: str, found: list[str]) -> None:
    assert [outline(leaf) for leaf in leaves(styled(markdown))] == found


def test_runs_are_cut_where_anything_changes() -> None:
    [leaf] = leaves(styled("a **b *c*** `d` [e **f**](https://x.example)"))
    bold, both = frozenset({"bold"}), frozenset({"bold", "italic"})
    assert leaf.runs == (
        Run("a "),
        Run("b ", bold),
        Run("c", both),
        Run(" "),
        Run("d", code=True),
        Run(" "),
        Run("e ", link="https://x.example"),
        Run("f", bold, "https://x.example"),
    )


def test_every_line_of_a_quotation_knows_which_one_it_is_of() -> None:
    assert [leaf.quote for leaf in leaves(styled("- a\n  > b\n  > c\n- d\n  > e"))] == [0, 1, 1, 0, 2]
