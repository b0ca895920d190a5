"""One turn as the Brain sees it, and what it may ask of the lane that runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal

from bot.core.address import Address, Sender
from bot.core.events import TurnEvent
from bot.core.inbound import UserMessage

Emit = Callable[[TurnEvent], None]
"""Never waits and never fails: it folds the event into the view and lets the publisher know."""


@dataclass(frozen=True, slots=True)
class Turn:
    """``message`` opened it. ``can_edit`` False: text that was shown can only be continued, never taken back.
    ``gather`` is ``ModelRequest.gather``. ``zone`` is the chat's own time zone, "" for the house's; ``work`` how much the
    person wants to see of the tools at work; ``model`` the one that was picked for the chat, "" for none."""

    id: str
    message: UserMessage
    language: str
    can_edit: bool = True
    gather: float = 0.0
    zone: str = ""
    work: Literal["all", "brief", "none"] = "all"
    model: str = ""

    @property
    def address(self) -> Address:
        return self.message.address

    @property
    def sender(self) -> Sender:
        return self.message.sender


@dataclass(slots=True)
class Revision:
    """The message ``message_id`` reads ``text`` now. ``applied`` is set with whether the turn began anew with it."""

    message_id: str
    text: str
    applied: asyncio.Future[bool]


def _nothing() -> None:
    return


def _none() -> None:
    return None


async def _at_once() -> None:
    return


def _forgotten(_: Callable[[str], None]) -> None:
    return


@dataclass(frozen=True, slots=True)
class Floor:
    """The lane's side of a turn.

    ``steer`` lets the messages that arrived meanwhile join the turn (their rows are written) and returns how many; it
    is told whether the turn has not begun to answer. Called at every step boundary.
    ``parked`` is held while the turn waits for a person: it frees the lane, and leaving it waits for the lane again.
    ``revision`` gives, once, what the person changed in the turn's question: the turn was cancelled for it. ``regain``
    takes back what a cancelled turn may have given up while it was parked.
    ``answered`` is called once the end is written: what is left is to show it, which a slow platform may make long, and
    which needs none of the house's slots.
    ``shows`` is given who is to be told the id of a message that was deleted while the turn is shown.
    """

    steer: Callable[[bool], Awaitable[int]]
    parked: Callable[[], AbstractAsyncContextManager[None]]
    answered: Callable[[], None] = _nothing
    revision: Callable[[], Revision | None] = _none
    is_revised: Callable[[], bool] = bool
    regain: Callable[[], Awaitable[None]] = _at_once
    shows: Callable[[Callable[[str], None]], None] = _forgotten
