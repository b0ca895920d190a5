"""A tool with files for the person, for a victim that needs one."""

from __future__ import annotations

from bot.core.tool import ToolContext, ToolResult
from bot.tools.registry import tool

TABLES = {"first.csv": "city,名字\nRome,罗马\n", "second.csv": "a,b\n1,2\n"}


@tool()
async def export_tables(context: ToolContext) -> ToolResult:
    """Write the tables into files."""
    context.workspace.mkdir(parents=True, exist_ok=True)
    paths = [context.workspace / name for name in TABLES]
    for path, content in zip(paths, TABLES.values(), strict=True):
        path.write_text(content, "utf-8")
    return ToolResult("They are in the files.", files=tuple(paths))
