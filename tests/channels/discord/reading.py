"""What a person reads of a message: Discord's Markdown taken away, as far as the texts of these tests use it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ESCAPED = re.compile(r"\\([\\*_~`|>#\-+.\[\]()<:@!])")


def plain(shown: str) -> str:
    """Without emphasis, headings, marks of quotes, and escapes."""
    text = re.sub(r"(?m)^(#{1,3} |> |-# )", "", shown)
    text = re.sub(r"(?<!\\)(\*\*|__|~~|\|\||`|\*)", "", text)
    return _ESCAPED.sub(r"\1", text)


def whole(shown: Sequence[str]) -> None:
    """Every piece of ``LONG`` (tests/channels/telegram/texts.py) stands in the messages, once."""
    text = "\n".join(map(plain, shown))
    for n in range(22):
        for once in (
            f"Chapter {n}\n",
            f"bold {n} and code {n} 👩‍👩‍👧 {n}.",
            f"one {n}\n",
            f"第{n}项",
            f"quoted {n} مرحبا",
            f"def f{n}(x)",
        ):
            assert text.count(once) == 1, once
    assert text.count("plain words go on") == 22 * 40 and text.count("# not bold") == 22
    assert max(map(len, shown)) <= 2000
