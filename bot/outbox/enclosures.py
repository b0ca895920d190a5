"""The files of an answer: messages behind the text, together where the platform knows that, sent once, or a sentence for each
that cannot be sent."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, FileUnreadable, FormatRefused, TooLong
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

SendFiles = Callable[[Address, Sequence[tuple[OutFile, str]]], Awaitable[Sequence[Ref | ChannelError]]]
"""``bot.core.ports.SendingTogether.send_files`` of a channel that has it."""

TOGETHER: Final = 10
"""As many files as one message of any platform shows well."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place behind the answer of files that go together, by their numbers; mostly of one."""

    files: dict[int, OutFile]

    @property
    def indexes(self) -> list[int]:
        return [FIRST - number for number in self.files]


class Enclosures:
    """Of one turn on one channel. A file that was perhaps sent before a restart is sent again, as parts are: under the
    same nonce."""

    def __init__(
        self,
        channel: Channel,
        send: SendFile | None,
        ledger: Ledger,
        to: Address,
        turn: str,
        language: str,
        send_together: SendFiles | None = None,
    ) -> None:
        self._channel, self._send, self._ledger, self._to = channel, send, ledger, to
        self._turn, self._language, self._send_together = turn, language, send_together
        self._sent: set[int] | None = None
        self._refused: dict[int, str] = {}

    async def next(self, view: View) -> Slot | None:
        """The first files that are not there yet."""
        if not view.files:
            return None
        if self._sent is None:
            self._sent = {r.index for r in await self._ledger.load(self._turn) if r.index <= FIRST and r.ref}
        left = {number: file for number, file in enumerate(view.files) if FIRST - number not in self._sent}
        together = dict(takewhile(lambda one: FIRST - one[0] not in self._refused, left.items()))
        most = TOGETHER if together and self._send_together is not None else 1
        return Slot(dict([*(together or left).items()][:most])) if left else None

    async def show(self, slot: Slot) -> None:
        """Raises what the channel raises."""
        await seen_through(self._show(slot), SEND_SECONDS)

    def refuse(self, slot: Slot, error: ChannelError) -> bool:
        """They cannot be sent: from now on each goes by itself, and in place of a single one stands the sentence that says
        why. False where that was refused as well."""
        if len(slot.files) > 1:
            self._send_together = None
            return True
        [index], [number] = slot.indexes, slot.files
        if index in self._refused:
            return False
        self._note(index, number, error)
        return True

    def _note(self, index: int, number: int, error: ChannelError) -> None:
        log.warning("turn %s: file %d is not sent to %s: %s", self._turn, number, self._to, error)
        self._refused[index] = _reason(error)

    async def _show(self, slot: Slot) -> None:
        for index in slot.indexes:
            await self._ledger.intend(self._turn, index, 0, "")
        try:
            results = await self._called(slot)
        except ChannelError as error:
            if isinstance(error, ChannelUnreachable) and error.maybe_done:
                self._send_together = None  # what became of each is found out by itself
            else:
                for index in slot.indexes:
                    await self._ledger.drop(self._turn, index)
            raise
        assert self._sent is not None, "a slot comes from next"
        for index, number, result in zip(slot.indexes, slot.files, results, strict=False):
            if isinstance(result, ChannelError):
                self._note(index, number, result)
                await self._ledger.drop(self._turn, index)
            else:
                self._sent.add(index)
                await self._ledger.record(self._turn, index, result, "")

    async def _called(self, slot: Slot) -> Sequence[Ref | ChannelError]:
        nonces = [(file, f"{self._turn}.f{number}") for number, file in slot.files.items()]
        if len(nonces) > 1 and self._send_together is not None:
            return await self._send_together(self._to, nonces)
        [(file, nonce)], [index] = nonces, slot.indexes
        if self._send is None or index in self._refused:
            return [await self._channel.show(self._to, None, self._sentence(index, file))]
        return [await self._send(self._to, file, nonce)]

    def _sentence(self, index: int, file: OutFile) -> Part:
        told = say(self._refused.get(index, "file_unsent"), self._language, name=literal(file.name))
        view = View(self._turn, text=told)
        return Part(self._turn, index, 0, told, self._channel.render(told), view, final=True)


def _reason(error: ChannelError) -> str:
    """The name of the sentence for it."""
    match error:
        case TooLong():
            return "file_too_large"
        case FileUnreadable():
            return "file_unreadable"
        case FormatRefused():
            return "file_of_a_kind"
    return "file_unsent"
