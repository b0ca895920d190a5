"""Which characters of the house's Markdown are marks: where formulas end, and where emphasis may begin and end."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST_INLINE_CHARS: Final = 800
PAIRS: Final = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
"""What opens and closes a formula."""
CJK = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]|[\U00020000-\U0003ffff]"
)


def formula_end(text: str, start: int, opener: str, closer: str, limit: int) -> int:
    """Where ``closer`` begins for the formula opened at ``start``; -1 when that is no formula, so that prices stay prices.

    A single dollar opens only before a visible character and not after a digit or letter, and closes only after a
    visible character of the same line and not before a digit or letter (the rule of pandoc, a little stricter).
    """
    begin = start + len(opener)
    single = opener == "$"
    if single and (begin >= limit or text[begin].isspace() or (start and text[start - 1].isalnum())):
        return -1
    end = text.find(closer, begin, min(limit, begin + LONGEST_INLINE_CHARS))
    while end >= 0:
        inside = text[begin:end]
        escaped = single and inside.endswith("\\")
        follows = text[end + 1 : end + 2] if end + 1 < limit else ""
        if not inside.strip() or "\n\n" in inside or (single and ("`" in inside or "\n" in inside)):
            return -1
        if not escaped and not (single and (inside[-1].isspace() or follows.isalnum())):
            return end
        if single and not escaped:
            return -1
        end = text.find(closer, end + 1, min(limit, begin + LONGEST_INLINE_CHARS))
    return -1


def flanking(before: str, after: str) -> tuple[bool, bool]:
    """Whether a run of asterisks between these two characters may open emphasis, and whether it may close it."""
    opens = not after.isspace() and not (_is_mark(after) and not _is_boundary(before))
    closes = not before.isspace() and not (_is_mark(before) and not _is_boundary(after))
    return opens, closes


def _is_mark(char: str) -> bool:
    return not CJK.match(char) and unicodedata.category(char)[0] in "PS"


def _is_boundary(char: str) -> bool:
    return char.isspace() or bool(CJK.match(char)) or unicodedata.category(char)[0] in "PS"
