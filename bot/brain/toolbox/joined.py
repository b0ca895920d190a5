"""What has joined a conversation, read from its rows and from nothing else: skills, and the tools that became hot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.brain.progress import calls_of
from bot.core.transcript import JoinedRow, ResultRow, Row, StepRow

MOST_JOINED: Final = 10
"""Tools of one conversation's prompt beside those that every prompt has."""


def joined_in(rows: Sequence[Row]) -> JoinedRow:
    """What has joined the conversation of these rows: by a turn's beginning, or by the result of a call."""
    joined, used = JoinedRow(), dict[str, int]()
    for row in rows:
        match row.body:
            case JoinedRow() as body:
                joined = body
            case StepRow() as step:
                used |= {call.name: row.id for call in calls_of(step)}
            case ResultRow(joins=new) if new:
                joined = replace(joined, tools=with_new(joined.tools, new, used))
    return joined


def used_in(rows: Sequence[Row]) -> dict[str, int]:
    """The tools that were called, each with the row of its last call, in the order of these."""
    used: dict[str, int] = {}
    for row in rows:
        if isinstance(row.body, StepRow):
            for call in calls_of(row.body):
                used.pop(call.name, None)
                used[call.name] = row.id
    return used


def with_new(hot: Sequence[str], new: Sequence[str], used: Mapping[str, int]) -> tuple[str, ...]:
    """``hot`` with ``new`` behind it. Where that is too much, those make room that were never called, the last first, so that
    as much as can be of a cached beginning holds; then those that were not called for the longest time."""
    wanted = tuple(dict.fromkeys(new))[:MOST_JOINED]
    fresh = [name for name in wanted if name not in hot]
    idle = sorted((name for name in reversed(hot) if name not in wanted), key=lambda name: used.get(name, -1))
    leaving = set(idle[: max(0, len(hot) + len(fresh) - MOST_JOINED)])
    return (*(name for name in hot if name not in leaving), *fresh)
