"""Small calls beside the answers: typing, the answer to a press, a refusal. Nobody waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, ChatClosed, RateLimited, Unauthorised
from bot.core.ports import CallKind, Clock, Governor

log = logging.getLogger(__name__)

Errand = Callable[[], Coroutine[Any, Any, None]]
Call = Callable[[], Coroutine[Any, Any, Any]]

AT_ONCE: Final = 200
"""Errands under way; more wait in line."""
TYPING_AFTER: Final = 0.6
"""An answer that is there by then needs no sign of life before it."""
TYPING_SECONDS: Final = 180.0
TYPING_PER_SECOND: Final = 10
"""Over all chats: a third of what Telegram bears, and in a rush the answers themselves are the better sign."""
TYPING_FAILURES: Final = 3
TRIES: Final = 5


class Errands:
    """A line of errands, done by ``run`` for as long as the channel runs. ``typing_every``: seconds after which a sign of
    life has faded on this platform."""

    def __init__(self, governor: Governor, clock: Clock, typing_every: float) -> None:
        self._governor, self._clock, self._typing_every = governor, clock, typing_every
        self._line: asyncio.Queue[Errand] = asyncio.Queue()
        self._awaited: dict[Address, object] = {}
        self._typed_at: deque[float] = deque([-1.0] * TYPING_PER_SECOND, maxlen=TYPING_PER_SECOND)

    async def run(self) -> None:
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                errand = await self._line.get()
                await slots.acquire()
                group.create_task(self._done(errand, slots))

    async def _done(self, errand: Errand, slots: asyncio.Semaphore) -> None:
        try:
            await errand()
        except ChannelError as error:
            log.info("an errand was not done: %s", error)
        finally:
            slots.release()

    def surely(self, to: Address, kind: CallKind, call: Call, *, repeatable: bool = False) -> None:
        """Call when the governor lets it, and again where that can help. ``repeatable``: twice does no harm."""

        async def errand() -> None:
            for attempt in range(TRIES):
                try:
                    async with self._governor.call(to, kind):
                        await call()
                    return
                except RateLimited:
                    continue
                except ChannelUnreachable as error:
                    if error.maybe_done and not repeatable:
                        raise
                    await self._clock.sleep(2.0**attempt)
            log.warning("a call for %s was given up", to)

        self._line.put_nowait(errand)

    def typing(self, to: Address, call: Call) -> None:
        """Show signs of life until something of the answer is to be seen (``seen``)."""
        token = self._awaited[to] = object()

        async def errand() -> None:
            await self._clock.sleep(TYPING_AFTER)
            failures = 0
            for _ in range(int(TYPING_SECONDS / self._typing_every)):
                if self._awaited.get(to) is not token:
                    return
                failures = 0 if await self._typed(to, call, token) else failures + 1
                if failures >= TYPING_FAILURES:
                    break
                await self._clock.sleep(self._typing_every)
            if self._awaited.get(to) is token:
                del self._awaited[to]

        self._line.put_nowait(errand)

    def seen(self, to: Address) -> None:
        """Something of the answer is on its way to the screen: typing ends."""
        self._awaited.pop(to, None)

    async def _typed(self, to: Address, call: Call, token: object) -> bool:
        """A sign of life that would have to wait for its turn is no longer one."""
        now = self._clock.monotonic()
        if now - self._typed_at[0] < 1.0:
            return True
        self._typed_at.append(now)
        try:
            async with asyncio.timeout(self._typing_every), self._governor.call(to, CallKind.TYPING):
                if self._awaited.get(to) is token:
                    await call()
            return True
        except (ChatClosed, Unauthorised):
            self._awaited.pop(to, None)
            return False
        except (ChannelError, TimeoutError):
            return False
