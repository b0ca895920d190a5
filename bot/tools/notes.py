"""The notes file in the workspace."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.core.errors import ToolFailed
from bot.core.tool import Effect, ToolContext
from bot.tools.registry import tool

FILE_NAME = "notes.md"
MAX_NOTE_CHARS = 4000


def _append(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


@tool(effect=Effect.WRITE, idempotent=False, own_reach=True)
async def note_write(text: str, *, context: ToolContext) -> str:
    """Add a line to the person's notes file. Use it when they ask to note, write down or jot something.

    text: what to write, in the person's own words
    """
    note = " ".join(text.split())
    if not note:
        raise ToolFailed("The note is empty; say what to write.")
    if len(note) > MAX_NOTE_CHARS:
        raise ToolFailed(f"The note is longer than {MAX_NOTE_CHARS} characters; shorten it.")
    moment = datetime.fromtimestamp(context.now, UTC).astimezone(ZoneInfo(context.zone or "UTC"))
    try:
        await asyncio.to_thread(_append, context.workspace / FILE_NAME, f"- {moment:%Y-%m-%d %H:%M} {note}\n")
    except OSError as error:
        raise ToolFailed(f"The notes file cannot be written ({error.strerror}).") from error
    return f"Noted in {FILE_NAME}: {note}"
