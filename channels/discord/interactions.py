"""Presses and commands as Discord wants them answered: a first word within 3 s, and more of it within 15 minutes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from bot.core.address import Address
from bot.core.errors import ChannelError, ChannelUnreachable, MessageGone, RateLimited
from bot.core.inbound import UserMessage
from bot.core.ports import CallKind, Clock
from bot.core.tasks import first_of
from bot.outbox.errands import Errands
from channels.discord.promises import SECONDS, Promises
from channels.discord.rest import Rest

MESSAGE, LATER, UPDATE_LATER = 4, 5, 6
"""Kinds of answers to an interaction (discord.com/developers/docs/interactions/receiving-and-responding)."""
ONLY_FOR_YOU: Final = 64
WORD_SECONDS: Final = 3.0
STORE_SECONDS: Final = 1.5
"""A press that is not answered by then waits for the store: Discord is told that the answer comes later."""
OPEN_KEPT: Final = 500


@dataclass(slots=True)
class _Open:
    """One interaction. ``given``: Discord has its first word, ``unsure``: perhaps, ``settled``: it is known whether it
    will ever have one, ``answered``: the person has the answer."""

    application: str
    number: str
    secret: str
    at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    given: bool = False
    unsure: bool = False
    answered: bool = False

    @property
    def original(self) -> str:
        return f"/webhooks/{self.application}/{self.secret}/messages/@original"


class Interactions:
    """A ``handle`` is the application's id, the interaction's id and its token, with slashes between."""

    def __init__(self, rest: Rest, errands: Errands, clock: Clock, promises: Promises) -> None:
        self._rest, self._errands, self._clock, self._promises = rest, errands, clock, promises
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._pressed: asyncio.Queue[tuple[Address, _Open]] = asyncio.Queue()

    async def run(self) -> None:
        """Until cancelled: Discord does not wait for the store."""
        while True:
            to, one = await self._pressed.get()
            await self._clock.sleep(one.at + STORE_SECONDS - self._clock.monotonic())
            if not (one.given or one.lock.locked()):
                self._errands.surely(to, CallKind.ANSWER, partial(self._defer, one), repeatable=True)

    def pressed(self, to: Address, handle: str) -> None:
        """A button was pressed. Never waits."""
        if (one := self._arrived(handle)) is not None:
            self._pressed.put_nowait((to, one))

    def commanded(self, command: UserMessage, handle: str) -> None:
        """A command was chosen: show at once that an answer will come. Never waits."""
        if (one := self._arrived(handle)) is not None:

            async def promise() -> None:
                await self._promises.make(handle, command)
                await self._promise(one)

            self._errands.surely(command.address, CallKind.ANSWER, promise, repeatable=True)

    async def inherited(self) -> list[UserMessage]:
        """The commands to which an earlier life promised an answer, and may have died before it came."""
        promises = await self._promises.inherited()
        for number, promise in promises.items():
            if number not in self._open and (one := self._arrived(promise.handle, unsure=True)) is not None:
                one.at += promise.at - self._clock.now()
                one.settled.set()
        return [promise.command for promise in promises.values()]

    def waits(self, number: str) -> bool:
        """Whether this is the id of a command that was chosen from the menu."""
        return number in self._open

    async def answer(self, handle: str, notice: str) -> None:
        """Tell the presser, and nobody else. "" only lets them go on."""
        one = self._open.get(handle.partition("/")[2].partition("/")[0]) or self._arrived(handle, unsure=True)
        if one is None:
            return
        async with one.lock:
            if one.answered:
                return
            said = {"content": notice, "flags": ONLY_FOR_YOU, "allowed_mentions": {"parse": []}}
            earlier = await self._word(one, {"type": MESSAGE, "data": said} if notice else {"type": UPDATE_LATER})
            one.answered = True
            if notice and earlier is not None and not int(earlier.get("flags") or 0) & ONLY_FOR_YOU:
                await self._follow(one, said)

    async def fill(self, number: str, body: Mapping[str, Any]) -> Any:
        """Put the answer's first words in the place of the promise, once; None where they must be an ordinary message."""
        one = self._open.get(number)
        if one is None or one.answered or not await self._promised(one):
            return None
        filled = {key: body[key] for key in ("content", "components", "allowed_mentions", "flags") if key in body}
        try:
            message = await self._rest.call("PATCH", one.original, filled)
        except MessageGone:
            message = None
        one.answered = True
        return message

    def _arrived(self, handle: str, *, unsure: bool = False) -> _Open | None:
        """``unsure``: an earlier process may have said something."""
        application, _, rest = handle.partition("/")
        number, _, secret = rest.partition("/")
        if not secret:
            return None
        one = self._open[number] = _Open(application, number, secret, self._clock.monotonic(), unsure=unsure)
        if len(self._open) > OPEN_KEPT:
            self._open.popitem(last=False)
        return one

    async def _promised(self, one: _Open) -> bool:
        left = one.at + WORD_SECONDS - self._clock.monotonic()
        if not one.settled.is_set() and left > 0:
            await first_of(one.settled.wait(), self._clock.sleep(left))
        if self._clock.monotonic() > one.at + SECONDS:
            return False
        return one.given or (one.unsure and await self._looked_up(one) is not None)

    async def _promise(self, one: _Open) -> None:
        async with one.lock:
            try:
                await self._word(one, {"type": LATER})
            except (RateLimited, ChannelUnreachable):
                raise
            except ChannelError:
                one.settled.set()
                raise
            one.settled.set()

    async def _defer(self, one: _Open) -> None:
        async with one.lock:
            await self._word(one, {"type": UPDATE_LATER})

    async def _word(self, one: _Open, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Say the first word, unless it is said: a second one would be refused. The message that stands for an earlier
        one."""
        if one.given or one.unsure:
            earlier = await self._looked_up(one)
            if earlier is not None:
                return earlier
        try:
            await self._rest.call("POST", f"/interactions/{one.number}/{one.secret}/callback", body)
        except ChannelUnreachable as error:
            one.unsure = one.unsure or error.maybe_done
            raise
        one.given = True
        return None

    async def _looked_up(self, one: _Open) -> dict[str, Any] | None:
        """The message that stands for the first word, empty where that is gone; None where no word has arrived."""
        try:
            found = await self._rest.call("GET", one.original)
        except MessageGone:
            one.unsure = False
            return {} if one.given else None
        one.given, one.unsure = True, False
        return found if isinstance(found, dict) else {}

    async def _follow(self, one: _Open, said: Mapping[str, Any]) -> None:
        try:
            await self._rest.call("POST", f"/webhooks/{one.application}/{one.secret}", said)
        except ChannelUnreachable as error:
            one.answered = error.maybe_done
            raise
        except ChannelError:
            one.answered = False
            raise
