"""What the platform shows of one turn, and the ledger that remembers it over a restart."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, StoreError
from bot.core.ports import Channel
from bot.core.tasks import seen_through
from bot.core.view import Ref
from bot.outbox.ledger import BELOW_PARTS, Ledger
from bot.outbox.parts import Wanted

log = logging.getLogger(__name__)

SEND_SECONDS: Final = 1.5
"""How long a cancelled turn waits for a send that is on its way: what has not been heard of is sent again."""
RECORD_SECONDS: Final = 2.0
"""How long a cancelled turn may take to remember what the platform has just accepted."""
LOST: Final = -1
"""Where the ledger keeps the intent of a send that was made again: for as long as the turn lasts, a copy may stand there."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """``digest`` and ``markdown`` are what the platform last accepted; "" where that is not known. What is ``fleeting``
    is no message: the ledger knows nothing of it, and what comes after it is sent."""

    ref: Ref
    digest: str = ""
    markdown: str = ""
    fleeting: bool = False


class Screen:
    """The parts of one turn on one channel. Every method that calls the platform raises its ``ChannelError``."""

    def __init__(self, channel: Channel, ledger: Ledger, to: Address, turn: str, *, structured: bool) -> None:
        self._channel, self._ledger, self._to, self._turn = channel, ledger, to, turn
        self._structured = structured
        self._sealed: list[tuple[int, Ref | None]] = []
        self._sealed_text = ""
        self._shown: dict[int, _Shown] = {}
        self._maybe_sent: set[int] = set()
        self._restored = False
        self._looked_at: tuple[Wanted, str] | None = None
        self.repeated_sends = 0
        self.copied = False
        """The answer to a send was lost, or an earlier process died before it came: the part may be on screen, and nobody
        knows under which id."""

    @property
    def sealed(self) -> list[int]:
        """The offsets at which the sealed parts end."""
        return [end for end, _ in self._sealed]

    @property
    def is_empty(self) -> bool:
        return not (self._shown or self._sealed)

    @property
    def is_open(self) -> bool:
        """Whether there is a part that can be edited."""
        return any(not shown.fleeting for shown in self._shown.values())

    @property
    def is_fleeting(self) -> bool:
        """Whether something is on screen that vanishes by itself."""
        return any(shown.fleeting for shown in self._shown.values())

    def is_message(self, index: int) -> bool:
        """Whether the part can be edited."""
        return index in self._shown and not self._shown[index].fleeting

    def ref_of(self, index: int) -> Ref | None:
        """Of the message that shows this open part."""
        return self._shown[index].ref if self.is_message(index) else None

    async def restore(self) -> None:
        """Take over what an earlier process left, once. A part that was perhaps sent is sent again: nobody can know."""
        if self._restored:
            return
        for record in await self._ledger.load(self._turn):
            if record.index <= BELOW_PARTS:
                continue
            if record.end is not None:
                self._sealed.append((record.end, record.ref))
            elif record.ref is not None:
                self._shown[record.index] = _Shown(record.ref, record.accepted_hash)
            else:
                self.copied = True
                if record.index != LOST:
                    self._maybe_sent.add(record.index)
        self._restored = True

    def stands(self, want: Wanted) -> bool:
        """Whether the platform last accepted exactly this."""
        shown = self._shown.get(want.part.index)
        return shown is not None and shown.digest == self._digest(want)

    def continues(self, want: Wanted) -> bool:
        """Whether this only adds to what is shown, for platforms that take nothing back."""
        shown = self._shown.get(want.part.index)
        return shown is None or want.part.markdown.startswith(shown.markdown)

    def maybe_sent(self, want: Wanted) -> bool:
        """Whether an earlier attempt at sending this part may have arrived."""
        return want.part.index in self._maybe_sent

    def at(self, message_id: str) -> int | None:
        """The open part that this message shows."""
        found = (index for index, shown in self._shown.items() if not shown.fleeting and shown.ref.is_of(message_id))
        return next(found, None)

    def last_behind(self, index: int) -> int | None:
        """The last shown part from ``index`` on."""
        return max((shown for shown in self._shown if shown >= index), default=None)

    async def show(self, want: Wanted, *, lasting: bool) -> None:
        """Send or edit. What stood before still stands if the platform refused, and is unknown if it was silent.

        ``lasting``: nothing will change the part again, so the ledger remembers what it shows.
        """
        if want.part.fleeting:
            await self._flash(want)
        elif self.is_message(want.part.index):
            await self._show(want, lasting)
        else:
            await seen_through(self._show(want, lasting), SEND_SECONDS)

    async def _flash(self, want: Wanted) -> None:
        ref = await self._channel.show(self._to, None, want.part)
        self._shown[want.part.index] = _Shown(ref, self._digest(want), want.part.markdown, fleeting=True)

    def fade(self) -> None:
        """What is fleeting has vanished or soon will."""
        faded = {index: replace(shown, digest="") for index, shown in self._shown.items() if shown.fleeting}
        self._shown |= faded

    def doubt(self) -> None:
        """What stands in the open messages is no longer certain."""
        self._shown |= {index: replace(shown, digest="") for index, shown in self._shown.items() if not shown.fleeting}

    async def _show(self, want: Wanted, lasting: bool) -> None:
        part, index, digest = want.part, want.part.index, self._digest(want)
        before = self._shown[index] if self.is_message(index) else None
        was_lost = index in self._maybe_sent
        if before is None:
            if was_lost:
                self.repeated_sends += 1
                await self._ledger.intend(self._turn, LOST, 0, "")
            await self._ledger.intend(self._turn, index, part.start, digest)
            self._maybe_sent.add(index)
        else:
            self._shown[index] = _Shown(before.ref, "", before.markdown)
        try:
            ref = await self._channel.show(self._to, before.ref if before else None, part)
        except ChannelError as error:
            if isinstance(error, ChannelUnreachable) and error.maybe_done:
                self.copied = self.copied or before is None
            else:
                self._maybe_sent.discard(index)
                if before is not None:
                    self._shown[index] = before
                elif not was_lost:
                    await self._ledger.drop(self._turn, index)
            raise
        self._shown[index] = _Shown(ref, digest, part.markdown)
        self._maybe_sent.discard(index)
        if lasting or before is None or ref != before.ref:
            await self._record(index, ref, digest if lasting else "")

    async def remove(self, index: int) -> None:
        if self.is_message(index):
            await self._channel.remove(self._to, self._shown[index].ref)
        await self.forget(index)

    async def forget(self, index: int) -> None:
        """The message is no longer there."""
        await self._ledger.drop(self._turn, index)
        self._shown.pop(index, None)

    async def seal(self, index: int, end: int, text: str) -> None:
        """The part holds ``text`` up to ``end`` for good."""
        await self._ledger.seal(self._turn, index, end)
        self._sealed.append((end, self._shown.pop(index).ref))
        self._sealed_text = text[:end]

    async def reopen(self, text: str) -> None:
        """Sealed text stands, unless the Brain took it back in the very moment in which it was sealed."""
        while self._sealed_text and not text.startswith(self._sealed_text):
            _, ref = self._sealed.pop()
            index = len(self._sealed)
            start = self._sealed[-1][0] if self._sealed else 0
            await self._ledger.drop(self._turn, index)
            if ref is not None:
                self._shown[index] = _Shown(ref)
                await self._ledger.intend(self._turn, index, start, "")
                await self._record(index, ref, "")
            self._sealed_text = self._sealed_text[:start]

    def _digest(self, want: Wanted) -> str:
        if self._looked_at is None or self._looked_at[0] is not want:
            self._looked_at = want, want.digest(structured=self._structured)
        return self._looked_at[1]

    async def _record(self, index: int, ref: Ref, digest: str) -> None:
        try:
            await self._ledger.record(self._turn, index, ref, digest)
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(RECORD_SECONDS):
                    await self._ledger.record(self._turn, index, ref, digest)
            except (TimeoutError, StoreError) as error:
                log.warning("turn %s: part %d is not remembered: %s", self._turn, index, type(error).__name__)
            raise
