"""The files of an answer: each is a message of its own behind the text, sent once, or a sentence in its place."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable
from bot.core.ports import Channel
from bot.core.tasks import seen_through
from bot.core.texts import say
from bot.core.view import OutFile, Part, Ref, View
from bot.outbox.compose import literal
from bot.outbox.ledger import BELOW_PARTS, Ledger
from bot.outbox.screen import SEND_SECONDS

log = logging.getLogger(__name__)

FIRST: Final = BELOW_PARTS
"""Where the ledger keeps the first file of a turn; the others follow downwards."""

SendFile = Callable[[Address, OutFile, str], Awaitable[Ref]]
"""``bot.core.ports.Sending.send_file`` of a channel that has it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one file behind the answer."""

    number: int
    file: OutFile

    @property
    def index(self) -> int:
        return FIRST - self.number


class Enclosures:
    """Of one turn on one channel. A file that was perhaps sent before a restart is sent again, as parts are: under the
    same nonce."""

    def __init__(
        self, channel: Channel, send: SendFile | None, ledger: Ledger, to: Address, turn: str, language: str
    ) -> None:
        self._channel, self._send, self._ledger, self._to = channel, send, ledger, to
        self._turn, self._language = turn, language
        self._sent: set[int] | None = None
        self._refused: set[int] = set()

    async def next(self, view: View) -> Slot | None:
        """The first file that is not there yet."""
        if not view.files:
            return None
        if self._sent is None:
            self._sent = {r.index for r in await self._ledger.load(self._turn) if r.index <= FIRST and r.ref}
        slots = (Slot(number, file) for number, file in enumerate(view.files))
        return next((slot for slot in slots if slot.index not in self._sent), None)

    async def show(self, slot: Slot) -> None:
        """Raises what the channel raises."""
        await seen_through(self._show(slot), SEND_SECONDS)

    def refuse(self, slot: Slot) -> bool:
        """The platform does not take it: from now on its sentence is shown. False where that was refused as well."""
        if slot.index in self._refused:
            return False
        log.warning("turn %s: file %d is not taken in %s", self._turn, slot.number, self._to)
        self._refused.add(slot.index)
        return True

    async def _show(self, slot: Slot) -> None:
        await self._ledger.intend(self._turn, slot.index, 0, "")
        try:
            if self._send is None or slot.index in self._refused:
                ref = await self._channel.show(self._to, None, self._sentence(slot))
            else:
                ref = await self._send(self._to, slot.file, f"{self._turn}.f{slot.number}")
        except ChannelError as error:
            if not (isinstance(error, ChannelUnreachable) and error.maybe_done):
                await self._ledger.drop(self._turn, slot.index)
            raise
        assert self._sent is not None, "a slot comes from next"
        self._sent.add(slot.index)
        await self._ledger.record(self._turn, slot.index, ref, "")

    def _sentence(self, slot: Slot) -> Part:
        told = say("file_unsent", self._language, name=literal(slot.file.name))
        view = View(self._turn, text=told)
        return Part(self._turn, slot.index, 0, told, self._channel.render(told), view, final=True)
