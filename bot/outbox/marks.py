"""Which characters of the house's Markdown are marks: where formulas end, and where emphasis may begin and end."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from bot.core.text import CJK
from bot.outbox.formula.commands import TABLES

LONGEST_INLINE_CHARS: Final = 800
LONGEST_BLOCK_LINES: Final = 80
PAIRS: Final = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
"""What opens and closes a formula; so does the environment that it is."""
BLOCK_BEGINS: Final = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?=\$\$|\\\[|\\begin\{)", re.MULTILINE)
"""What stands on a line before a formula that may go on over several lines."""

_ENVIRONMENT = re.compile(r"\\begin\{(?P<name>[A-Za-z]+)(?P<star>\*?)\}")
_STOP = re.compile(r"`+|\$|\\.?", re.DOTALL)
_SHELL = re.compile(r"[^\\]*(?:\"|[A-Za-z]{2}_[A-Za-z]{2})[^\\]*", re.DOTALL)
"""What stands between two variables of a shell rather than in a formula."""
_AMOUNT = re.compile(r"\d(?!.*[\\^_={}<>]).*(?:[^\W\d_]{2}|[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef])", re.DOTALL)
"""A sum of money and the words behind it."""


def opening(text: str, at: int) -> tuple[str, str] | None:
    """What opens a formula at ``at`` and what will close it, if something does."""
    if text[at : at + 1] not in ("$", "\\"):
        return None
    for pair in PAIRS:
        if text.startswith(pair[0], at):
            return pair
    found = _ENVIRONMENT.match(text, at)
    return (found[0], f"\\end{{{found['name']}{found['star']}}}") if found and found["name"] in TABLES else None


def formula_end(text: str, start: int, opener: str, closer: str, limit: int) -> int:
    """Where ``closer`` begins for the formula opened at ``start``; -1 when that is no formula, so that prices stay prices.

    A single dollar opens only before a visible character and not after a digit or letter, and closes only after a
    visible character of the same line and not before a digit, letter or bracket (pandoc's rule, a little stricter). Neither
    amounts of money nor the variables of a shell are formulas. Chinese, Japanese and Korean are written without spaces,
    so their characters may stand beside a dollar.
    """
    begin = start + len(opener)
    single = opener == "$"
    if single and (begin >= limit or text[begin].isspace() or (start and _is_of_word(text[start - 1]))):
        return -1
    end = text.find(closer, begin, min(limit, begin + LONGEST_INLINE_CHARS))
    while end >= 0:
        inside = text[begin:end]
        escaped = single and inside.endswith("\\")
        if not inside.strip() or "\n\n" in inside or (single and ("`" in inside or "\n" in inside)):
            return -1
        if not escaped:
            return end if not single or _is_dollar_formula(inside, text[end + 1 : min(end + 2, limit)]) else -1
        end = text.find(closer, end + 1, min(limit, begin + LONGEST_INLINE_CHARS))
    return -1


def _is_of_word(char: str) -> bool:
    return char.isalnum() and not CJK.match(char)


def _is_dollar_formula(inside: str, follows: str) -> bool:
    if inside[-1].isspace() or (follows and (follows in "({" or _is_of_word(follows))):
        return False
    return not (_AMOUNT.match(inside) or _SHELL.fullmatch(inside))


def block_end(text: str, start: int, opener: str, closer: str) -> int:
    """Where ``closer`` begins for the block opened at ``start``, which has no blank line; -1 when it is not closed."""
    begin = start + len(opener)
    end = text.find(closer, begin)
    inside = text[begin:end] if end >= 0 else ""
    return end if inside.strip() and "\n\n" not in inside and inside.count("\n") < LONGEST_BLOCK_LINES else -1


def formulas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where formulas stand in ``text[start:end]``, which has no fences, as far as one can tell without parsing it all."""
    blocks = {found.end() for found in BLOCK_BEGINS.finditer(text, start, end)}
    at = start
    while found := _STOP.search(text, at, end):
        at, mark = found.end(), found[0]
        if mark[0] == "`":
            closed = re.compile(rf"(?<!`){mark}(?!`)").search(text, at, end)
            at = closed.end() if closed and "\n\n" not in text[at : closed.start()] else at
            continue
        pair = opening(text, found.start())
        if pair is None:
            continue
        whole = block_end(text, found.start(), *pair) if found.start() in blocks else -1
        close = whole if 0 <= whole < end else formula_end(text, found.start(), *pair, end)
        if close >= 0:
            at = close + len(pair[1])
            yield found.start(), at
        else:
            at = found.start() + len(pair[0])


def flanking(before: str, after: str) -> tuple[bool, bool]:
    """Whether a run of asterisks between these two characters may open emphasis, and whether it may close it."""
    opens = not after.isspace() and not (_is_mark(after) and not _is_boundary(before))
    closes = not before.isspace() and not (_is_mark(before) and not _is_boundary(after))
    return opens, closes


def _is_mark(char: str) -> bool:
    return not CJK.match(char) and unicodedata.category(char)[0] in "PS"


def _is_boundary(char: str) -> bool:
    return char.isspace() or bool(CJK.match(char)) or unicodedata.category(char)[0] in "PS"
