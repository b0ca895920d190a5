"""Which of the turns before this one its prompt has whole and in place.

The front of what stays in place must not move with every turn, or no vendor's cache would hit. It is written with the
turn's route, stays while the turns behind it are not too many, and then moves on by a good piece at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from bot.brain.history import size_of, without_thinking
from bot.brain.results import fitted, snipped
from bot.core.model import Message
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, ReplyRow, RouteRow, Row, UserRow

RECENT: Final = 10
"""So many turns are always there, if they fit."""
MOST: Final = 22
"""So many at most; beyond, the front moves on to the last ``RECENT``."""
REACH: Final = 4
"""Where fewer fit, the front is the one of so many turns that has the lowest hash: it stays until it is out of reach."""
RESULTS_SHARE: Final = 4

Turns = Sequence[Sequence[Row]]


def answerable(turns: Turns, again: str = "") -> list[Sequence[Row]]:
    """Those that belong into a prompt.

    A turn that was set aside is left out: what it holds may be what breaks the process. So is one that was asked once
    more, or is now (``again``): its answer was not wanted. And so is a command, and what the look back cut off.
    """
    asked_again = {again, *(row.body.again for turn in turns for row in turn if isinstance(row.body, UserRow))}
    return [turn for turn in turns if turn[0].turn not in asked_again and _belongs(turn)]


def _belongs(turn: Sequence[Row]) -> bool:
    bodies = [row.body for row in turn]
    if not any(isinstance(body, UserRow) for body in bodies) or any(isinstance(body, ReplyRow) for body in bodies):
        return False
    return not any(isinstance(body, EndRow) and body.reason is StopReason.PARKED for body in bodies)


def front_in(rows: Sequence[Row]) -> int:
    """Where the history of the last turn of these rows began; 0 for at the beginning."""
    return next((row.body.front for row in reversed(rows) if isinstance(row.body, RouteRow)), 0)


def front_of(turns: Turns, before: int) -> int:
    """The id of the row at which what stays in place begins, given where it began for the turn ``before``."""
    kept = [turn for turn in turns if turn[0].id >= before]
    if len(kept) > MOST:
        kept = kept[-RECENT:]
    return kept[0][0].id if kept else before


def begin(turns: Turns, size: Callable[[int], int], budget_tokens: int, front: int = 0) -> int:
    """The index of the first turn that stays whole and in place, not before the row ``front``; ``size`` of a turn by its
    index, in tokens. A turn is kept or left out as one, so that calls and their results are never parted."""
    earliest = next((index for index, turn in enumerate(turns) if turn[0].id >= front), len(turns))
    left, first = budget_tokens, len(turns)
    while first > earliest:
        left -= size(first - 1)
        if left < 0:
            break
        first -= 1
    if first == earliest:
        return earliest
    last = first + min(REACH, len(turns) - first - 1)
    return min(range(first, last + 1), key=lambda index: _hash(turns[index][0].turn), default=first)


@dataclass(frozen=True, slots=True)
class InPlace:
    """The turns from the index ``start`` on, as messages."""

    start: int
    messages: list[Message]


def packed(
    turns: Turns, made: Callable[[int], list[Message]], front: int, most: int, mine: list[Message], room: int
) -> tuple[InPlace, list[Message]]:
    """As much of the history behind ``front`` as fits into ``most`` tokens, and the messages of the turn itself, in ``room``
    tokens together. ``made`` has the messages of a turn by its index.

    Where it is too much, older results of tools are cut first, then the newest ones to a ``RESULTS_SHARE`` of the room, then
    older turns are left out, then the newest results are cut to what is left. What the turn has said before is not the
    same any more then, and its reasoning, which is bound to it, goes.
    """
    past = _in_place(turns, made, front, most)
    if _size(past.messages) + _size(mine) <= room:
        return past, mine
    mine = fitted(without_thinking(mine), room - _size(past.messages), newest=room // RESULTS_SHARE)
    past = _in_place(turns, made, front, min(most, max(0, room - _size(mine))))
    return past, fitted(mine, room - _size(past.messages))


def _in_place(turns: Turns, made: Callable[[int], list[Message]], front: int, budget: int) -> InPlace:
    """Whole, or with the results of tools in short, or of those as many turns as fit."""
    earliest, start = begin(turns, lambda _: 0, 0, front), len(turns)
    form = made
    for form in (made, cache(lambda index: snipped(made(index)))):
        start = begin(turns, _sizes(form), budget, front)
        if start == earliest:
            break
    return InPlace(start, [message for index in range(start, len(turns)) for message in form(index)])


def _size(messages: Sequence[Message]) -> int:
    return sum(map(size_of, messages))


def _sizes(form: Callable[[int], list[Message]]) -> Callable[[int], int]:
    return lambda index: _size(form(index))


def _hash(turn: str) -> str:
    return hashlib.sha256(turn.encode()).hexdigest()
