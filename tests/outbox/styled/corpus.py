"""Texts for properties: pieces of Markdown for hypothesis, and the answers that BOWERBIRD_ANSWERS names."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import strategies as st

from bot.outbox.styled.renderer import StyledRenderer, joined
from bot.outbox.styled.spans import Styled
from tests.channels.web.test_render import ANSWER

ANSWERS: Final = os.environ.get("BOWERBIRD_ANSWERS", "")
needs_answers = pytest.mark.skipif(
    not ANSWERS, reason="BOWERBIRD_ANSWERS names no file of answers (JSON Lines with a text each)"
)

_MARKS = [
    "*",
    "**",
    "***",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "||",
    "|",
    "[",
    "]",
    "](",
    ")",
    "(",
    "![",
    "<",
    ">",
    "$",
    "$$",
    "\\",
    "\\[",
    "\\]",
    "<br>",
    "&amp;",
    "&#1;",
    "&#xd83d;",
    "://",
]
_LINKS = ("https://x.example/a_b", "<https://x.example>", "[a]: https://x.example\n")
_SPACES = (
    "\n",
    "\n\n",
    " ",
    "  \n",
    "\t",
    "    ",
    "\r\n",
    "\r",
    "\x00",
    "\u2028",
    "\u202e",
    "\u030a",
    "\u00a0",
    "\u3000",
)
_BLOCKS = ("# ", "> ", "- ", "1. ", "2) ", "- [x] ", "---\n", "===\n", "```py\n", "```\n", "~~~\n")
_TABLES = ("| a | b |\n|---|:-:|\n", "| c | `d` |\n")
_WORDS = ("word", "a", "中文", "：", "😀", "👨‍👩‍👧", "e\u0301", "\ud83d", "\ude00", "א")
PIECES = st.sampled_from([*_MARKS, *_LINKS, *_SPACES, *_BLOCKS, *_TABLES, *_WORDS])
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


@cache
def answers() -> list[str]:
    if not ANSWERS:
        return [ANSWER, ANSWER * 8]
    return [json.loads(line)["text"] for line in Path(ANSWERS).read_text(encoding="utf-8").splitlines()]


def styled(markdown: str) -> Styled:
    return StyledRenderer(lambda block: block, joined).render(markdown)
