"""What a conversation held before the turns that stay in place: which summary holds, what is due for the next, and which
exact words it must not lose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.brain.fencing import fenced
from bot.brain.history import by_turn, past_messages
from bot.brain.past import MOST, RECENT, Turns, answerable, front_in, front_of
from bot.brain.progress import calls_of, text_of
from bot.brain.routing.course import public
from bot.brain.shrink import LEAST_CHARS
from bot.brain.tokens import MESSAGE_TOKENS, estimated_tokens
from bot.core.model import CallBlock, ResultBlock, TextBlock
from bot.core.text import shortened
from bot.core.transcript import Row, StepRow, SummaryRow, UserRow, as_revised

AHEAD: Final = 5
"""So many turns before the front moves on the summary of what it will leave behind is made."""
LEAST_TURNS: Final = 4
SLICE_TOKENS: Final = 8_000
"""A longer conversation is summed up in several slices, the oldest first."""
FULL_SHARE: Final = 0.7
"""Of what the history may have of the window: beyond it, what is oldest is summed up however few turns there are."""
KEPT_SHARE: Final = 0.35
"""So much of it stays then, """
LAST_TURNS: Final = 3
"""and so many turns however long they are."""
WORTH_SHARE: Final = 0.2
"""Less is not worth a summary, nor a prompt that begins differently."""
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
    """``source`` is what is to be summed up: the summary so far and the turns after it, up to the row ``upto``. ``mark`` is
    the same for as long as the conversation only grows, and another once it has moved on."""

    source: str
    upto: int
    mark: int


def summary_before(rows: Sequence[Row], front: int) -> str:
    """The newest that goes no further than to the row ``front``, as prompts have it; "" for none. One that was made ahead of
    time waits for the front."""
    made = (row.body for row in reversed(rows) if isinstance(row.body, SummaryRow))
    found = next((body for body in made if body.upto <= front), None)
    return fenced("summary", found.text) if found is not None else ""


def next_front(rows: Sequence[Row], turns: Turns, budget_tokens: int | None) -> int:
    """Where the history of the next turn begins, given the rows before it and those of their ``turns`` that are in
    prompts: where it did, until there are too many turns, or too long ones and a summary of what goes."""
    front = front_of(turns, front_in(rows))
    ready = next((row.body.upto for row in reversed(rows) if isinstance(row.body, SummaryRow)), 0)
    return ready if ready > front and _is_full(turns, front, budget_tokens) else front


def is_crowded(rows: Sequence[Row], budget_tokens: int | None) -> bool:
    """Whether so few turns take so much of the budget that something is to be summed up."""
    front = front_in(rows)
    return _roomy_front(answerable(by_turn(rows)), front, budget_tokens) > front


def due(rows: Sequence[Row], budget_tokens: int | None = None, slice_tokens: int = SLICE_TOKENS) -> Due | None:
    """What is to be summed up next in a conversation with these rows, None for nothing yet. Turns that had to stay nearby
    are left out, for a summary goes wherever the history goes. ``budget_tokens`` is what the history may have of a prompt,
    None where its length is no reason."""
    turns, front = answerable(by_turn(rows)), front_in(rows)
    coming, roomy = _coming_front(turns, front), _roomy_front(turns, front, budget_tokens)
    upto = max(coming, roomy)
    last = next((row.body for row in reversed(rows) if isinstance(row.body, SummaryRow)), None)
    begin = last.upto if last is not None else 0
    told = {row.id for row in public(rows)}
    new = [turn for turn in turns if begin <= turn[0].id < upto and turn[0].id in told]
    if not new or (len(new) < LEAST_TURNS and roomy <= front):
        return None
    parts = [fenced("summary", last.text)] if last is not None else []
    left = slice_tokens
    for turn in new:
        said = _said(turn)
        left -= estimated_tokens(said)
        if left < 0 and turn is not new[0]:
            return Due("\n\n".join(parts), turn[0].id, coming)
        parts.append(said)
    return Due("\n\n".join(parts), upto, coming)


def _coming_front(turns: Sequence[Sequence[Row]], front: int) -> int:
    """Where the history will begin once one more turn than the most has come, if that is soon; else where it begins now."""
    kept = [turn[0].id for turn in turns if turn[0].id >= front]
    return kept[MOST + 1 - RECENT] if len(kept) > MOST - AHEAD else front


def _is_full(turns: Turns, front: int, budget_tokens: int | None) -> bool:
    kept = [turn for turn in turns if turn[0].id >= front]
    return budget_tokens is not None and sum(map(_weight, kept)) > budget_tokens * FULL_SHARE


def _roomy_front(turns: Turns, front: int, budget_tokens: int | None) -> int:
    """Where the history would begin to have room again; ``front`` where it has, or where that would bring little."""
    if budget_tokens is None or not _is_full(turns, front, budget_tokens):
        return front
    kept = [turn for turn in turns if turn[0].id >= front]
    sizes = [*map(_weight, kept)]
    first, left = len(kept), budget_tokens * KEPT_SHARE
    while first and (sizes[first - 1] <= left or len(kept) - first < LAST_TURNS):
        first -= 1
        left -= sizes[first]
    return kept[first][0].id if sum(sizes[:first]) >= budget_tokens * WORTH_SHARE else front


def _weight(turn: Sequence[Row]) -> int:
    """About the tokens of a turn in later prompts, once the results of tools are cut, which comes before any summary."""
    total = 0
    for message in past_messages(turn, SLICE_TOKENS):
        total += MESSAGE_TOKENS
        for block in message.content:
            match block:
                case TextBlock(text=text):
                    total += estimated_tokens(text)
                case ResultBlock(text=text):
                    total += estimated_tokens(text[:LEAST_CHARS])
                case CallBlock(call=call):
                    total += estimated_tokens(f"{call.name}{dict(call.arguments)}")
    return total


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
