"""What the bot says unasked, in a chat that it knows: stored as a turn that has its answer, so that it is shown for sure."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from bot.core.address import Address, Sender
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.transcript import EndRow, ReplyRow
from bot.store.inbox import InboxRow, InboxRows


class Announcements:
    """``submit`` is given the row whose turn shows it."""

    def __init__(self, rows: InboxRows, clock: Clock, submit: Callable[[InboxRow], None]) -> None:
        self._rows, self._clock, self._submit = rows, clock, submit

    async def tell(self, to: Address, whom: Sender, text: str, *, direct: bool = True, offer: str = "") -> None:
        """``text`` is CommonMark, ``offer`` as in ``ReplyRow``. Raises ``StoreError``."""
        turn = secrets.token_hex(6)
        now = self._clock.now()
        opening = UserMessage(f"told-{turn}", to, whom, "/start", now, direct=direct)
        self._submit(await self._rows.announce(opening, turn, now, ReplyRow(text, offer), EndRow(StopReason.COMMAND)))
