"""Every way a turn can end. A turn always ends in one of these, never in an exception."""

from __future__ import annotations

import enum


class StopReason(enum.StrEnum):
    ANSWERED = "answered"
    STOPPED = "stopped"
    TOOL_INTERRUPTED = "tool_interrupted"
    HOOK_BLOCKED = "hook_blocked"
    TOOL_LIMIT = "tool_limit"
    LOOP = "loop"
    TOKEN_BUDGET = "token_budget"
    DIMINISHING = "diminishing"
    MONEY = "money"
    TIME_LIMIT = "time_limit"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"
    COMPACTED_OVERFLOW = "compacted_overflow"
    EMPTY = "empty"
    UNREADABLE = "unreadable"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    NO_MODEL = "no_model"
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_EXPIRED = "approval_expired"
    CALLER_TOOLS = "caller_tools"
    COMMAND = "command"
    PARKED = "parked"
    INTERNAL_ERROR = "internal_error"

    @property
    def is_failure(self) -> bool:
        """True where the person did not get what they asked for, through no wish of theirs."""
        return self in _FAILURES


_FAILURES = frozenset(
    {
        StopReason.HOOK_BLOCKED,
        StopReason.TOOL_LIMIT,
        StopReason.LOOP,
        StopReason.TOKEN_BUDGET,
        StopReason.DIMINISHING,
        StopReason.MONEY,
        StopReason.TIME_LIMIT,
        StopReason.CONTEXT_OVERFLOW,
        StopReason.COMPACTED_OVERFLOW,
        StopReason.EMPTY,
        StopReason.UNREADABLE,
        StopReason.PROVIDER_UNAVAILABLE,
        StopReason.NO_MODEL,
        StopReason.PARKED,
        StopReason.INTERNAL_ERROR,
    }
)
