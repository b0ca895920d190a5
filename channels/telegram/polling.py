"""Fetching updates: every one is stored before it is confirmed, whatever else happens."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.inbound import Inbound, UserMessage
from bot.core.ports import Clock, Notes
from channels.telegram.moves import Moves
from channels.telegram.updates import ALLOWED, Left, Me, Moving, Unreadable, inbound_of
from channels.telegram.wire import Displaced, Wire

log = logging.getLogger(__name__)

POLL_SECONDS: Final = 30
"""How long Telegram may hold a poll open; its own limit is 50 s."""
POLL_GRACE: Final = 10.0
"""A poll that is not answered so long after its end is half open: the connection is gone and nobody said so."""
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
TRIES: Final = 12
"""After so many polls in a row without an answer the channel is built anew."""
RIVAL_WAIT: Final = 10.0
RIVAL_PATIENCE: Final = 30
"""So many conflicts in a row, about half an hour of them, and this bot leaves the field to the other program."""
STALE_AFTER: Final = 150.0
"""More than a poll with its grace and the longest wait between two: silence without a try for so long is a hang."""
POISON_KEPT: Final = 20
POISON_CHARS: Final = 4000

Take = Callable[[Inbound], Awaitable[None]]


class Poller:
    """The loop over ``getUpdates``. ``take`` returns once an inbound is stored; what it raises as ``StoreError`` is
    fetched again, anything else it raises is a defect and the update is set aside."""

    def __init__(
        self, wire: Wire, notes: Notes, moves: Moves, clock: Clock, me: Me, channel: str, account: str
    ) -> None:
        self._wire, self._notes, self._moves, self._clock = wire, notes, moves, clock
        self._me, self._channel, self._account = me, channel, account
        self._offset: int | None = None
        self._trouble = ""
        self.connected = False
        self.heard_at = clock.monotonic()
        """When a poll last began or ended; in the future while Telegram wants a long silence."""

    async def run(self, take: Take) -> None:
        """Until cancelled. Raises ``Unauthorised``, and ``ChannelUnreachable`` after ``TRIES`` failures in a row."""
        failures = rivals = 0
        while True:
            self.heard_at = self._clock.monotonic()
            try:
                updates = await self._poll()
            except RateLimited as limited:
                self._down("Telegram asks to wait", limited.retry_after)
                self.heard_at = self._clock.monotonic() + limited.retry_after
                await self._clock.sleep(limited.retry_after)
                continue
            except Displaced as displaced:
                rivals += 1
                await self._displaced(displaced, rivals)
                continue
            except Unauthorised:
                self.connected = False
                raise
            except ChannelError as error:
                failures += 1
                wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - 1, 10))
                self._down(str(error), wait)
                if failures >= TRIES:
                    raise ChannelUnreachable("Telegram does not answer.", maybe_done=False) from None
                await self._clock.sleep(wait)
                continue
            failures = rivals = 0
            self._up()
            if updates and not await self._stored(updates, take):
                await self._clock.sleep(FIRST_WAIT)

    async def _poll(self) -> Sequence[Any]:
        """What there is; while the line is not known to be up without waiting for more, so that this is soon known."""
        wait = POLL_SECONDS if self.connected else 0
        params: dict[str, Any] = {"timeout": wait, "allowed_updates": list(ALLOWED)}
        if self._offset is not None:
            params["offset"] = self._offset
        updates = await self._wire.call("getUpdates", seconds=wait + POLL_GRACE, **params)
        if not isinstance(updates, list):
            raise ChannelUnreachable("The answer to a poll was no list.", maybe_done=False)
        return updates

    async def _stored(self, updates: Sequence[Any], take: Take) -> bool:
        """Store them: in order within a chat, side by side over the chats. False when some were not, which then come
        again, or when nothing could be confirmed."""
        chats: dict[Any, list[tuple[Mapping[str, Any], Inbound]]] = {}
        numbers = []
        for update in updates:
            number = update.get("update_id") if isinstance(update, Mapping) else None
            if not isinstance(number, int):
                log.warning("%s sent an update without a number, which is skipped", self._channel)
                continue
            numbers.append(number)
            inbound = await self._read(number, update)
            if inbound is not None:
                chats.setdefault(inbound.address.chat, []).append((update, inbound))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._in_order(of_chat, take)) for of_chat in chats.values()]
        failed = [number for task in tasks if (number := task.result()) is not None]
        if not numbers:
            return False
        self._offset = min(failed, default=max(numbers) + 1)
        return not failed

    async def _in_order(self, inbounds: Sequence[tuple[Mapping[str, Any], Inbound]], take: Take) -> int | None:
        """The number of the first that could not be stored."""
        for update, inbound in inbounds:
            number: int = update["update_id"]
            try:
                await take(inbound)
            except StoreError as error:
                log.warning("update %d waits for the store: %s", number, error)
                return number
            except Exception as error:
                log.exception("update %d broke something and is set aside", number)
                await self._set_aside(number, type(error).__name__, update)
        return None

    async def _read(self, number: int, update: Mapping[str, Any]) -> Inbound | None:
        try:
            read = inbound_of(update, self._me, self._channel, self._account)
        except Unreadable as error:
            log.warning("update %d cannot be read and is set aside: %s", number, error)
            await self._set_aside(number, str(error), update)
            return None
        match read:
            case Left(reason=reason):
                log.info("update %d is for nobody: %s", number, reason)
                return None
            case Moving(old=old, new=new):
                await self._moves.note(old, new)
                return None
            case UserMessage() if not read.direct:
                former = await self._moves.former(read.address.chat)
                return replace(read, places=(former,)) if former else read
        return read

    async def _set_aside(self, number: int, fault: str, update: Mapping[str, Any]) -> None:
        """Keep what it was, for whoever mends the fault; a store that is full must not stop the others."""
        told = json.dumps({"update": number, "fault": fault, "raw": json.dumps(update)[:POISON_CHARS]})
        try:
            await self._notes.write(f"set aside {number % POISON_KEPT}", told)
        except StoreError as error:
            log.warning("update %d is not kept: %s", number, error)

    async def _displaced(self, displaced: Displaced, times: int) -> None:
        if displaced.webhook and times == 1:
            log.warning("%s had a webhook, which is removed: this program fetches the messages itself", self._channel)
            await self._unhooked()
            return
        self._down(
            "another program fetches the messages of this bot: stop it, or give it a token of its own", RIVAL_WAIT
        )
        if times >= RIVAL_PATIENCE:
            raise Unauthorised("Another program has the messages of this bot; stop it and start again.")
        await self._clock.sleep(min(RIVAL_WAIT * times, 6 * RIVAL_WAIT))
        if displaced.webhook:
            await self._unhooked()

    async def _unhooked(self) -> None:
        try:
            await self._wire.call("deleteWebhook", drop_pending_updates=False)
        except Unauthorised:
            raise
        except ChannelError as error:
            self._down(str(error), FIRST_WAIT)
            await self._clock.sleep(FIRST_WAIT)

    def _down(self, trouble: str, wait: float) -> None:
        """In the log once when it goes down, and again only when the reason is another."""
        self.connected = False
        if trouble != self._trouble:
            log.warning("%s hears nothing, next try in %g s: %s", self._channel, wait, trouble)
        self._trouble = trouble

    def _up(self) -> None:
        if self._trouble:
            log.info("%s hears again", self._channel)
        self.connected, self._trouble = True, ""
