"""What a turn's models are offered: our tools, and beside them those that an API client brought along."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.brain.policy import Policy
from bot.brain.toolbox.box import Toolbox
from bot.brain.toolbox.finder import NAME as FINDER
from bot.brain.turn import Turn
from bot.core.tool import ToolCall, ToolSpec


class Offer:
    def __init__(self, toolbox: Toolbox, policy: Policy) -> None:
        self._toolbox, self._policy = toolbox, policy

    def ours(self, turn: Turn) -> Collection[str] | None:
        """The names of our tools that may be offered, None for all: an API client gets those that need no press, for nobody
        could be asked, and that are not named like one of its own."""
        caller = turn.message.caller
        if caller is None:
            return None
        theirs = {tool.name for tool in caller.tools}
        return {
            name
            for name, tool in self._toolbox.tools.items()
            if name not in theirs and self._policy.verdict(tool.spec)[0] == "allow"
        }

    def specs(self, turn: Turn, joined: Sequence[str], window_tokens: int) -> tuple[ToolSpec, ...]:
        """In the prompt's order. What ``find_tools`` finds might need a press, so an API client goes without it."""
        specs, ours = self._toolbox.specs(joined, window_tokens), self.ours(turn)
        if turn.message.caller is None or ours is None:
            return specs
        return (*(spec for spec in specs if spec.name in ours and spec.name != FINDER), *turn.message.caller.tools)

    def lasting(self, turn: Turn, specs: Sequence[ToolSpec]) -> int | None:
        """How many of ``specs`` stay when the next batch comes; None for all of them."""
        return self._toolbox.lasting(len(specs)) if turn.message.caller is None else None


def split(turn: Turn, calls: Sequence[ToolCall]) -> tuple[list[ToolCall], tuple[ToolCall, ...]]:
    """Our calls, and those of the API client's own tools (which end the turn and are handed back)."""
    caller = turn.message.caller
    names = {tool.name for tool in caller.tools} if caller else set()
    foreign = tuple(call for call in calls if call.name in names and not call.invalid)
    return [call for call in calls if call not in foreign], foreign
