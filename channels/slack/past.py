"""What was written before: a conversation's latest messages, and those since a certain one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.core.ports import Clock
from channels.slack.events import stamp
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

PAGE: Final = 200
PAGES: Final = 10

Raw = Mapping[str, Any]


class Past:
    """``conversations.history`` and ``conversations.replies`` are Tier 3: fifty calls a minute each."""

    def __init__(self, wire: Wire, clock: Clock) -> None:
        self._wire = wire
        self._tiers = {name: Tier(clock, 42, 6) for name in ("conversations.history", "conversations.replies")}

    def is_closed(self, missing: str) -> bool:
        """Whether the scope for want of which the past could not be read is still missing."""
        return self._wire.permits.lacks(missing)

    async def latest(self, chat: str, thread: str, limit: int, *, marks: bool = False) -> Sequence[Raw]:
        """The newest ``limit`` messages, oldest first; with their metadata where ``marks`` are wanted. Raises
        ``ChannelError``."""
        if not thread:
            answer = await self._asked(chat, "", "", min(limit, PAGE), "", marks)
            return [*reversed(_messages(answer))][-limit:]
        return (await self._pages(chat, thread, "", marks))[-limit:]

    async def since(self, chat: str, thread: str, oldest: str) -> Sequence[Raw]:
        """Everything after ``oldest``, oldest first, as far as ``PAGES`` reach. Raises ``ChannelError``."""
        found = await self._pages(chat, thread, oldest)
        found = found if thread else found[::-1]  # a thread is told from its beginning, a conversation from its end
        return [one for one in found if stamp(str(one.get("ts") or "")) > stamp(oldest)]

    async def _pages(self, chat: str, thread: str, oldest: str, marks: bool = False) -> list[Raw]:
        found: list[Raw] = []
        cursor = ""
        for _ in range(PAGES):
            answer = await self._asked(chat, thread, oldest, PAGE, cursor, marks)
            found += _messages(answer)
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return found

    async def _asked(self, chat: str, thread: str, oldest: str, limit: int, cursor: str, marks: bool) -> Raw:
        method = "conversations.replies" if thread else "conversations.history"
        params: dict[str, Any] = {"channel": chat, "limit": limit}
        params |= {"ts": thread} if thread else {}
        params |= {"oldest": oldest} if oldest else {}
        params |= {"cursor": cursor} if cursor else {}
        params |= {"include_all_metadata": True} if marks else {}
        await self._tiers[method].turn()
        return await self._wire.call(method, **params)


def _messages(answer: Raw) -> list[Raw]:
    told = answer.get("messages")
    return [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
