"""What a terminal says of a file that came with an answer: its name, its size, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.cli.harmless import one_line
from bot.core.texts import say


def told(file: Mapping[str, Any], language: str) -> str:
    """``file`` is as ``channels.terminal.frames`` has it."""
    name, path, size = one_line(file["name"]), one_line(file["path"]), file.get("size", 0)
    if not size:
        return say("terminal_file_gone", language, name=name)
    return say("terminal_file", language, name=name, size=size_of(size), path=path)


def size_of(size_bytes: int) -> str:
    """870 B, 45 KB, 1.2 MB, 20 MB"""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size, unit = (size_bytes / 1024, "KB") if size_bytes < 1000 * 1024 else (size_bytes / 1024**2, "MB")
    return f"{size:.1f} {unit}" if unit == "MB" and size < 10 else f"{size:.0f} {unit}"
