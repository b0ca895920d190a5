"""Whether a store that could not be written can be written again, without waiting for somebody's next message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.core.errors import StoreError
from bot.core.ports import Clock, Notes

LOOK_SECONDS: Final = 15.0
KEY: Final = "written"


async def watch_store(
    clock: Clock, notes: Notes, troubled: Callable[[], bool], told: Callable[[StoreError | None], None]
) -> None:
    """Until cancelled. While it is ``troubled``, a small note is written now and then; ``told`` hears how that went."""
    while True:
        await clock.sleep(LOOK_SECONDS)
        if not troubled():
            continue
        try:
            await notes.write(KEY, f"{clock.now():.0f}")
        except StoreError as error:
            told(error)
        else:
            told(None)
