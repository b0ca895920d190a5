"""What became of questions that wait for an answer while nobody listened: Slack tells edits and deletions for a while only."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from bot.core.errors import ChannelError, StoreError, Unauthorised
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.inbox.commands import command_of
from channels.slack.past import Past

log = logging.getLogger(__name__)

MOST: Final = 100
"""The newest ones; each costs a call."""
_TS = re.compile(r"\d+\.\d+")

Raw = Mapping[str, Any]


class Revisits:
    def __init__(self, past: Past, unanswered: Callable[[], Awaitable[Sequence[UserMessage]]], clock: Clock) -> None:
        self._past, self._unanswered, self._clock = past, unanswered, clock

    async def changes(self) -> AsyncIterator[Raw]:
        """An event for each that reads differently now or is gone, as Slack would have told it."""
        try:
            waiting = await self._unanswered()
        except StoreError as error:
            log.warning("what waits for an answer is not looked at again: %s", error)
            return
        for message in waiting[-MOST:]:
            if _TS.fullmatch(message.id) is None or message.again or command_of(message.text):
                continue  # none of Slack's messages, or one that is asked again
            try:
                event = await self._change(message)
            except Unauthorised:
                raise
            except ChannelError as error:
                log.info("what became of a question is not known: %s", error)
                continue
            if event is not None:
                yield event

    async def _change(self, message: UserMessage) -> Raw | None:
        to, ts = message.address, message.id
        thread = "" if to.thread == ts else to.thread
        raw = await self._past.one(to.chat, thread, ts)
        event: dict[str, Any] = {"type": "message", "channel": to.chat}
        if raw is None or raw.get("subtype") == "tombstone":
            at = f"{self._clock.now():.6f}"
            before = {"ts": ts, "thread_ts": thread} if thread else {"ts": ts}
            gone = {"subtype": "message_deleted", "deleted_ts": ts, "previous_message": before}
            return event | gone | {"ts": at, "event_ts": at}
        edited = raw.get("edited")
        if not isinstance(edited, Mapping):
            return None
        at = str(edited.get("ts") or ts)
        return event | {"subtype": "message_changed", "message": raw, "ts": at, "event_ts": at}
