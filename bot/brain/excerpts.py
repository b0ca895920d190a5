"""What a prompt has of turns that are not in place any more: a few of them in short, and what was changed since."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from bot.brain.progress import text_of
from bot.brain.tokens import estimated_tokens
from bot.core.text import clipped
from bot.core.transcript import MarkRow, ReplyRow, ResultRow, Row, StepRow, UserRow, as_revised
from bot.memory.nearness import WordIndex, words

RELATED: Final = 3
IMPORTANT: Final = 3
CHANGES: Final = 3
EXCERPT_TOKENS: Final = 1_200
_SAID_CHARS: Final = 400
_CHANGE_CHARS: Final = 160
_COMMON_SHARE: Final = 3
"""A word that every third turn has tells nothing of what is meant."""

_IMPORTANT: Final = re.compile(
    r"\b(?:remember|don'?t forget|do not forget|keep in mind|note that|for the record|we (?:have )?(?:decided|agreed)|important)\b"
    r"|记住|记下|别忘|不要忘|请注意|决定了|说好了|重要",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(r"/(?:settings|model|skill)(?:@\w+)?\s+\S")

Turns = Sequence[Sequence[Row]]


def earlier(turns: Turns, question: str, zone: str, tokens: int = EXCERPT_TOKENS) -> str:
    """Of turns that are not in place any more, in short: what was called important or marked as such, and what has to do
    with ``question``."""
    if not turns or tokens <= 0:
        return ""
    said = [_said(turn) for turn in turns]
    chosen = {index for index, turn in enumerate(turns) if _is_important(turn)}
    chosen = set(sorted(chosen)[-IMPORTANT:]) | set(_related(said, question))
    lines: list[str] = []
    left = min(tokens, EXCERPT_TOKENS)
    for index in sorted(chosen, reverse=True):
        line = f"[{_moment(turns[index], zone)}] {said[index]}"
        left -= estimated_tokens(line)
        if left < 0:
            break
        lines.insert(0, line)
    return "\n".join(lines)


def changed(turns: Turns, since: int, zone: str) -> str:
    """The last commands from the row ``since`` on that set something, with what was answered: commands are no part of the
    history, but what people say afterwards may be about them."""
    found = [line for turn in turns if turn[0].id >= since for line in _changes(turn, zone)]
    return "\n".join(found[-CHANGES:])


def _changes(turn: Sequence[Row], zone: str) -> Iterator[str]:
    asked = next((row.body.text for row in turn if isinstance(row.body, UserRow)), "")
    told = next((row.body.text for row in turn if isinstance(row.body, ReplyRow)), "")
    if told and _CHANGE.match(asked):
        yield f"[{_moment(turn, zone)}] {clipped(asked, _CHANGE_CHARS)} → {clipped(told, _CHANGE_CHARS)}"


def _moment(turn: Sequence[Row], zone: str) -> str:
    return f"{datetime.fromtimestamp(turn[0].at, UTC).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def _related(said: Sequence[str], question: str) -> list[int]:
    """The turns nearest to the question by the words that are rare among them."""
    index = WordIndex(said)
    most = max(2, len(said) // _COMMON_SHARE)
    rare = " ".join(word for word in words(question) if 0 < index.holders(word) <= most)
    scores = index.scores(rare)
    best = sorted(range(len(said)), key=lambda number: scores[number], reverse=True)[:RELATED]
    return [number for number in best if scores[number] > 0]


def _is_important(turn: Sequence[Row]) -> bool:
    marks = {row.body.mark: row.body.holds for row in turn if isinstance(row.body, MarkRow)}
    return any(marks.values()) or any(
        (isinstance(row.body, UserRow) and _IMPORTANT.search(row.body.text) is not None)
        or (isinstance(row.body, ResultRow) and row.body.outcome in ("denied", "interrupted"))
        for row in as_revised(turn)
    )


def _said(turn: Sequence[Row]) -> str:
    """What the person and the assistant said; nothing from outside."""
    rows = as_revised(turn)
    asked = " ".join(row.body.text for row in rows if isinstance(row.body, UserRow))
    told = " ".join(text_of(row.body) for row in rows if isinstance(row.body, StepRow))
    return f"Person: {clipped(asked, _SAID_CHARS)}\nAssistant: {clipped(told, _SAID_CHARS)}"
