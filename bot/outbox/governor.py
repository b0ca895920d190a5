"""How often a platform may be called: per chat, per group and minute, per account; and who goes first."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf

from bot.core.address import Address
from bot.core.errors import RateLimited
from bot.core.ports import CallKind, Clock
from bot.core.tasks import first_of

log = logging.getLogger(__name__)

_TOLERANCE = 0.001
"""Seconds by which a clock may wake a sleeper early."""
_GROUP_WINDOW = 62.0
"""A minute, and some for calls that overtake each other on the way: 20 a minute are 3.1 s apart (PLATFORMS.md 0.1)."""
_SWEEP_EVERY = 512
_EVEN = 0.85
_AT_ONCE = 0.15
"""What an account bears in a second is spent evenly: a few calls at once, the others one by one. A second's worth at once
and another a second later would arrive as two where the way is uneven."""
_IN_LINE_SECONDS = 5.0
"""Who is not first in line is roused by those before; this long it would sleep if all of them were lost."""
_CROWD = 3
_CROWD_SECONDS = 2.0
"""Refusals in so many chats within so short a time may be about the account, whatever they say."""
_GUESS_SECONDS = 5.0
"""A guess silences chats of which nothing was said: after so long they are called again, and if the account really is
limited, that is seen again."""


def _no_group(address: Address) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Rates:
    """What a platform bears; 0 is no limit. ``chat_interval``: seconds between two calls in one chat.

    ``group_per_minute`` holds for the chats of which ``is_group`` is true; previews there are spread over the minute, so
    that a final finds room. What a group was told just before this life is not known, so in its first minute finals are
    spread too, and nobody types. ``account_per_second`` is over all chats of one account, ``edits_per_minute`` over all its
    edits alone. ``threads_apart``: each thread has the rates of a chat of its own.
    """

    chat_interval: float = 0.0
    group_per_minute: int = 0
    account_per_second: int = 0
    is_group: Callable[[Address], bool] = _no_group
    edits_per_minute: int = 0
    threads_apart: bool = False


class _Window:
    """At most ``limit`` calls in any ``seconds``; a limit of 0 lets everything through."""

    __slots__ = ("_seconds", "_taken", "share")

    def __init__(self, limit: int, seconds: float) -> None:
        limit = limit if seconds > 0 else 0
        self._seconds, self._taken = seconds, deque[float](maxlen=limit)
        self.share = seconds / limit if limit else 0.0
        """What one call gets of ``seconds`` where they are spread evenly."""

    def free_at(self) -> float:
        return self._taken[0] + self._seconds if self._taken and len(self._taken) == self._taken.maxlen else -inf

    def take(self, now: float) -> None:
        self._taken.append(now)

    @property
    def idle_at(self) -> float:
        return self._taken[-1] + self._seconds if self._taken else -inf


class _Bucket:
    """``rate`` calls a second, evenly; a rate of 0 lets everything through."""

    __slots__ = ("_interval", "_level_at", "_slack")

    def __init__(self, rate: float) -> None:
        self._interval = 1.0 / (rate * _EVEN) if rate else 0.0
        self._slack = max(0.0, rate * _AT_ONCE - 1) * self._interval
        self._level_at = -inf

    def free_at(self) -> float:
        return self._level_at - self._slack

    def take(self, now: float) -> None:
        self._level_at = max(now, self._level_at) + self._interval


@dataclass(slots=True, eq=False)
class _Ticket:
    """One waiting call (``takes``) or one that only asks for room."""

    kind: CallKind
    number: int
    takes: bool
    edit: bool
    queued: bool = False
    granted: bool = False
    left: bool = False
    roused: asyncio.Event = field(default_factory=asyncio.Event)

    def __lt__(self, other: _Ticket) -> bool:
        return (self.kind, self.number) < (other.kind, other.number)


@dataclass(slots=True)
class _Chat:
    """``silent_until`` and ``answers_until`` are what the platform asked for, in monotonic seconds. ``known_from``: from
    then on everything that still counts is known."""

    pace: _Window
    minute: _Window
    interval: float = 0.0
    known_from: float = -inf
    last_at: float = -inf
    text_at: float = -inf
    silent_until: float = -inf
    answers_until: float = -inf
    tickets: list[_Ticket] = field(default_factory=list)

    def free_at(self, kind: CallKind) -> float:
        """A button's answer is no message: it waits for nothing but what was said about answers."""
        if kind is CallKind.ANSWER:
            return self.answers_until
        return max(self.silent_until, self.pace.free_at(), self.minute.free_at(), self._due_at(kind))

    def _due_at(self, kind: CallKind) -> float:
        """When a call of this kind fits into the rhythm of the others."""
        if kind is CallKind.TYPING:
            return max(self.last_at + max(2 * self.interval, self.minute.share), self.known_from)
        due_at = self.text_at + self.minute.share
        return due_at if kind is CallKind.PREVIEW else min(due_at, self.known_from)

    def take(self, kind: CallKind, now: float) -> None:
        """Typing counts, but the next text does not wait for it: it comes only after a silence that is long enough for
        both."""
        if kind is not CallKind.ANSWER:
            self.minute.take(now)
            self.last_at = now
        if kind in (CallKind.FINAL, CallKind.PREVIEW):
            self.pace.take(now)
            self.text_at = now

    def is_idle(self, now: float) -> bool:
        quiet = self.last_at + 2 * self.interval
        last = max(quiet, self.silent_until, self.answers_until, self.pace.idle_at, self.minute.idle_at)
        return not self.tickets and last <= now


