"""Lanes: one per live address, order within it, steering, parking, and stopping."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from bot.attachments.intake import unopened
from bot.brain.turn import Floor, Revision, Turn
from bot.core.address import Address
from bot.core.errors import StoreError
from bot.core.inbound import UserMessage
from bot.core.ports import Clock
from bot.core.tasks import first_failure
from bot.core.transcript import KeptFile, user_row
from bot.inbox.admission import Admission
from bot.inbox.commands import AT_ONCE, command_of
from bot.store.inbox import InboxRow
from bot.store.transcript import TranscriptRows

WhenBusy = Literal["steer", "queue", "collect", "interrupt"]

COLLECT_SECONDS: Final = 0.5
FRAGMENT_SECONDS: Final = 0.8
"""Pieces of one album or long text arrive within this time of each other (PLATFORMS.md 1.6)."""


Attach = Callable[[str, UserMessage], Awaitable[Sequence[KeptFile]]]
"""What came with a message, as it is kept for the turn of this id."""


async def nothing_opened(_: str, message: UserMessage) -> Sequence[KeptFile]:
    """Implements ``Attach``."""
    return unopened(message)


class RunTurn(Protocol):
    """Answer one message to its end, whatever happens. Only cancellation leaves it; ``stopping`` tells a person's stop
    (the turn ends) from the end of the process (the turn goes on after the next start). Set before the run, it says that
    the turn was stopped while it waited; the run sets it when there is nothing left to stop."""

    async def __call__(self, row: InboxRow, turn: Turn, floor: Floor, stopping: asyncio.Event) -> None: ...


class _Seat:
    """What a running turn holds: its lane's floor and a slot of the house. Parking gives both up for a while."""

    def __init__(self, floor: asyncio.Lock, admission: Admission, person: str, *, has_floor: bool) -> None:
        self._floor, self._admission, self._person = floor, admission, person
        self._has_floor, self._has_slot = has_floor, False

    @property
    def on_the_floor(self) -> bool:
        return self._has_floor

    async def take(self) -> None:
        if not self._has_floor:
            await self._floor.acquire()
            self._has_floor = True
        if not self._has_slot:
            await self._admission.take(self._person)
            self._has_slot = True

    def give_slot(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._admission.give()

    def give(self) -> None:
        self.give_slot()
        if self._has_floor:
            self._has_floor = False
            self._floor.release()

    @asynccontextmanager
    async def parked(self) -> AsyncIterator[None]:
        self.give()
        yield
        await self.take()


def _nobody(_: str) -> None:
    return


@dataclass(slots=True)
class _Live:
    """A turn that has a task: running, waiting for a slot, or parked."""

    turn: Turn
    task: asyncio.Task[None]
    seat: _Seat
    stopping: asyncio.Event
    begun: bool = False
    revisions: deque[Revision] = field(default_factory=deque)
    deleted: Callable[[str], None] = _nobody

    def shows(self, deleted: Callable[[str], None]) -> None:
        self.deleted = deleted

    def revise(self, revision: Revision) -> None:
        """The turn begins anew with it, if it may. One that has not begun is not cancelled: it looks before it begins."""
        self.revisions.append(revision)
        if self.begun and not self.stopping.is_set():
            self.task.cancel()

    def leave(self) -> None:
        """The turn is over: what was changed since is no longer its business."""
        while self.revisions:
            if not (applied := self.revisions.popleft().applied).done():
                applied.set_result(False)

    def stop(self) -> None:
        """Once. A turn that has not begun is not cancelled: it begins, and ends where a person can see it."""
        if not self.stopping.is_set():
            self.stopping.set()
            if self.begun:
                self.task.cancel()


@dataclass(slots=True)
class _Lane:
    """``floor`` is held by the one turn of the address that is not parked; ``waiting`` are messages in order."""

    waiting: deque[InboxRow] = field(default_factory=deque)
    floor: asyncio.Lock = field(default_factory=asyncio.Lock)
    live: dict[str, _Live] = field(default_factory=dict)
    serving: bool = False


class Lanes:
    """``group`` owns every task; ``turn_of`` makes the turn of a stored message, ``attach`` looks at the files of those
    that join a running one."""

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        run: RunTurn,
        turn_of: Callable[[InboxRow, UserMessage], Turn],
        transcript: TranscriptRows,
        clock: Clock,
        admission: Admission,
        when_busy: WhenBusy,
        attach: Attach = nothing_opened,
    ) -> None:
        self._group, self._run, self._turn_of, self._attach = group, run, turn_of, attach
        self._transcript, self._clock, self._admission, self._when_busy = transcript, clock, admission, when_busy
        self._lanes: dict[Address, _Lane] = {}
        self._closed = False

    @property
    def live_turns(self) -> int:
        return sum(len(lane.live) for lane in self._lanes.values())

    @property
    def busy_turns(self) -> int:
        """Those that may still finish by themselves: not the ones that wait for a person."""
        return sum(live.seat.on_the_floor for lane in self._lanes.values() for live in lane.live.values())

    @property
    def live_lanes(self) -> int:
        return len(self._lanes)

    def submit(self, row: InboxRow) -> None:
        """Queue a stored message, once; commands that need no order are answered at once. Never waits."""
        message = row.inbound
        if self._closed or not isinstance(message, UserMessage):
            return
        lane = self._lanes.setdefault(message.address, _Lane())
        if row.turn in lane.live or any(row.turn == waiting.turn for waiting in lane.waiting):
            return  # it arrived while the unfinished were looked up after a start
        command = command_of(message.text) if message.caller is None else None
        if command is not None and (command.name in AT_ONCE or not command.known):
            self._start(lane, row, message, _Seat(lane.floor, self._admission, "", has_floor=False), beside=True)
            return
        lane.waiting.append(row)
        if self._when_busy == "interrupt":
            for live in lane.live.values():
                if live.seat.on_the_floor and live.turn.sender.identity == message.sender.identity:
                    live.stop()
        if not lane.serving:
            lane.serving = True
            self._group.create_task(self._serve(message.address, lane))

    def stop(self, address: Address, wanted: Callable[[Turn], bool]) -> int:
        """Stop those turns of the address that are ``wanted`` stopped. Return how many were running."""
        chosen = self._running(address, wanted)
        for live in chosen:
            live.stop()
        return len(chosen)

    def runs(self, address: Address, wanted: Callable[[Turn], bool]) -> bool:
        """Whether a turn of the address that is ``wanted`` could still be stopped."""
        return bool(self._running(address, wanted))

    def _running(self, address: Address, wanted: Callable[[Turn], bool]) -> list[_Live]:
        lane = self._lanes.get(address)
        return [
            live for live in (lane.live.values() if lane else ()) if wanted(live.turn) and not live.stopping.is_set()
        ]

    def withdraw(self, address: Address, message_id: str) -> InboxRow | None:
        """Take a message that has not begun out of its lane."""
        lane = self._lanes.get(address)
        found = next((row for row in lane.waiting if row.inbound.id == message_id), None) if lane else None
        if lane and found:
            lane.waiting.remove(found)
        return found

    def withdraw_all(self, address: Address, wanted: Callable[[UserMessage], bool]) -> list[InboxRow]:
        """Take the messages that are ``wanted`` taken and have not begun out of the address's lane."""
        waiting = self._waiting(address)
        found = [row for row in waiting if isinstance(row.inbound, UserMessage) and wanted(row.inbound)]
        for row in found:
            waiting.remove(row)
        return found

    def reword(self, address: Address, row: InboxRow) -> bool:
        """Let a message that has not begun read as in ``row``; False where it does not wait any more."""
        waiting = self._waiting(address)
        at = next((at for at, other in enumerate(waiting) if other.id == row.id), None)
        if at is not None:
            waiting[at] = row
        return at is not None

    def _waiting(self, address: Address) -> deque[InboxRow]:
        lane = self._lanes.get(address)
        return lane.waiting if lane else deque()

    def revise(self, address: Address, turn_id: str, revision: Revision) -> bool:
        """Hand the revision to the running turn; False where it runs no more."""
        lane = self._lanes.get(address)
        live = lane.live.get(turn_id) if lane else None
        if live is None or live.stopping.is_set():
            return False
        live.revise(revision)
        return True

    def deleted(self, address: Address, message_id: str) -> None:
        """A message is gone from this chat, in whatever thread; perhaps a turn is shown in it."""
        for place, lane in self._lanes.items():
            if replace(place, thread="") == replace(address, thread=""):
                for live in lane.live.values():
                    live.deleted(message_id)

    def close(self) -> None:
        """Take nothing more; turns that run go on until their tasks are cancelled."""
        self._closed = True
        for lane in self._lanes.values():
            lane.waiting.clear()

    def cancel(self) -> None:
        """The process ends: cancel every turn, to be resumed after the next start."""
        self.close()
        for lane in list(self._lanes.values()):
            for live in lane.live.values():
                live.task.cancel()

    async def _serve(self, address: Address, lane: _Lane) -> None:
        try:
            while lane.waiting:
                await lane.floor.acquire()
                if not lane.waiting:
                    lane.floor.release()
                    break
                row = lane.waiting.popleft()
                message = row.inbound
                assert isinstance(message, UserMessage)
                self._start(
                    lane, row, message, _Seat(lane.floor, self._admission, message.sender.identity, has_floor=True)
                )
        finally:
            lane.serving = False
            self._leave(address, lane)

    def _start(self, lane: _Lane, row: InboxRow, message: UserMessage, seat: _Seat, beside: bool = False) -> None:
        turn = self._turn_of(row, message)
        stopping = asyncio.Event()
        task = self._group.create_task(self._turn(lane, row, turn, seat, stopping, beside))
        lane.live[turn.id] = _Live(turn, task, seat, stopping)

    async def _turn(
        self, lane: _Lane, row: InboxRow, turn: Turn, seat: _Seat, stopping: asyncio.Event, beside: bool
    ) -> None:
        async def steer(first: bool) -> int:
            return await self._steer(lane, turn, first)

        try:
            if not beside:
                await seat.take()
            live = lane.live[turn.id]
            live.begun = True
            revisions = live.revisions
            floor = Floor(
                steer,
                seat.parked,
                seat.give_slot,
                revision=lambda: revisions.popleft() if revisions else None,
                is_revised=lambda: bool(revisions),
                regain=seat.take,
                shows=live.shows,
            )
            await self._run(row, turn, floor, stopping)
        finally:
            seat.give()
            if (gone := lane.live.pop(turn.id, None)) is not None:
                gone.leave()
            self._leave(turn.address, lane)

    async def _steer(self, lane: _Lane, turn: Turn, first: bool) -> int:
        """Let waiting messages of the same person join the turn, in order, up to the first that must stand alone.

        With ``collect`` also before the turn begins, with a moment for more to come. Pieces of the message that opened
        the turn join it before it begins, whatever is set.
        """
        if first and turn.message.fragment:
            return await self._gather(lane, turn)
        if self._when_busy not in ("steer", "collect") or (first and self._when_busy == "steer"):
            return 0
        if first:
            await self._clock.sleep(COLLECT_SECONDS)
        joined = 0
        while lane.waiting:
            message = lane.waiting[0].inbound
            if not isinstance(message, UserMessage) or message.caller is not None or command_of(message.text):
                break
            if message.sender.identity != turn.sender.identity:
                break
            joined += await self._joined(lane, turn, [lane.waiting[0]])
        return joined

    async def _gather(self, lane: _Lane, turn: Turn) -> int:
        """The other pieces, until none has come for a while."""
        joined = 0
        while True:
            await self._clock.sleep(FRAGMENT_SECONDS)
            pieces = [row for row in lane.waiting if _is_piece(row, turn.message)]
            if not pieces:
                return joined
            joined += await self._joined(lane, turn, pieces)

    async def _joined(self, lane: _Lane, turn: Turn, rows: Sequence[InboxRow]) -> int:
        """Take waiting messages into the turn, and return how many; what came with them is fetched side by side first."""

        async def files_of(row: InboxRow) -> Sequence[KeptFile]:
            message = row.inbound
            return (
                await self._attach(turn.id, message) if isinstance(message, UserMessage) and message.all_files else ()
            )

        try:
            async with asyncio.TaskGroup() as group:
                fetching = [(row, group.create_task(files_of(row))) for row in rows]
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        return sum([await self._join(lane, turn, row, tuple(task.result())) for row, task in fetching])

    async def _join(self, lane: _Lane, turn: Turn, row: InboxRow, files: tuple[KeptFile, ...]) -> int:
        """Take a waiting message into the turn; 0 when it was dealt with, or changed, meanwhile."""
        message = row.inbound
        assert isinstance(message, UserMessage)
        if row not in lane.waiting:
            return 0
        at = lane.waiting.index(row)
        lane.waiting.remove(row)
        said = user_row(message, files, steered=True)
        try:
            return int(bool(await self._transcript.steer(row.id, turn.address, turn.id, self._clock.now(), said)))
        except StoreError:
            lane.waiting.insert(at, row)
            raise

    def _leave(self, address: Address, lane: _Lane) -> None:
        """A lane with nothing to do dies."""
        if not lane.live and not lane.waiting and not lane.serving and self._lanes.get(address) is lane:
            del self._lanes[address]


def _is_piece(row: InboxRow, of: UserMessage) -> bool:
    piece = row.inbound
    return (
        isinstance(piece, UserMessage) and piece.fragment == of.fragment and piece.sender.identity == of.sender.identity
    )
