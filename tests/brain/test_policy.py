"""Which rule decides for which tool."""

from __future__ import annotations

import pytest

from bot.brain.policy import Policy
from bot.core.tool import Effect, ToolSpec


def spec(name: str, effect: Effect) -> ToolSpec:
    return ToolSpec(name, "", {}, effect)


@pytest.mark.parametrize(
    ("rules", "name", "effect", "verdict"),
    [
        ({"*": "ask"}, "now", Effect.READ, "allow"),
        ({"*": "ask"}, "note_write", Effect.WRITE, "ask"),
        ({}, "note_write", Effect.WRITE, "ask"),
        ({"note_*": "allow", "*": "ask"}, "note_write", Effect.WRITE, "allow"),
        ({"*": "ask", "note_*": "allow"}, "note_write", Effect.WRITE, "ask"),
        ({"now": "ask", "*": "allow"}, "now", Effect.READ, "ask"),
        ({"*": "deny"}, "now", Effect.READ, "deny"),
        ({"web_*": "allow", "*": "ask"}, "web_fetch", Effect.SEND, "allow"),
        ({"WEB_*": "allow"}, "web_fetch", Effect.SEND, "ask"),
    ],
)
def test_the_first_matching_pattern_decides(rules: dict[str, str], name: str, effect: Effect, verdict: str) -> None:
    assert Policy(rules).verdict(spec(name, effect))[0] == verdict  # type: ignore[arg-type]