@dataclass(slots=True)
class _Account:
    """``ready`` are the tickets whose chats are free, dearest kind first, oldest first."""

    second: _Bucket
    edits: _Bucket
    silent_until: float = -inf
    refusals: deque[tuple[float, float, _Chat]] = field(default_factory=deque)
    ready: list[tuple[_Ticket, _Chat]] = field(default_factory=list)

    @property
    def free_at(self) -> float:
        return max(self.silent_until, self.second.free_at())

    def bears_at(self, ticket: _Ticket, chat: _Chat) -> float:
        """When neither the chat nor what the account bears of such calls stands in its way any more."""
        free_at = chat.free_at(ticket.kind)
        return max(free_at, self.edits.free_at()) if ticket.edit else free_at

    def rouse_first(self) -> None:
        while self.ready and self.ready[0][0].left:
            heapq.heappop(self.ready)
        if self.ready:
            self.ready[0][0].roused.set()

    def crowded_until(self, chat: _Chat, now: float, until: float) -> float | None:
        """Where this refusal is one of many: until when the account shall be silent, which is a guess, and no longer than
        the shortest of them says. The chats that were told to wait longer do so by themselves."""
        self.refusals.append((now, until, chat))
        while self.refusals[0][0] < now - _CROWD_SECONDS:
            self.refusals.popleft()
        crowd = {id(refused) for _, _, refused in self.refusals}
        if len(crowd) < _CROWD:
            return None
        return min(now + _GUESS_SECONDS, *(end for _, end, _ in self.refusals))


