"""Results of tools too long for a prompt: in short in the transcript, whole below the data folder, read on by a handle."""

from __future__ import annotations

from typing import Final

from bot.brain.handles import row_of
from bot.brain.shrink import shrunk
from bot.core.address import Address
from bot.core.text import storable
from bot.store.store import Store

RESULT_CHARS: Final = 10_000
"""What one result may have in a prompt."""
TURN_CHARS: Final = 80_000
"""What all results of one turn may have together, about 20,000 tokens; beyond, each has ``FEW_CHARS``."""
FEW_CHARS: Final = 2_000
MOST_CHARS: Final = 4_000_000
"""Of a longer result the rest is not kept."""


def room_for(said_chars: int) -> int:
    """Characters for the next result of a turn whose results have ``said_chars`` so far."""
    return min(RESULT_CHARS, max(FEW_CHARS, TURN_CHARS - said_chars))


class KeptResults:
    """Raises ``StoreError``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @staticmethod
    def bounded(text: str, said_chars: int) -> tuple[str, str]:
        """What the transcript has of a result, and the whole of it, "" where that is all of it."""
        whole, room = storable(text)[:MOST_CHARS], room_for(said_chars)
        return (whole, "") if len(whole) <= room else (shrunk(whole, room), whole)

    async def keep(self, whole: str) -> str:
        """Its path below the data folder; "" for nothing."""
        return await self._store.files.keep(whole.encode()) if whole else ""

    async def read(self, address: Address, handle: str) -> str | None:
        """Implements ``bot.core.tool.Earlier`` for one address: of other chats' results nothing can be read."""
        row = row_of(handle)
        result = await self._store.transcript.result_at(address, row) if row is not None else None
        if result is None or not result.whole:
            return None if result is None else result.text
        content = await self._store.files.read(result.whole)
        return None if content is None else content.decode()
