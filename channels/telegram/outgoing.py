"""Files on their way into a chat: as a photo where Telegram takes it for one, else as a document."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from bot.core.errors import FileUnreadable, TooLong
from bot.core.view import OutFile
from bot.outbox.pixels import size_of
from channels.telegram.wire import attached

PHOTO_BYTES: Final = 10 * 1024 * 1024
DOCUMENT_BYTES: Final = 50 * 1024 * 1024
PHOTO_SIDES_PIXELS: Final = 10_000
"""What width and height of a photo may add up to (Bot API, sendPhoto)."""
PHOTO_RATIO: Final = 20
SLOWEST_BYTES_PER_SECOND: Final = 100_000
CALL_SECONDS: Final = 30.0


async def ways_of(file: OutFile) -> list[tuple[str, dict[str, Any]]]:
    """How it may be sent, the best way first: a method and its parameters. Raises ``ChannelError`` for a file that is
    gone, empty or too large for any way."""
    try:
        content = await asyncio.to_thread(Path(file.path).read_bytes)
    except OSError:
        raise FileUnreadable("The file is gone.") from None
    if not content:
        raise FileUnreadable("The file is empty.")
    if len(content) > DOCUMENT_BYTES:
        raise TooLong("The file is too large.")
    seconds = CALL_SECONDS + len(content) / SLOWEST_BYTES_PER_SECOND
    ways = ("photo", "document") if is_photo(content) else ("document",)
    return [(f"send{way.capitalize()}", {way: attached(file.name, content), "seconds": seconds}) for way in ways]


def is_photo(content: bytes) -> bool:
    """Whether Telegram takes it for a photo. It has sizes of its own for them; what does not fit goes as it is."""
    size = size_of(content)
    if size is None or len(content) > PHOTO_BYTES:
        return False
    return min(size) > 0 and sum(size) <= PHOTO_SIDES_PIXELS and max(size) <= PHOTO_RATIO * min(size)
