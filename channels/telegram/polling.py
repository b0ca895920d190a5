"""Fetching updates by long polls: every one is stored before it is confirmed, whatever else happens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.core.errors import ChannelError, ChannelUnreachable, RateLimited, StoreError, Unauthorised
from bot.core.inbound import Inbound
from bot.core.ports import Clock
from channels.telegram.intake import Intake
from channels.telegram.updates import ALLOWED
from channels.telegram.wire import Displaced, Wire, who_am_i

log = logging.getLogger(__name__)

POLL_SECONDS: Final = 30
"""How long Telegram may hold a poll open; its own limit is 50 s."""
POLL_GRACE: Final = 10.0
"""The connection of a poll that is not answered so long after its end is gone, and nobody said so."""
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
TRIES: Final = 12
"""After so many polls in a row without an answer the channel is built anew."""
RIVAL_WAIT: Final = 10.0
RIVAL_PATIENCE: Final = 30
"""So many conflicts in a row, about half an hour of them, and this bot leaves the field to the other program."""
STALE_AFTER: Final = 150.0
"""More than a poll with its grace and the longest wait between two: silence without a try for so long is a hang."""


class Poller:
    """The loop over ``getUpdates``. What ``intake`` cannot store is fetched again. A poll without an answer is half open
    ``grace`` seconds after its end."""

    stale_after = STALE_AFTER

    def __init__(
        self,
        wire: Wire,
        intake: Intake,
        clock: Clock,
        channel: str,
        *,
        seconds: int = POLL_SECONDS,
        grace: float = POLL_GRACE,
    ) -> None:
        self._wire, self._intake, self._clock, self._channel = wire, intake, clock, channel
        self._seconds, self._grace = seconds, grace
        self._offset: int | None = None
        self._trouble = ""
        self.connected = False
        self.heard_at = clock.monotonic()
        """When a poll last began or ended; in the future while Telegram wants a long silence."""

    async def run(self) -> None:
        """Until cancelled. Raises ``Unauthorised``, and ``ChannelUnreachable`` after ``TRIES`` failures in a row."""
        failures = rivals = 0
        while True:
            self.heard_at = self._clock.monotonic()
            try:
                if self._wire.is_doubted:
                    await who_am_i(self._wire)
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
            if updates and not await self._stored(updates):
                await self._clock.sleep(FIRST_WAIT)

    async def _poll(self) -> Sequence[Any]:
        """What there is; while the line is not known to be up without waiting for more, so that this is soon known."""
        wait = self._seconds if self.connected else 0
        params: dict[str, Any] = {"timeout": wait, "allowed_updates": list(ALLOWED)}
        if self._offset is not None:
            params["offset"] = self._offset
        updates = await self._wire.call("getUpdates", seconds=wait + self._grace, **params)
        if not isinstance(updates, list):
            raise ChannelUnreachable("The answer to a poll was no list.", maybe_done=False)
        return updates

    async def _stored(self, updates: Sequence[Any]) -> bool:
        """Store them: in order within a chat, side by side over the chats. False when some were not, which then come
        again, or when nothing could be confirmed."""
        chats: dict[str, list[tuple[Mapping[str, Any], Inbound]]] = {}
        numbers = []
        for update in updates:
            if (number := self._intake.number(update)) is None:
                continue
            numbers.append(number)
            for inbound in await self._intake.read(update):
                chats.setdefault(inbound.address.chat, []).append((update, inbound))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._in_order(of_chat)) for of_chat in chats.values()]
        failed = [number for task in tasks if (number := task.result()) is not None]
        if not numbers:
            return False
        self._offset = min(failed, default=max(numbers) + 1)
        return not failed

    async def _in_order(self, inbounds: Sequence[tuple[Mapping[str, Any], Inbound]]) -> int | None:
        """The number of the first that could not be stored."""
        for update, inbound in inbounds:
            try:
                await self._intake.store(update, inbound)
            except StoreError as error:
                number: int = update["update_id"]
                log.warning("update %d waits for the store: %s", number, error)
                return number
        return None

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
