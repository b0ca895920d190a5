"""Keeping a platform equal to the view of one turn: when a call is worth it, which one comes next, what if it fails."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FleetingRefused,
    MessageGone,
    RateLimited,
    Unauthorised,
)
from bot.core.events import TextDelta, ToolStarted, TurnEnded, TurnEvent
from bot.core.ports import CallKind, Channel, Clock, Governor
from bot.core.tasks import first_of
from bot.core.view import Limits, Part, Ref, View
from bot.outbox.enclosures import Enclosures, SendFile, SendFiles, Slot
from bot.outbox.fold import fold, less_of, open_cards
from bot.outbox.ledger import Ledger
from bot.outbox.parts import Look, Wanted, wanted_parts
from bot.outbox.screen import Screen
from bot.outbox.ways import Ways

log = logging.getLogger(__name__)

FIRST_CHARS: Final = 30
FIRST_SECONDS: Final = 0.9
"""The first preview leaves at so many characters or so long after the first token: within a second, with some to spare."""
THINKING_SECONDS: Final = 4.0
"""A model that is silent for so long gets a thinking line, and with it a Stop button; until then typing is enough."""
SIGN_SECONDS: Final = 0.6
"""The same where there is no typing: somebody waits for a sign of life no longer than a second."""
TICK_SECONDS: Final = 5.0
"""How often the seconds of a running tool move on; more slowly where the platform is slow or the tool takes long."""
RETRY_SECONDS: Final = 60.0
PATIENCE_SECONDS: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """``reason`` says why the final view is not on screen: ``chat_closed``, ``unauthorised``, ``unreachable``,
    ``too_long``, ``message_gone`` or ``refused``."""

    delivered: bool
    reason: str = ""


DELIVERED: Final = Outcome(True)

Offering = tuple[Ref, Part]
"""A message that stands complete and has buttons."""


class Publisher:
    """One turn on one channel. ``emit`` never waits; ``run`` returns once the final view stands or cannot stand."""

    def __init__(
        self,
        channel: Channel,
        governor: Governor,
        ledger: Ledger,
        clock: Clock,
        address: Address,
        turn: str,
        language: str,
        *,
        limits: Limits | None = None,
        send_file: SendFile | None = None,
        send_files: SendFiles | None = None,
        screen: Screen | None = None,
        jitter: Callable[[], float] = random.random,
        patience: float = PATIENCE_SECONDS,
        work: Literal["all", "brief", "none"] = "all",
        stands: Callable[[Offering | None], None] | None = None,
    ) -> None:
        """``limits`` where this address has its own, ``send_file`` and ``send_files`` where the channel has them, ``screen``
        what an earlier publisher of the turn has shown (one that the store broke off knows more than the ledger),
        ``jitter`` uniform in [0, 1), ``patience`` the seconds after the end of the turn in which an unreachable platform is
        tried again, ``work`` how much is shown of tools, ``stands`` is told once the whole answer does."""
        self._channel, self._governor, self._clock = channel, governor, clock
        self._to, self._turn, self._language = address, turn, language
        self._limits, self._jitter, self._patience = limits or channel.limits, jitter, patience
        self._work_shown, self._told_stands = work, stands
        self._screen = screen or Screen(channel, ledger, address, turn, structured=self._limits.structured)
        self._enclosures = Enclosures(channel, send_file, ledger, address, turn, language, send_files)
        self._view = View(turn)
        self._pending: list[TurnEvent] = []
        self._news, self._ended = asyncio.Event(), asyncio.Event()
        self._version = self._settled = 0
        self._first_token_at: float | None = None
        self._began_at = clock.monotonic()
        self._ended_at = 0.0
        self._tool_began: dict[str, float] = {}
        self._note = ""
        self._made: tuple[object, list[Wanted]] | None = None
        self._ways = Ways(turn)
        self._deleted: set[str] = set()
        self._failures = self._refusals = 0
        self._shown_at = 0.0
        self._offering: Part | None = None

    @property
    def screen(self) -> Screen:
        return self._screen

    @property
    def repeated_sends(self) -> int:
        """Sends made again although an earlier one may have arrived."""
        return self._screen.repeated_sends

    def emit(self, event: TurnEvent) -> None:
        """Never waits and never fails. Costs the length of the event: text is put together when it is looked at."""
        now = self._clock.monotonic()
        match event:
            case TextDelta(text) if text and self._first_token_at is None:
                self._first_token_at = now
            case ToolStarted(call_id):
                self._tool_began[call_id] = now
            case TurnEnded() if not self._ended.is_set():
                self._ended_at = now
                self._ended.set()
        self._pending.append(less_of(event, self._work_shown))
        self._version += 1
        self._news.set()

    def deleted(self, message_id: str) -> None:
        """Somebody has deleted this message. Never waits: what may still change is shown anew, so that a question to a
        person is there to be answered; what is complete stays away."""
        if self._screen.at(message_id) is not None:
            self._deleted.add(message_id)
            self._version += 1
            self._news.set()

    @property
    def view(self) -> View:
        """The latest view: every event so far folded in."""
        pending, self._pending = self._pending, []
        texts: list[str] = []
        for event in pending:
            if isinstance(event, TextDelta):
                texts.append(event.text)
                continue
            self._view = fold(self._view, TextDelta("".join(texts)), self._language)
            self._view = fold(self._view, event, self._language)
            texts.clear()
        self._view = fold(self._view, TextDelta("".join(texts)), self._language)
        return self._view

    async def run(self) -> Outcome:
        """Show the latest view whenever the governor has room, until the final one stands.

        Of the errors this meets only ``StoreError`` comes out, and what is a defect of the channel.
        """
        await self._screen.restore()
        while True:
            self._news.clear()
            if self._settled == self._version:
                if self.view.final:
                    self._tell_stands()
                    return DELIVERED
                await self._rest()
            elif (hold := self._hold()) != 0:
                await self._pause(hold)
            else:
                await self._room()
                outcome = await self._step()
                if outcome is not None:
                    return outcome

    def _tell_stands(self) -> None:
        ref = self._screen.ref_of(self._offering.index) if self._offering else None
        if self._told_stands is not None:
            self._told_stands((ref, self._offering) if ref and self._offering else None)

    async def close(self, note: str) -> None:
        """After ``run`` was cancelled because the process ends: show the text so far with ``note`` below it.

        The parts look final, but the ledger keeps them open, and the next start goes on in them. Gives up at the first
        failure; the caller sets the time limit. Where nothing is on screen, nothing is said.
        """
        await self._screen.restore()
        if not self._version or self._screen.is_empty:
            return
        self._note = "" if self.view.final else note
        while (work := await self._work()) is not None:
            if isinstance(work, Slot) or (isinstance(work, Wanted) and self._screen.maybe_sent(work)):
                return
            await self._governor.room(self._to, CallKind.FINAL, edit=self._screen.is_open)
            try:
                await self._do(work)
            except ChannelError as error:
                log.info("turn %s: the last state is not shown: %s", self._turn, type(error).__name__)
                return

    # when to call

    async def _rest(self) -> None:
        """Until something happens, the seconds of a running tool should move on, or what is fleeting is to be renewed."""
        limits = self._limits
        running = [line.call_id for line in self.view.tools if line.seconds is None]
        began = [self._tool_began[call_id] for call_id in running if call_id in self._tool_began]
        waits = []
        if began and not limits.structured and limits.can_edit:
            waits.append(max(TICK_SECONDS, 3 * limits.pace, (self._clock.monotonic() - min(began)) / 6))
        waits += [wait for wait in (self._renewal(), self._recheck()) if wait is not None]
        if await self._pause(min(waits, default=None)):
            self._version += 1

    def _renewal(self) -> float | None:
        """Seconds until what is fleeting should be shown once more, changed or not, with time left for a second try; None
        where nothing is."""
        if not (self._limits.fleeting and self._screen.is_fleeting):
            return None
        return max(0.0, self._shown_at + self._limits.fleeting / 2 - self._clock.monotonic())

    def _recheck(self) -> float | None:
        """Seconds until it should be found out whether a question to a person still stands there."""
        if not (self._limits.recheck and self._screen.is_open and open_cards(self.view.cards)):
            return None
        return max(0.0, self._shown_at + self._limits.recheck - self._clock.monotonic())

    def _hold(self) -> float | None:
        """Seconds until the view is worth a first call; None: not before something else happens."""
        view, limits = self.view, self._limits
        if view.final or limits.structured or limits.pace == 0:
            return 0
        if not limits.previews:
            return 0 if open_cards(view.cards) else None
        if not self._screen.is_empty or view.tools or view.cards or view.notices:
            return 0
        if len(view.text.strip()) >= FIRST_CHARS:
            return 0
        now = self._clock.monotonic()
        if self._first_token_at is None or not view.text.strip():
            silence = SIGN_SECONDS if limits.signs_in_threads and not self._to.thread else THINKING_SECONDS
            return max(0.0, self._began_at + silence - now) if limits.can_edit else None
        return max(0.0, self._first_token_at + FIRST_SECONDS - now)

    async def _pause(self, seconds: float | None) -> bool:
        """Whether ``seconds`` went by without news."""
        if seconds is None:
            await self._news.wait()
        else:
            await first_of(self._news.wait(), self._clock.sleep(seconds))
        return not self._news.is_set()

    async def _room(self) -> None:
        """The end of the turn makes a final of a preview that waits."""
        edit = self._screen.is_open
        if not self._ended.is_set() and not self._governor.has_room(self._to, CallKind.PREVIEW, edit=edit):
            await first_of(self._governor.room(self._to, CallKind.PREVIEW, edit=edit), self._ended.wait())
        if self._ended.is_set():
            await self._governor.room(self._to, CallKind.FINAL, edit=edit)

    # what to call

    async def _work(self) -> Wanted | int | Slot | None:
        """The next difference between wanted and shown: a part to show, the index of one to remove, behind the final
        text a file, or nothing."""
        await self._forget_deleted()
        await self._screen.reopen(self.view.text)
        wanted = self._wanted()
        while wanted and wanted[0].end is not None and self._screen.stands(wanted[0]):
            await self._screen.seal(wanted[0].part.index, wanted[0].end, self.view.text)
            wanted = self._wanted()
        for want in wanted:
            if not self._screen.stands(want) and self._may_show(want):
                return want
        complete = wanted[-1].part.last if wanted else self.view.final
        behind = self._screen.last_behind(len(self._screen.sealed) + len(wanted)) if complete else None
        if behind is None and self.view.final and not self._limits.structured:
            return await self._enclosures.next(self.view)
        return behind

    async def _forget_deleted(self) -> None:
        while self._deleted:
            if (index := self._screen.at(self._deleted.pop())) is not None:
                await self._screen.forget(index)
                self._ways.went(index)

    def _wanted(self) -> list[Wanted]:
        """Made anew only when something that it depends on has changed; seconds and deadlines always do."""
        view = self.view
        ways = self._ways.stand, self._limits.fleeting, self._screen.copied
        basis = (self._version, self._screen.sealed[-1:], self._note, ways)
        if view.tools or view.cards or self._made is None or self._made[0] != basis:
            self._made = basis, self._make(view)
        return self._made[1]

    def _make(self, view: View) -> list[Wanted]:
        now = self._clock.monotonic()
        look = Look(
            limits=self._limits,
            render=self._channel.render,
            language=self._language,
            now=self._clock.now(),
            elapsed={call_id: now - began for call_id, began in self._tool_began.items()},
            plain=self._ways.plain,
            tight=self._ways.tight,
            note=self._note,
            copied=self._screen.copied and not self._limits.idempotent,
        )
        return [self._adapted(want) for want in wanted_parts(view, self._screen.sealed, look)]

    def _adapted(self, want: Wanted) -> Wanted:
        """What is a message stays one."""
        want = self._ways.adapted(want)
        if want.part.fleeting and self._screen.is_message(want.part.index):
            return replace(want, part=replace(want.part, fleeting=False))
        return want

    def _may_show(self, want: Wanted) -> bool:
        """Where nothing can be taken back, a preview only continues."""
        if want.part.final:
            return True
        if not self._limits.can_edit and not self._screen.continues(want):
            return False
        return self._ways.comes_back(want.part.index)

    # calling

    async def _step(self) -> Outcome | None:
        """One call, if one is needed; an outcome if it was the last."""
        version = self._version
        if self._renewal() == 0:
            self._screen.fade()
        if self._recheck() == 0:
            self._screen.doubt()
        work = await self._work()
        if work is None:
            self._settled = version
            return None
        try:
            await self._do(work)
        except RateLimited as limited:
            await self._clock.sleep(limited.retry_after)
            return None
        except (ChatClosed, Unauthorised) as error:
            return self._undelivered("chat_closed" if isinstance(error, ChatClosed) else "unauthorised", error)
        except ChannelUnreachable as error:
            return await self._unreachable(error)
        except FleetingRefused as error:
            log.info("turn %s: nothing fleeting can be shown: %s", self._turn, error)
            self._limits = replace(self._limits, fleeting=0.0)
            return None
        except ChannelError as error:
            return await self._refused(work, error, version)
        self._failures = self._refusals = 0
        if self._version == version and await self._work() is None:
            self._settled = version
        return None

    async def _do(self, work: Wanted | int | Slot) -> None:
        if isinstance(work, Wanted):
            await self._screen.show(work, lasting=work.part.final and not self._note)
            self._shown_at = self._clock.monotonic()
            self._offering = work.part if work.part.final and work.part.buttons else None
        elif isinstance(work, Slot):
            await self._enclosures.show(work)
        else:
            await self._screen.remove(work)

    def _undelivered(self, reason: str, error: ChannelError) -> Outcome:
        log.warning("turn %s cannot be shown in %s: %s (%s)", self._turn, self._to, reason, error)
        return Outcome(False, reason)

    async def _unreachable(self, error: ChannelError) -> Outcome | None:
        if self._ended.is_set() and self._clock.monotonic() - self._ended_at >= self._patience:
            return self._undelivered("unreachable", error)
        wait = min(RETRY_SECONDS, 2.0 ** min(self._failures, 10))
        self._failures += 1
        await self._clock.sleep(wait * (0.5 + self._jitter()))
        return None

    async def _refused(self, work: Wanted | int | Slot, error: ChannelError, version: int) -> Outcome | None:
        """Nothing is called again unchanged. What cannot be removed is left there."""
        if isinstance(work, int):
            await self._screen.forget(work)
            return None
        if isinstance(work, Slot):
            return None if self._enclosures.refuse(work, error) else self._undelivered("refused", error)
        index = work.part.index
        self._refusals += 1
        if isinstance(error, MessageGone):
            await self._screen.forget(index)
        reason = self._ways.refused(index, error)
        if reason == "refused" and self._refusals == 1 and not work.part.final:
            self._settled = version
            return None
        return self._undelivered(reason, error) if reason else None
