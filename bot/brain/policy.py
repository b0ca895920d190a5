"""Which calls may run at once, which must ask, and which never run: ``tools.approve`` of the config."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal

from bot.core.tool import Effect, ToolSpec

Verdict = Literal["allow", "ask", "deny"]


class Policy:
    """The first pattern that matches the tool's name decides.

    Tools without an effect on the world (``READ``) are not what a bare ``*: ask`` is about: they ask only when a
    narrower pattern says so. A tool that no pattern names asks if it has an effect.
    """

    def __init__(self, approve: Mapping[str, Verdict]) -> None:
        self._approve = dict(approve)

    def verdict(self, tool: ToolSpec) -> tuple[Verdict, str]:
        """The verdict and the pattern that decided ("" when none did)."""
        for pattern, verdict in self._approve.items():
            if fnmatchcase(tool.name, pattern) and not (
                pattern == "*" and verdict == "ask" and tool.effect is Effect.READ
            ):
                return verdict, pattern
        return ("allow" if tool.effect is Effect.READ else "ask"), ""
