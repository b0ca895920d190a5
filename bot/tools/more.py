"""Reading on in a result that was too long to be shown whole."""

from __future__ import annotations

import re
from typing import Final

from bot.core.errors import ToolFailed
from bot.core.tool import ToolContext
from bot.tools.registry import tool

PAGE_CHARS: Final = 8_000
"""Below what a result may have in a prompt, so that a page is never cut itself."""
AROUND_CHARS: Final = 300
_MOST_FOUND: Final = 20


@tool(untrusted_output=True)
async def read_more(handle: str, start: int = 0, find: str = "", *, context: ToolContext) -> str:
    """Read on in a tool's result that was too long and is only shown in part: its end names the handle.

    handle: the handle, such as r123
    start: the character to begin at, counted from 0
    find: words to look for from there on; what stands around each place is shown instead of a page
    """
    whole = await context.earlier(handle)
    if whole is None:
        raise ToolFailed(f"No result of this chat has the handle {handle!r}, or it is no longer kept.")
    if len(find) > AROUND_CHARS:
        raise ToolFailed("That is too long to look for: name a few words of it.")
    if not 0 <= start < max(1, len(whole)):
        raise ToolFailed(f"The result has {len(whole)} characters: start must be from 0 to {max(0, len(whole) - 1)}.")
    return _found(whole, find, start) if find.strip() else _page(whole, start)


def _page(whole: str, start: int) -> str:
    end = start + PAGE_CHARS
    if end < len(whole):
        end = max(whole.rfind("\n", start + PAGE_CHARS // 2, end) + 1, 0) or end
    page = whole[start:end]
    left = len(whole) - start - len(page)
    note = f"[{left} characters are left: start={start + len(page)}]" if left else "[This is the end.]"
    return f"[Characters {start} to {start + len(page)} of {len(whole)}]\n{page}\n{note}"


def _found(whole: str, find: str, start: int) -> str:
    """The first places, as many as a page holds; places so near that they were shown with the last are passed over."""
    wanted = re.compile(re.escape(find.strip()), re.IGNORECASE)
    shown: list[str] = []
    place, room = wanted.search(whole, start), PAGE_CHARS
    while place is not None and len(shown) < _MOST_FOUND:
        begin, end = max(0, place.start() - AROUND_CHARS), min(len(whole), place.end() + AROUND_CHARS)
        piece = f"[Characters {begin} to {end} of {len(whole)}]\n{whole[begin:end]}"
        if shown and len(piece) > room:
            break
        shown.append(piece)
        room -= len(piece)
        place = wanted.search(whole, end)
    if not shown:
        raise ToolFailed(f"{find!r} does not stand in the result from character {start} on.")
    note = f"[There is more of it: start={place.start()}]" if place is not None else "[That is all of it.]"
    return "\n".join((*shown, note))
