"""What was written before: a conversation's latest messages, and those since a certain one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final

from bot.core.ports import Clock
from channels.slack.events import stamp
from channels.slack.refusals import ThreadGone
from channels.slack.tiers import Tier
from channels.slack.wire import Wire

PAGE: Final = 200
PAGES: Final = 10
GUESSES: Final = 5
STEP: Final = 16

Raw = Mapping[str, Any]


class Past:
    """``conversations.history`` and ``conversations.replies`` are Tier 3: fifty calls a minute each."""

    def __init__(self, wire: Wire, clock: Clock) -> None:
        self._wire = wire
        self._tiers = {name: Tier(clock, 42, 6) for name in ("conversations.history", "conversations.replies")}

    def is_closed(self, missing: str) -> bool:
        """Whether the scope for want of which the past could not be read is still missing."""
        return self._wire.permits.lacks(missing)

    async def title(self, chat: str) -> str:
        """What a channel is called. Raises ``ChannelError``."""
        told = (await self._wire.call("conversations.info", channel=chat)).get("channel")
        return str(told.get("name") or "") if isinstance(told, Mapping) else ""

    async def one(self, chat: str, thread: str, ts: str) -> Raw | None:
        """A message as it reads now; None where there is none. Raises ``ChannelError``."""
        try:
            answer = await self._asked(chat, thread, ts, 2, "", False, latest=ts)
        except ThreadGone:
            return None
        return next((one for one in _messages(answer) if one.get("ts") == ts), None)

    async def latest(self, chat: str, thread: str, limit: int, *, marks: bool = False) -> Sequence[Raw]:
        """The newest ``limit`` messages, oldest first; with their metadata where ``marks`` are wanted. Raises
        ``ChannelError``."""
        if not thread:
            answer = await self._asked(chat, "", "", min(limit, PAGE), "", marks)
            return [*reversed(_messages(answer))][-limit:]
        return (await self._newest(chat, thread, limit, marks))[-limit:]

    async def _newest(self, chat: str, thread: str, limit: int, marks: bool) -> list[Raw]:
        """A thread is told from its beginning, and its first message says how many replies there are and when the last one
        came. Of a long one the end alone is asked for, as far back as twice so many should reach."""
        found, more = await self._end(chat, thread, "", marks)
        root = found[0] if found else {}
        began, last = float(root.get("ts") or 0), float(root.get("latest_reply") or 0)
        if not more or last <= began:
            return found
        too_short, too_long = 0.0, last - began
        reach = too_long * min(0.5, 2 * limit / max(int(root.get("reply_count") or 0), 1))
        found = []
        for _ in range(GUESSES):
            end, more = await self._end(chat, thread, f"{last - reach:.6f}", marks)
            if more:
                too_long = reach
            else:
                too_short, found = reach, [one for one in end if one.get("ts") != root.get("ts")]
                if len(found) >= limit:
                    break
            wider = too_short * STEP or too_long / STEP
            reach = wider if wider < too_long else sqrt(too_short * too_long)
        return found

    async def _end(self, chat: str, thread: str, oldest: str, marks: bool) -> tuple[list[Raw], bool]:
        answer = await self._asked(chat, thread, oldest, PAGE, "", marks)
        return _messages(answer), bool((answer.get("response_metadata") or {}).get("next_cursor"))

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

    async def _asked(
        self, chat: str, thread: str, oldest: str, limit: int, cursor: str, marks: bool, latest: str = ""
    ) -> Raw:
        method = "conversations.replies" if thread else "conversations.history"
        params: dict[str, Any] = {"channel": chat, "limit": limit}
        params |= {"ts": thread} if thread else {}
        params |= {"oldest": oldest} if oldest else {}
        params |= {"latest": latest, "inclusive": True} if latest else {}
        params |= {"cursor": cursor} if cursor else {}
        params |= {"include_all_metadata": True} if marks else {}
        await self._tiers[method].turn()
        return await self._wire.call(method, **params)


def _messages(answer: Raw) -> list[Raw]:
    told = answer.get("messages")
    return [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []
