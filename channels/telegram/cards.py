"""Questions that wait in groups: a group that moves leaves its messages behind, and nobody could answer them there."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.ports import Notes
from bot.core.view import Part, Ref
from bot.outbox.fold import open_cards

log = logging.getLogger(__name__)

NOTE: Final = "sent again"


@dataclass(frozen=True, slots=True)
class Waiting:
    to: Address
    ref: Ref
    part: Part


class Cards:
    """What waits where. A part that was sent again in the new place is found there by the ref it had before, until
    whoever shows it has been told the new one; that outlives the process."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._waiting: dict[str, Waiting] = {}
        self._again: dict[str, str] | None = None

    async def shown(self, to: Address, before: Ref | None, ref: Ref, part: Part) -> None:
        """The platform shows ``part`` as ``ref``, and this is known of it to whoever called it ``before``."""
        if before is not None and (again := await self._sent_again()).pop(_key(to, before), ""):
            await self._keep(again)
        if not part.final and open_cards(part.view.cards):
            self._waiting[part.nonce] = Waiting(to, ref, part)
        else:
            self._waiting.pop(part.nonce, None)

    def gone(self, part: Part) -> None:
        """Whoever shows it knows that it has to be sent again."""
        self._waiting.pop(part.nonce, None)

    def left_in(self, chat: str) -> Sequence[Waiting]:
        return [waiting for waiting in self._waiting.values() if waiting.to.chat == chat]

    def waits(self, waiting: Waiting) -> bool:
        """Whether it still does, in the same place."""
        return self._waiting.get(waiting.part.nonce) is waiting

    async def sent_again(self, waiting: Waiting, ref: Ref) -> None:
        again = await self._sent_again()
        again[_key(waiting.to, waiting.ref)] = ref.message_id
        await self._keep(again)
        self._waiting[waiting.part.nonce] = Waiting(waiting.to, ref, waiting.part)

    async def now(self, to: Address, ref: Ref) -> Ref:
        """Where what was shown as ``ref`` stands now."""
        return Ref((await self._sent_again()).get(_key(to, ref), ref.message_id))

    async def _sent_again(self) -> dict[str, str]:
        if self._again is None:
            told = json.loads(await self._notes.read(NOTE) or "{}")
            self._again = self._again if self._again is not None else told  # two may have looked at once
        return self._again

    async def _keep(self, again: dict[str, str]) -> None:
        try:
            await self._notes.write(NOTE, json.dumps(again))
        except StoreError as error:
            log.warning("a restart would forget where a question was sent again: %s", error)


def _key(to: Address, ref: Ref) -> str:
    return f"{to} {ref.message_id}"
