"""What ``/stop`` ends: the turns of whoever says it, and everybody's where an owner does."""

from __future__ import annotations

from bot.brain.turn import Turn
from bot.core.stop import StopReason
from bot.inbox.commands import Stopped
from bot.inbox.gate import Gate
from bot.inbox.lanes import Lanes
from bot.store.inbox import InboxRows


async def stop_others(turn: Turn, lanes: Lanes, gate: Gate, inbox: InboxRows, now: float) -> Stopped:
    """End what runs and what waits where ``turn`` said it; ``now`` is Unix time."""
    all_of_them = gate.is_owner(turn.sender)
    mine = turn.sender.identity
    waiting = lanes.withdraw_all(turn.address, lambda message: all_of_them or message.sender.identity == mine)
    for row in waiting:
        await inbox.finish(row.id, StopReason.STOPPED.value, now)
    stopped = lanes.stop(
        turn.address, lambda other: other.id != turn.id and (all_of_them or other.sender.identity == mine)
    )
    if stopped or waiting:
        return "stopped"
    return "stop_not_yours" if lanes.runs(turn.address, lambda other: other.id != turn.id) else "nothing"
