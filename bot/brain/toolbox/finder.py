"""The tool that finds tools: what it names can be called at the next step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from bot.core.text import clipped
from bot.core.tool import Effect, ToolContext, ToolResult, ToolSpec

NAME: Final = "find_tools"
FOUND: Final = 8
"""So many are named at once, and become hot."""
_ABOUT_CHARS: Final = 200
_QUERY_CHARS: Final = 500

SPEC: Final = ToolSpec(
    NAME,
    "Look for tools that are not listed here: there are many more. Use it before saying that something cannot be done."
    " The tools it names can be called in the next step.",
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "what the tool should do, in a few words: its deed and its object",
            }
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    Effect.READ,
)

Find = Callable[[str, int], Awaitable[Sequence[ToolSpec]]]


class FindTools:
    """Implements ``bot.core.ports.Tool``. ``find`` gives the nearest tools to some words, at most so many."""

    spec: Final = SPEC

    def __init__(self, find: Find) -> None:
        self._find = find

    def check(self, args: Mapping[str, Any]) -> str:
        query = args.get("query")
        if not isinstance(query, str) or not query.strip() or set(args) != {"query"}:
            return f"Wrong arguments for {NAME}: it takes query, a text of a few words, and nothing else."
        return ""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolResult:
        found = await self._find(str(args["query"])[:_QUERY_CHARS], FOUND)
        if not found:
            return ToolResult("No tool fits. Try other words once, or answer without one.")
        lines = [f"- {spec.name}: {clipped(spec.description, _ABOUT_CHARS)}" for spec in found]
        told = "\n".join(("Among your tools from the next step on:", *lines))
        return ToolResult(told, joins=tuple(spec.name for spec in found))
