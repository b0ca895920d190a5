"""The bounds of one turn, and how much of them its rows have used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.brain.progress import calls_of, text_of
from bot.brain.tokens import estimated_tokens
from bot.brain.turn import Turn
from bot.core.model import ModelRef
from bot.core.transcript import ResultRow, Row, StepRow, as_revised

CONTINUATIONS: Final = 3
RAISED: Final = 8
MOST_OUTPUT_TOKENS: Final = 64_000
"""An answer that was cut off goes on with eight times the limit, 8,192 to 64,000 tokens for the default of a model."""
NOTICE_SHARE: Final = 0.9
LITTLE_TOKENS: Final = 500
"""A round past the notice that adds less than this adds next to nothing; two of them end the turn."""
_ROUNDS: Final = 2
RUNNING_OUT: Final = (
    "About {left} tokens are left for this turn. Go on with what is still to be done, without summing up what was done."
)


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Bounds of one turn; ``seconds`` leaves out the time spent waiting for a person."""

    tool_calls: int = 25
    tokens: int = 200_000
    seconds: float = 900.0


def cuts_allowed(turn: Turn) -> int:
    """How often an answer goes on after the model's output limit cut it off. An API client that set a limit means it."""
    return 0 if turn.message.caller is not None and turn.message.caller.max_tokens else CONTINUATIONS


def with_raised_output(model: ModelRef, cuts: int, window_tokens: int) -> ModelRef:
    """The model with more room for its answer once that was cut off ``cuts`` times; at most half its window."""
    if not cuts:
        return model
    most = min(model.max_tokens * RAISED, MOST_OUTPUT_TOKENS, window_tokens // 2)
    return replace(model, max_tokens=max(model.max_tokens, most))


def tokens_spent(rows: Sequence[Row]) -> int:
    """By every model call of the turn: what it read and what it wrote."""
    return sum(map(_tokens, rows))


def running_out(rows: Sequence[Row], tokens: int) -> str:
    """What the model is told once, when nine tenths of the turn's ``tokens`` are spent; "" before and after."""
    used = tokens_spent(rows)
    told = any(isinstance(row.body, ResultRow) and _BEGINNING in row.body.notice for row in rows)
    return "" if told or used < tokens * NOTICE_SHARE else RUNNING_OUT.format(left=max(0, tokens - used))


def dwindles(rows: Sequence[Row], tokens: int) -> bool:
    """Whether the last rounds past the notice brought next to nothing: too few tokens of text, calls and results."""
    added: list[int] = []
    used = 0
    for row in as_revised(rows):
        used += _tokens(row)
        if isinstance(row.body, StepRow):
            if used >= tokens * NOTICE_SHARE:
                said = text_of(row.body) + "".join(f"{call.arguments}" for call in calls_of(row.body))
                added.append(estimated_tokens(said))
            else:
                added.clear()
        elif isinstance(row.body, ResultRow) and added and not row.body.error:
            added[-1] += estimated_tokens(row.body.text)
    last = added[-_ROUNDS:]
    return len(last) == _ROUNDS and max(last) < LITTLE_TOKENS


_BEGINNING: Final = RUNNING_OUT.partition("{")[0]


def _tokens(row: Row) -> int:
    return row.body.usage.input_tokens + row.body.usage.output_tokens if isinstance(row.body, StepRow) else 0