class BucketGovernor:
    """Implements ``bot.core.ports.Governor``. ``rates`` are by channel name; a channel without any has no limits.

    Every waiter sleeps until its chat is free and then stands in its account's line. Whoever is first there sleeps until
    the account is free, and rouses the next when it leaves: there is no task of its own to run or to lose.
    """

    def __init__(self, clock: Clock, rates: Mapping[str, Rates] | None = None) -> None:
        self._clock = clock
        self._rates = dict(rates or {})
        self._chats: dict[tuple[str, str, str], _Chat] = {}
        self._accounts: dict[tuple[str, str], _Account] = {}
        self._numbers = itertools.count(1)
        self._known_from = clock.monotonic() + _GROUP_WINDOW

    def declare(self, channel: str, rates: Rates) -> None:
        """Set what ``channel`` bears, before its first call."""
        self._rates[channel] = rates

    @property
    def known_chats(self) -> int:
        return len(self._chats)

    def has_room(self, to: Address, kind: CallKind, *, edit: bool = False) -> bool:
        chat, account = self._places(to)
        free_at = max(account.bears_at(_Ticket(kind, 0, False, edit), chat), account.free_at)
        return not account.ready and not chat.tickets and free_at <= self._clock.monotonic() + _TOLERANCE

    async def room(self, to: Address, kind: CallKind, *, edit: bool = False) -> None:
        await self._admitted(to, _Ticket(kind, next(self._numbers), False, edit))

    @asynccontextmanager
    async def call(self, to: Address, kind: CallKind, *, edit: bool = False) -> AsyncIterator[None]:
        await self._admitted(to, _Ticket(kind, next(self._numbers), True, edit))
        try:
            yield
        except RateLimited as limited:
            self._refused(to, kind, limited)
            raise

    def silence(self, to: Address, seconds: float) -> None:
        chat, _ = self._places(to)
        chat.silent_until = max(chat.silent_until, self._clock.monotonic() + seconds)

    async def _admitted(self, to: Address, ticket: _Ticket) -> None:
        chat, account = self._places(to)
        chat.tickets.append(ticket)
        try:
            while (wait := self._wait(ticket, chat, account)) is not None:
                ticket.roused.clear()
                await first_of(self._clock.sleep(wait), ticket.roused.wait())
        finally:
            ticket.left = True
            chat.tickets.remove(ticket)
            account.rouse_first()

    def _wait(self, ticket: _Ticket, chat: _Chat, account: _Account) -> float | None:
        """Seconds after which it is worth asking again, or None once the ticket is granted."""
        now = self._clock.monotonic()
        for waiting in chat.tickets:
            if not waiting.queued and account.bears_at(waiting, chat) <= now + _TOLERANCE:
                waiting.queued = True
                heapq.heappush(account.ready, (waiting, chat))
        self._grant(account, now)
        if ticket.granted:
            return None
        if ticket.queued and account.ready[0][0] is not ticket:
            return _IN_LINE_SECONDS
        return max(account.bears_at(ticket, chat), account.free_at) - now

    def _grant(self, account: _Account, now: float) -> None:
        while account.ready and account.free_at <= now + _TOLERANCE:
            ticket, chat = heapq.heappop(account.ready)
            ticket.queued = False
            ticket.roused.set()
            if ticket.left or ticket.granted or account.bears_at(ticket, chat) > now + _TOLERANCE:
                continue
            ticket.granted = True
            if ticket.takes:
                chat.take(ticket.kind, now)
                account.second.take(now)
                if ticket.edit:
                    account.edits.take(now)

    def _refused(self, to: Address, kind: CallKind, limited: RateLimited) -> None:
        chat, account = self._places(to)
        now = self._clock.monotonic()
        until = now + limited.retry_after
        place = "all chats" if limited.everywhere else to
        log.warning("%s asks for %.1f s of silence in %s", to.channel, limited.retry_after, place)
        crowd = None if kind is CallKind.ANSWER else account.crowded_until(chat, now, until)
        if limited.everywhere:
            account.silent_until = max(account.silent_until, until)
        elif crowd is not None:
            log.warning("%s refuses in several chats: all of them wait %.1f s", to.channel, crowd - now)
            account.silent_until = max(account.silent_until, crowd)
        if kind is CallKind.ANSWER:
            chat.answers_until = max(chat.answers_until, until)
        else:
            chat.silent_until = max(chat.silent_until, until)

    def _places(self, to: Address) -> tuple[_Chat, _Account]:
        """Threads of a chat share its budget, as most platforms count."""
        rates = self._rates.get(to.channel, Rates())
        key = (to.channel, to.account, (to.thread or to.chat) if rates.threads_apart else to.chat)
        chat = self._chats.get(key)
        if chat is None:
            if len(self._chats) % _SWEEP_EVERY == _SWEEP_EVERY - 1:
                self._forget()
            group = rates.group_per_minute if rates.is_group(to) else 0
            pace, minute = _Window(1, rates.chat_interval), _Window(group, _GROUP_WINDOW)
            chat = _Chat(pace, minute, rates.chat_interval, self._known_from if group else -inf)
            self._chats[key] = chat
        account = self._accounts.get((to.channel, to.account))
        if account is None:
            account = _Account(_Bucket(rates.account_per_second), _Bucket(rates.edits_per_minute / 60))
            self._accounts[to.channel, to.account] = account
        return chat, account

    def _forget(self) -> None:
        now = self._clock.monotonic()
        self._chats = {key: chat for key, chat in self._chats.items() if not chat.is_idle(now)}
