"""Running one turn: the answer and the live message side by side, and every way they can come to an end."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from bot.attachments.intake import unopened
from bot.brain.loop import HISTORY_ROWS, Brain, opening_rows
from bot.brain.turn import Emit, Floor, Turn
from bot.core.errors import StoreError
from bot.core.events import Offered, Resumed, ThinkingStarted, TurnEnded
from bot.core.ports import Clock
from bot.core.stop import StopReason
from bot.core.tasks import first_failure
from bot.core.texts import say
from bot.core.transcript import EndRow, KeptFile, Overheard, ReplyRow, UserRow, as_revised
from bot.core.view import Button
from bot.inbox.commands import Command, Commands, command_of
from bot.inbox.lanes import Attach, nothing_opened
from bot.inbox.retries import offering
from bot.outbox.publisher import Outcome, Publisher
from bot.outbox.screen import Screen
from bot.store.inbox import InboxRow
from bot.store.store import Store
from bot.store.transcript import Opening

log = logging.getLogger(__name__)

CRASHES_ALLOWED: Final = 2
STORE_WAITS: Final = (1.0, 2.0, 5.0, 15.0, 30.0)
CLOSING_SECONDS: Final = 3.0
OFF: Final = "unauthorised"


async def _nothing_earlier(_: Turn) -> Sequence[Overheard]:
    return ()


class TurnRunner:
    """Implements ``bot.inbox.lanes.RunTurn``. ``ended`` is told each stop reason (for metrics); ``earlier`` is what a
    platform can tell of a thread before the bot was asked there for the first time, ``attach`` looks at what came with
    a message."""

    def __init__(
        self,
        *,
        brain: Brain,
        commands: Commands,
        publisher: Callable[[Turn, Screen | None], Publisher],
        store: Store,
        clock: Clock,
        ended: Callable[[Turn, StopReason], None],
        trouble: Callable[[StoreError | None], None],
        earlier: Callable[[Turn], Awaitable[Sequence[Overheard]]] = _nothing_earlier,
        attach: Attach = nothing_opened,
    ) -> None:
        self._brain, self._commands, self._publisher = brain, commands, publisher
        self._store, self._clock, self._ended, self._trouble = store, clock, ended, trouble
        self._earlier, self._attach = earlier, attach

    async def __call__(self, row: InboxRow, turn: Turn, floor: Floor, stopping: asyncio.Event) -> None:
        """A store that cannot be written only delays the turn: it is tried again until it works.

        A defect outside the answer itself is met once more from the transcript; then the row says so.
        """
        waits = iter(STORE_WAITS)
        wait, defects = 0.0, 0
        publisher: Publisher | None = None
        while True:
            publisher = self._publisher(turn, publisher.screen if publisher else None)
            floor.shows(publisher.deleted)
            try:
                if wait:
                    await self._store.inbox.take_back_attempt(turn.id)
                if defects > 1:
                    await self._store.inbox.finish_turn(turn.id, "broken", self._clock.now())
                    return self._ended(turn, StopReason.INTERNAL_ERROR)
                await self._once(row, turn, floor, stopping, publisher)
                return self._trouble(None)
            except StoreError as error:
                wait = next(waits, STORE_WAITS[-1])
                log.error("turn %s waits %g s for the store: %s", turn.id, wait, error)
                self._trouble(error)
            except Exception:
                defects += 1
                log.exception("turn %s could not be shown", turn.id)
            with _stoppable(stopping):
                await self._clock.sleep(wait or STORE_WAITS[0])

    async def _once(
        self, row: InboxRow, turn: Turn, floor: Floor, stopping: asyncio.Event, publisher: Publisher
    ) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                showing = group.create_task(self._shown(publisher, stopping, asyncio.current_task()))
                reason = await self._reason(row, turn, floor, stopping, offering(turn, publisher.emit))
                stopping.set()
                floor.answered()
        except BaseExceptionGroup as failures:
            raise first_failure(failures) from None
        except asyncio.CancelledError:
            await self._interrupted(turn, publisher)
            raise
        outcome = showing.result().reason
        if outcome != OFF:
            await self._store.inbox.finish_turn(turn.id, outcome or reason.value, self._clock.now())
        self._ended(turn, reason)

    async def _shown(
        self, publisher: Publisher, stopping: asyncio.Event, answering: asyncio.Task[None] | None
    ) -> Outcome:
        """Show the turn. Where the chat is closed nobody will see the rest, so nobody pays for it. A channel whose token
        is refused comes back with another one: its turns are answered, stay unfinished, and are shown at the next start.
        """
        outcome = await publisher.run()
        if not outcome.delivered and outcome.reason != OFF and not stopping.is_set() and answering is not None:
            stopping.set()
            answering.cancel()
        return outcome

    async def _reason(self, row: InboxRow, turn: Turn, floor: Floor, stopping: asyncio.Event, emit: Emit) -> StopReason:
        """Answer; turn a person's stop or a defect into a proper end, and begin anew when the question was changed. The
        end of the process passes through."""
        try:
            again = False
            while not stopping.is_set():
                with _stoppable(stopping, floor.is_revised):
                    if again or floor.is_revised():
                        turn = await self._revised(turn, floor, emit)
                    again = True
                    return await self._answer(row, turn, floor, emit)
        except StoreError:
            raise
        except Exception:
            reference = secrets.token_hex(3)
            log.exception("turn %s broke, reference %s", turn.id, reference)
            return await self._brain.break_off(turn, StopReason.INTERNAL_ERROR, emit, reference)
        await self._begin(row, turn, unopened(turn.message))
        return await self._brain.break_off(turn, StopReason.STOPPED, emit)

    async def _revised(self, turn: Turn, floor: Floor, emit: Emit) -> Turn:
        """The turn as it goes on after it was cancelled for a change of its question."""
        while (revision := floor.revision()) is not None:
            anew = turn.can_edit and await self._brain.revise(turn.address, turn.id, revision.message_id, revision.text)
            if anew:
                emit(Resumed("", files=()))
            if anew and revision.message_id == turn.message.id:
                turn = replace(turn, message=replace(turn.message, text=revision.text))
            if not revision.applied.done():
                revision.applied.set_result(anew)
        await self._store.inbox.take_back_attempt(turn.id)
        await floor.regain()
        return turn

    async def _begin(self, row: InboxRow, turn: Turn, files: Sequence[KeptFile] = (), look_back: int = 0) -> Opening:
        earlier: Sequence[Overheard] = ()
        if look_back and turn.address.thread and not await self._store.transcript.rows(turn.address, 1):
            earlier = await self._earlier(turn)
        now, rows = self._clock.now(), opening_rows(turn, files)
        return await self._store.transcript.begin(
            row.id, turn.address, turn.id, now, *rows, look_back=look_back, earlier=earlier
        )

    async def _answer(self, row: InboxRow, turn: Turn, floor: Floor, emit: Emit) -> StopReason:
        command = command_of(turn.message.text) if turn.message.caller is None else None
        if command is None and turn.message.all_files:
            emit(ThinkingStarted())  # what came along may take a while to open
        files = await self._attached(row, turn) if command is None else ()
        opening = await self._begin(row, turn, files, HISTORY_ROWS if command is None else 0)
        if opening.starts > CRASHES_ALLOWED:
            log.error("turn %s: %d starts did not end, so it is set aside", turn.id, opening.starts - 1)
            return await self._brain.break_off(turn, StopReason.PARKED, emit)
        if command is not None:
            return await self._command(turn, command, emit)
        return await self._brain.answer(turn, emit, floor, opening)

    async def _attached(self, row: InboxRow, turn: Turn) -> Sequence[KeptFile]:
        """What came with the message, once: later starts find it in the rows. Looking at it counts as a start of its own,
        so that a file which breaks the process does not do so for ever."""
        message = turn.message
        if message.again:
            asked = await self._store.transcript.turn_rows(message.again)
            return [file for one in as_revised(asked) if isinstance(one.body, UserRow) for file in one.body.files]
        if not message.all_files or await self._store.transcript.turn_rows(turn.id):
            return ()
        if await self._store.inbox.count_attempt(row.id) > CRASHES_ALLOWED:
            return unopened(message)
        files = await self._attach(turn.id, message)
        await self._store.inbox.take_back_attempt(turn.id)
        return files

    async def _command(self, turn: Turn, command: Command, emit: Emit) -> StopReason:
        rows = [row.body for row in await self._store.transcript.turn_rows(turn.id)]
        if not any(isinstance(body, EndRow) for body in rows):
            answer = await self._commands.answer(turn, command, self._clock.now())
            rows = [*answer, EndRow(StopReason.COMMAND)]
            await self._store.transcript.append(turn.address, turn.id, self._clock.now(), *rows)
        replies = [body for body in rows if isinstance(body, ReplyRow)]
        emit(Resumed("".join(reply.text for reply in replies)))
        if any(reply.offer for reply in replies):
            emit(Offered((Button(say("button_allow", turn.language), f"b:{turn.id}:allow", "primary"),)))
        emit(TurnEnded(StopReason.COMMAND))
        return StopReason.COMMAND

    async def _interrupted(self, turn: Turn, publisher: Publisher) -> None:
        """The process ends: the turn goes on after the next start, and the person is told so in the same message."""
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await self._store.inbox.take_back_attempt(turn.id)
                await publisher.close(say("restarting", turn.language))
        except (TimeoutError, StoreError) as error:
            log.warning("turn %s could not be marked as interrupted: %s", turn.id, type(error).__name__)
        except Exception:
            log.exception("turn %s could not be marked as interrupted", turn.id)


@contextmanager
def _stoppable(stopping: asyncio.Event, revised: Callable[[], bool] = bool) -> Iterator[None]:
    """A person's stop, which comes once, and a change of the question only leave the block; the end of the process passes
    through."""
    task, stopped_before = asyncio.current_task(), stopping.is_set()
    try:
        yield
    except asyncio.CancelledError:
        if task is None or stopped_before or not (stopping.is_set() or revised()):
            raise
        task.uncancel()
