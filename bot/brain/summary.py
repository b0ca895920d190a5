"""What a conversation held before the turns that stay in place: which summary holds, what is due for the next, and which
exact words it must not lose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.brain.fencing import fenced
from bot.brain.history import by_turn
from bot.brain.past import MOST, RECENT, answerable, front_in
from bot.brain.progress import calls_of, text_of
from bot.brain.routing.course import public
from bot.brain.tokens import estimated_tokens
from bot.core.text import shortened
from bot.core.transcript import Row, StepRow, SummaryRow, UserRow, as_revised

AHEAD: Final = 5
"""So many turns before the front moves on the summary of what it will leave behind is made."""
LEAST_TURNS: Final = 4
SLICE_TOKENS: Final = 8_000
"""A longer conversation is summed up in several slices, the oldest first."""
EXACT_TOKENS: Final = 400
_HEAD_TOKENS: Final = 8
_SAID_CHARS: Final = 3_000
_EXACT_CHARS: Final = 120

_EXACT: Final = re.compile(
    r"https?://[^\s<>\"'）】]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.-]+"
    r"|(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@+-]+[/\\])*[\w.@+-]+"
    r"|(?<![\w-])[\w-]{1,64}\.[a-z]{2,5}\b"
    r"|(?<![\w-])(?=[\w-]{1,63}\d)[A-Za-z][\w-]*\w\b"
    r"|\b\d[\d.,:/-]*\d\b"
    r"|`[^`\n]{2,60}`|\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|«[^»\n]{2,60}»|「[^」\n]{1,60}」|《[^》\n]{1,60}》"
)


@dataclass(frozen=True, slots=True)
class Due:
    """``source`` is what is to be summed up: the summary so far and the turns after it, up to the row ``upto``."""

    source: str
    upto: int


def summary_before(rows: Sequence[Row], front: int) -> str:
    """The newest that goes no further than to the row ``front``, as prompts have it; "" for none. One that was made ahead of
    time waits for the front."""
    made = (row.body for row in reversed(rows) if isinstance(row.body, SummaryRow))
    found = next((body for body in made if body.upto <= front), None)
    return fenced("summary", found.text) if found is not None else ""


def due(rows: Sequence[Row]) -> Due | None:
    """What is to be summed up next in a conversation with these rows, None for nothing yet. Turns that had to stay nearby
    are left out, for a summary goes wherever the history goes."""
    turns = answerable(by_turn(rows))
    upto = _coming_front(turns, front_in(rows))
    last = next((row.body for row in reversed(rows) if isinstance(row.body, SummaryRow)), None)
    begin = last.upto if last is not None else 0
    told = {row.id for row in public(rows)}
    new = [turn for turn in turns if begin <= turn[0].id < upto and turn[0].id in told]
    if len(new) < LEAST_TURNS:
        return None
    parts = [fenced("summary", last.text)] if last is not None else []
    left = SLICE_TOKENS
    for turn in new:
        said = _said(turn)
        left -= estimated_tokens(said)
        if left < 0 and turn is not new[0]:
            return Due("\n\n".join(parts), turn[0].id)
        parts.append(said)
    return Due("\n\n".join(parts), upto)


def _coming_front(turns: Sequence[Sequence[Row]], front: int) -> int:
    """Where the history will begin once one more turn than the most has come, if that is soon; else where it begins now."""
    kept = [turn[0].id for turn in turns if turn[0].id >= front]
    return kept[MOST + 1 - RECENT] if len(kept) > MOST - AHEAD else front


def _said(turn: Sequence[Row]) -> str:
    """What was said, and which tools were called; what they found is in what was said about it."""
    lines = []
    for row in as_revised(turn):
        if isinstance(row.body, UserRow):
            names = "".join(f" [file: {file.name}]" for file in row.body.files)
            lines.append(f"Person: {shortened(row.body.text, _SAID_CHARS)}{names}")
        elif isinstance(row.body, StepRow):
            lines += [f"Assistant: {shortened(text, _SAID_CHARS)}"] if (text := text_of(row.body).strip()) else []
            lines += [f"[called {call.name}]" for call in calls_of(row.body)]
    return "\n".join(lines)


def with_exact(summary: str, source: str) -> str:
    """The summary with the addresses, paths, ids, numbers and quoted words of the source that it lost: the last ones, as far
    as there is room, which is little, and never more than the summary saves."""
    left = min(EXACT_TOKENS, estimated_tokens(source) - estimated_tokens(summary) - _HEAD_TOKENS)
    lost: list[str] = []
    for words in _exact(source):
        if words not in summary and words not in lost:
            left -= estimated_tokens(words) + 1
            if left < 0:
                break
            lost.append(words)
    return f"{summary.strip()}\n\nAlso named: {'; '.join(reversed(lost))}" if lost else summary.strip()


def _exact(source: str) -> Iterator[str]:
    """The last first."""
    found = [match.group().rstrip(".,;:!?").strip() for match in _EXACT.finditer(source)]
    yield from (words for words in reversed(found) if 1 < len(words) <= _EXACT_CHARS)
