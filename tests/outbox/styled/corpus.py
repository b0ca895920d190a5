"""Texts for properties: pieces of Markdown for hypothesis, and answers of models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

from bot.outbox.styled.renderer import StyledRenderer, joined
from bot.outbox.styled.spans import Styled
from tests.answers import real_answers
from tests.channels.web.test_render import ANSWER
from tests.outbox.styled.reading import Reading, Table, reference, words

_MARKS = (
    *("*", "**", "***", "_", "__", "~~", "`", "``", "||", "|", "[", "]", "](", ")", "(", "![", "<", ">", "$", "$$"),
    *("\\", "\\[", "\\]", "<br>", "&amp;", "&#1;", "&#xd83d;", "://"),
)
_LINKS = ("https://x.example/a_b", "<https://x.example>", "[a]: https://x.example\n")
_SPACES = (
    *("\n", "\n\n", " ", "  \n", "\t", "    ", "\r\n", "\r", "\x00", "\u2028", "\u202e", "\u030a", "\u00a0", "\u3000"),
)
_BLOCKS = ("# ", "> ", "- ", "1. ", "2) ", "- [x] ", "---\n", "===\n", "```py\n", "```\n", "~~~\n")
_TABLES = ("| a | b |\n|---|:-:|\n", "| c | `d` |\n")
_WORDS = ("word", "a", "中文", "：", "😀", "👨‍👩‍👧", "e\u0301", "\ud83d", "\ude00", "א")
HOSTILE: Final = (
    *(
        mark * 2000
        for mark in ("*", "_", "~", "`", "|", "[", "]", "](", "<", ">", "- ", "1. ", "> ", "$", "\\(", "![", ":a", "\n")
    ),
    *(
        "*a " * 2500,
        "**a _b " * 1200,
        "`a ``b " * 1000,
        "[a](" * 2000,
        "||a " * 2000,
        "~~a\n" * 1500,
        "@here<@1>" * 800,
    ),
    *("https://x.example/" * 450, "[a](https://x.example) " * 400, "*a**b" * 1600, "`c` " * 2000, "**a** *b* " * 800),
    *("\n".join("  " * depth + "- x" for depth in range(60)), ">" * 500 + "x", "| a " * 2000 + "\n" + "|-" * 2000),
    *(
        "```\n" * 2000,
        "- a\n\n" * 1500,
        "1. a\n" * 1600,
        "- a\n  1. b\n" * 600,
        "> a\n\n" * 1500,
        "# a#\n" * 1500,
        "&lt;" * 2000,
        "\u200b" * 8000,
        "\ud83d" * 4000,
    ),
    *("x" * 100_000, "**word**\t" * 20_000),
)
"""Markdown on which a careless reader or writer takes time that grows with a power of the length."""
_TASK = re.compile(r"^([ \t]*[-*+] )\[[ xX]\] ", re.MULTILINE)
PIECES = st.sampled_from([*_MARKS, *_LINKS, *_SPACES, *_BLOCKS, *_TABLES, *_WORDS])
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


def answers() -> list[str]:
    """The real ones where they are there, else something made up."""
    return real_answers() or [ANSWER, ANSWER * 8]


def styled(markdown: str) -> Styled:
    return StyledRenderer(lambda block: block, joined).render(markdown)


def prose(markdowns: Sequence[str]) -> list[str]:
    """The words outside tables, which repeat their header on the next part, and without the numbers of lists.

    Nor names of character references: code that no fence marks is a paragraph, where they count, once it is parted.
    """
    pieces = [piece for markdown in markdowns for piece in read(markdown) if isinstance(piece, str)]
    return [word for word in words(" ".join(pieces)) if not word.isdigit() and word not in ("amp", "lt", "gt")]


def read(markdown: str) -> list[str | Table]:
    return Reading(reference().render(_TASK.sub(r"\1", markdown))).pieces
