"""The queue of updates: what is kept, handed out and confirmed, and the one long poll that may wait for it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.sim.telegram.bodies import Params
from tests.sim.telegram.nouns import Json, Refused, bad

_KINDS = (
    "message edited_message channel_post edited_channel_post business_connection business_message edited_business_message"
    " deleted_business_messages message_reaction message_reaction_count inline_query chosen_inline_result callback_query"
    " shipping_query pre_checkout_query purchased_paid_media poll poll_answer my_chat_member chat_member"
    " chat_join_request chat_boost removed_chat_boost managed_bot guest_message stopped_message_generation"
    " subscription"
)
KINDS = frozenset(_KINDS.split())
ON_REQUEST = frozenset(("chat_member", "message_reaction", "message_reaction_count"))
LONGEST_POLL = 50.0
KEPT_SECONDS = 86_400.0
FIRST_UPDATE = 700_000_001
OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


@dataclass(slots=True)
class Pending:
    """``again``: handed out once more although it was confirmed, so that no offset forgets it before."""

    body: Any
    since: float
    again: bool = False
    handed: int = 0


class Updates:
    """``pending`` are the unconfirmed updates by id; confirmed ones are remembered for ``redeliver``. ``chosen`` are the
    kinds that the bot named, None when it leaves them to the platform."""

    def __init__(
        self,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[], None],
        handed: Callable[[Any], None],
    ) -> None:
        self._monotonic, self._sleep, self._changed, self._handed = monotonic, sleep, changed, handed
        self._ids = itertools.count(FIRST_UPDATE)
        self.pending: dict[int, Pending] = {}
        self.confirmed: dict[int, Any] = {}
        self.allowed = KINDS - ON_REQUEST
        self.chosen: list[str] | None = None
        self.webhook_url = ""
        self.polls = 0
        self.arrived: Callable[[], None] = lambda: None
        self._poll: asyncio.Future[bool] | None = None

    def add(self, kind: str, body: Json) -> int | None:
        """Queue an update; its id, None when the bot did not ask for this kind."""
        if kind not in self.allowed:
            return None
        number = next(self._ids)
        self.put(number, {"update_id": number, kind: body})
        return number

    def feed(self, raw: Any) -> int:
        """Queue anything. An object without ``update_id`` gets one; what is not an object stays as it is."""
        number = next(self._ids)
        if isinstance(raw, dict):
            raw = {"update_id": number, **raw}
            number = raw["update_id"] if isinstance(raw["update_id"], int) else number
        self.put(number, raw)
        return number

    def put(self, number: int, body: Any, *, again: bool = False) -> None:
        self.pending[number] = Pending(body, self._monotonic(), again)
        self._wake()

    def redeliver(self, number: int) -> None:
        """Hand out a confirmed update once more. KeyError when there was none of this id."""
        body = self.pending[number].body if number in self.pending else self.confirmed[number]
        self.put(number, body, again=True)

    def confirm(self, number: int) -> None:
        """The bot has it."""
        self.confirmed[number] = self.pending.pop(number).body
        self._changed()

    def close(self) -> None:
        """Let a poll that waits go, at the end of the simulator."""
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(True)

    def allow(self, params: Params) -> None:
        """Take over ``allowed_updates``: a list chooses, an empty list is the default, no list leaves it as it was."""
        kinds = params.parsed("allowed_updates", "allowed_updates")
        if kinds is None:
            return
        if not isinstance(kinds, list):
            raise bad("can't parse allowed_updates: expected an Array of String")
        chosen = KINDS & {str(kind).lower() for kind in kinds}
        self.allowed = chosen or (KINDS - ON_REQUEST)
        self.chosen = sorted(chosen) if chosen else None

    async def get(self, params: Params) -> list[Any]:
        """One getUpdates: confirm, then wait until something is there. A poll that waits already is sent away."""
        if self.webhook_url:
            raise Refused(409, WEBHOOK_ACTIVE)
        self.allow(params)
        self.polls += 1
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(False)
        mine = self._poll = asyncio.get_running_loop().create_future()
        offset = params.integer("offset")
        self._confirm(offset)
        self._changed()
        limit = params.integer("limit", 100)
        limit = limit if 1 <= limit <= 100 else 100
        timeout = min(max(params.integer("timeout"), 0), LONGEST_POLL)
        try:
            if not self.pending and timeout:
                await self._wait(mine, timeout)
            if mine.done() and not mine.result():
                raise Refused(409, OTHER_POLL)
        finally:
            if self._poll is mine:
                self._poll = None
        return self._batch(offset, limit)

    async def _wait(self, mine: asyncio.Future[bool], timeout: float) -> None:
        timer = asyncio.ensure_future(self._sleep(timeout))
        waited: set[asyncio.Future[Any]] = {mine, timer}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()

    def _confirm(self, offset: int) -> None:
        """A negative offset keeps that many updates from the end of the queue and forgets the others."""
        horizon = self._monotonic() - KEPT_SECONDS
        for number in [number for number, update in self.pending.items() if update.since < horizon]:
            del self.pending[number]
        numbers = sorted(self.pending)
        gone = [number for number in numbers if number < offset] if offset >= 0 else numbers[:offset]
        for number in gone:
            update = self.pending[number]
            if not update.again or update.handed:
                self.confirmed[number] = self.pending.pop(number).body

    def _batch(self, offset: int, limit: int) -> list[Any]:
        batch = [self.pending[number] for number in sorted(self.pending)[:limit]]
        for update in batch:
            update.handed += 1
            if update.handed == 1:
                self._handed(update.body)
        return [update.body for update in batch]

    def _wake(self) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(True)
        self.arrived()
        self._changed()
