"""Handles of results: by what name the whole of one can be read that a prompt has in short."""

from __future__ import annotations

import re
from typing import Final

_HANDLE: Final = re.compile(r"r([0-9]{1,18})")


def handle_of(row_id: int) -> str:
    """That of the result in this row of the transcript; "" for one that has no row."""
    return f"r{row_id}" if row_id else ""


def row_of(handle: str) -> int | None:
    """The row's id; None for what is no handle."""
    found = _HANDLE.fullmatch(handle.strip().strip("\"'"))
    return int(found[1]) if found else None


def pointing(text: str, handle: str) -> str:
    """A result in short, with where the whole of it is."""
    return f"{text}\n{_pointer(handle)}" if handle else text


def unpointed(text: str, handle: str) -> str:
    """The same without."""
    return text.removesuffix(f"\n{_pointer(handle)}") if handle else text


def _pointer(handle: str) -> str:
    return f'[This is only a part; read_more(handle="{handle}") reads on.]'
