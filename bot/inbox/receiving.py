"""``receive``: authorise, record once, and only then let the platform be told; presses and stops act at once."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Container
from dataclasses import replace
from typing import Final

from bot.brain.approvals import Approvals
from bot.brain.turn import Turn
from bot.core.address import Address, Sender
from bot.core.errors import ChannelError
from bot.core.inbound import (
    ButtonPress,
    Inbound,
    Joined,
    MessageDeleted,
    MessageEdited,
    Reaction,
    Receipt,
    StopPressed,
    UserMessage,
)
from bot.core.ports import Clock
from bot.core.text import clipped, storable
from bot.core.texts import language_of, say
from bot.inbox.commands import command_of
from bot.inbox.early import EarlyEdits
from bot.inbox.gate import NOT_ADDRESSED, NOT_SERVED, Gate
from bot.inbox.groups import ALLOW, Groups
from bot.inbox.lanes import Lanes
from bot.inbox.manners import Manners
from bot.inbox.marks import Marks
from bot.inbox.pairing import Pairing
from bot.inbox.retries import RETRY, Retries
from bot.inbox.revisions import Revisions
from bot.store.inbox import InboxRow, InboxRows
from bot.store.overheard import OverheardRows

log = logging.getLogger(__name__)

DELETED: Final = "deleted by its author"
SET_ASIDE: Final = "set aside"
MAX_TEXT_CHARS: Final = 100_000
OVERHEARD_CHARS: Final = 600
NAME_CHARS: Final = 40

Answer = Callable[[ButtonPress, str], Awaitable[None]]


class Inbox:
    """``answer`` tells a presser what came of the press (by way of the press's channel)."""

    def __init__(
        self,
        *,
        gate: Gate,
        pairing: Pairing,
        rows: InboxRows,
        lanes: Lanes,
        approvals: Approvals,
        answer: Answer,
        revisions: Revisions,
        retries: Retries,
        marks: Marks,
        overheard: OverheardRows,
        manners: Manners,
        groups: Groups,
        clock: Clock,
        language: str,
    ) -> None:
        self._gate, self._pairing, self._rows, self._lanes = gate, pairing, rows, lanes
        self._approvals, self._revisions, self._retries, self._marks = approvals, revisions, retries, marks
        self._overheard, self._manners, self._groups = overheard, manners, groups
        self._answer, self._clock, self._language = answer, clock, language
        self._early = EarlyEdits(clock)
        self._acting: set[int] = set()
        self._closed = False

    async def receive(self, inbound: Inbound) -> Receipt:
        """Implements ``bot.core.ports.Receive``. What was recorded is worked on while it reaches the disk."""
        receipt = await self._received(inbound)
        await self._rows.synced()
        return receipt

    async def _received(self, inbound: Inbound) -> Receipt:
        match inbound:
            case UserMessage():
                return await self._message(inbound)
            case ButtonPress():
                return await self._press(inbound)
            case StopPressed():
                return await self._once(inbound, self._stopped)
            case MessageDeleted() | MessageEdited() if self._closed:  # left open: the next start looks at it
                return Receipt(duplicate=(await self._rows.record(inbound, "", self._clock.now())).duplicate)
            case MessageDeleted():
                return await self._once(inbound, self._deleted)
            case MessageEdited():
                return await self._edited(inbound)
            case Reaction():
                return await self._reacted(inbound)
            case Joined():
                return await self._once(inbound, self._joined)

    async def resume(self, channels: Container[str] | None = None) -> int:
        """Before the channels start: return unfinished rows to their lanes, in order. Return how many turns go on.

        A press that was recorded and not applied is applied, and answered where the platform's deadline is not over.
        Rows of channels that are not among ``channels`` wait for a start with them. Who may no longer talk, or never
        might, is not answered.
        """
        seen: set[str] = set()
        for row in await self._rows.unfinished():
            if isinstance(row.inbound, MessageEdited) and (channels is None or row.inbound.address.channel in channels):
                await self._rows.finish(row.id, await self._revisions.at_start(row.inbound), self._clock.now())
        for row in await self._rows.unfinished():
            if channels is not None and row.inbound.address.channel not in channels:
                continue
            match row.inbound:
                case UserMessage() as message if not row.turn or self._gate.verdict(message).kind != "welcome":
                    await self._rows.finish(row.id, SET_ASIDE, self._clock.now())
                case UserMessage() as message if not row.attempts and await self._rows.is_deleted(message):
                    await self._rows.finish(row.id, DELETED, self._clock.now())
                case UserMessage():
                    if row.turn not in seen:  # later rows of the same turn were steered into it
                        seen.add(row.turn)
                        self._lanes.submit(row)
                case ButtonPress() as press:
                    await self._decided(press)
                    await self._rows.finish(row.id, "decided", self._clock.now())
                case _:
                    await self._rows.finish(row.id, "too late after a restart", self._clock.now())
        return len(seen)

    async def turn_out(self, identity: str) -> None:
        """The person was sent away: what waits is not answered, and what runs is stopped."""
        theirs = [
            (row, message)
            for row in await self._rows.unfinished()
            if isinstance(message := row.inbound, UserMessage) and message.sender.identity == identity
        ]
        for row, message in theirs:
            if self._lanes.withdraw(message.address, message.id) is not None:
                await self._rows.finish(row.id, SET_ASIDE, self._clock.now())
        for address in {message.address for _, message in theirs}:
            self._lanes.stop(address, lambda turn: turn.sender.identity == identity)

    def close(self) -> None:
        """From now on messages are stored and wait for the next start."""
        self._closed = True
        self._lanes.close()

    async def _message(self, message: UserMessage) -> Receipt:
        message = replace(message, text=storable(message.text))
        language = language_of(message.text, self._language, message.sender.language)
        message = self._manners.meant(message)
        verdict = self._gate.verdict(message)
        if verdict.kind == "welcome" and self._manners.too_talkative(message):
            return await self._turn_away(message, "a bot that talks too much")
        if verdict is NOT_ADDRESSED or (verdict.kind == "welcome" and _is_anothers(message)):
            return await self._overhear(message)
        if verdict.kind == "silent":
            receipt = await self._turn_away(message, verdict.reason)
            if verdict is not NOT_SERVED or receipt.duplicate or not self._gate.is_call(message):
                return receipt
            return Receipt(refused=await self._groups.called(message, language))
        if verdict.kind == "refuse":
            receipt = await self._turn_away(message, verdict.reason)
            return receipt if receipt.duplicate else Receipt(refused=await self._pairing.knock(message, language))
        if len(message.text) > MAX_TEXT_CHARS:
            return await self._turn_away(message, "too long", say("refused_too_long", language, limit=MAX_TEXT_CHARS))
        quoted = message.quote.text if message.quote is not None else ""
        if not (message.text.strip() or message.all_files or quoted.strip() or message.caller or message.again):
            return await self._turn_away(message, "empty", say("refused_empty", language))
        command = command_of(message.text)
        if command is not None and command.name == "retry" and message.caller is None:
            message = await self._retries.again(message) or message
        recorded = await self._rows.record(message, secrets.token_hex(6), self._clock.now())
        row = recorded.row
        if (
            recorded.deleted
            and not recorded.finished
            and not self._lanes.runs(message.address, lambda turn: turn.id == row.turn)
        ):
            await self._rows.finish(row.id, DELETED, self._clock.now())
            return Receipt(duplicate=recorded.duplicate)
        if not recorded.duplicate and (edit := self._early.take(message)) is not None:
            row = await self._revisions.reworded(edit) or row
        if row.turn and not recorded.finished and not self._closed:
            self._lanes.submit(row)  # a delivery that broke off may have stored it and got no further
        return Receipt(row.turn, recorded.duplicate)

    async def _overhear(self, message: UserMessage) -> Receipt:
        """Said in a group that the bot serves, and not to the bot: context for the next who asks it there."""
        receipt = await self._turn_away(message, NOT_ADDRESSED.reason)
        edit = self._early.take(message)
        text = clipped((edit or message).text.strip(), OVERHEARD_CHARS)
        if text and not receipt.duplicate:
            name = message.sender.name or message.sender.id
            await self._overheard.keep(_said_at(message), message.id, clipped(name, NAME_CHARS), text)
        return receipt

    async def _turn_away(self, message: UserMessage, reason: str, sentence: str = "") -> Receipt:
        """Keep the reason for a silence or a refusal, and nothing of what was written."""

        async def kept(_: Inbound) -> str:
            return reason

        receipt = await self._once(replace(message, text="", quote=None, files=()), kept)
        return replace(receipt, refused=sentence)

    async def _reacted(self, reaction: Reaction) -> Receipt:
        async def apply(_: Inbound) -> str:
            if await self._marks.noted(reaction):
                return "marked"
            message = None if self._closed else await self._retries.disliked(reaction)
            if message is None or self._gate.verdict(message).kind != "welcome":
                return "noted"
            await self._message(message)
            return "asked again"

        return await self._once(reaction, apply)

    async def _edited(self, edit: MessageEdited) -> Receipt:
        """Of a message that nobody answers nothing is kept but that it was changed; of one that is still to come, for a
        while, how."""
        self._early.keep(edit)
        if await self._rows.open_message(edit.address, edit.message_id) is None:
            for where in _perhaps_said_at(edit.address):
                await self._overheard.reword(where, edit.message_id, clipped(edit.text, OVERHEARD_CHARS))
                if await self._rows.find(where, "message", edit.message_id) is not None:
                    self._early.drop(edit)
            return await self._once(replace(edit, text=""), self._noted)
        self._early.drop(edit)

        async def apply(_: Inbound) -> str:
            return await self._revisions.edited(edit)

        return await self._once(edit, apply)

    async def _once(self, inbound: Inbound, act: Callable[[Inbound], Awaitable[str]]) -> Receipt:
        """Record, act, finish; a repeated delivery of something dealt with does nothing."""
        recorded = await self._rows.record(inbound, "", self._clock.now())
        if recorded.finished or recorded.row.id in self._acting:
            return Receipt(duplicate=True)
        if recorded.deleted:
            await self._rows.finish(recorded.row.id, DELETED, self._clock.now())
            return Receipt(duplicate=True)
        self._acting.add(recorded.row.id)
        try:
            outcome = await act(inbound)
            await self._rows.finish(recorded.row.id, outcome, self._clock.now())
        finally:
            self._acting.discard(recorded.row.id)
        return Receipt()

    async def _joined(self, inbound: Inbound) -> str:
        return await self._groups.joined(inbound) if isinstance(inbound, Joined) else "noted"

    async def _press(self, press: ButtonPress) -> Receipt:
        return await self._once(press, lambda _: self._decided(press))

    async def _decided(self, press: ButtonPress) -> str:
        notice = await self._decide(press)
        try:
            await self._answer(press, notice)
        except ChannelError as error:
            log.warning("the answer to a press did not arrive: %s", error)
        return "decided"

    async def _decide(self, press: ButtonPress) -> str:
        language = language_of("", press.sender.language or self._language)
        mark, _, rest = press.payload.partition(":")
        turn_id, _, verb = rest.partition(":")
        if mark != "b" or not verb:
            return say("press_unknown", language)
        if verb == "stop":
            return self._stop_one(press, turn_id, language)
        if verb == ALLOW:
            return await self._groups.allow(press, turn_id, language)
        if verb == RETRY:
            return await self._retry(press, turn_id, language)
        return await self._approvals.decide(press, language)

    async def _retry(self, press: ButtonPress, turn_id: str, language: str) -> str:
        message = await self._retries.pressed(press, turn_id, self._gate.is_owner)
        if not isinstance(message, UserMessage):
            return say(message, language)
        if self._gate.verdict(message).kind != "welcome":
            return say("press_unknown", language)
        await self._message(message)
        return say("retry_begun", language)

    def _stop_one(self, press: ButtonPress, turn_id: str, language: str) -> str:
        if self._lanes.stop(press.address, lambda turn: turn.id == turn_id and self._may_stop(press.sender, turn)):
            return say("press_stopped", language)
        runs = self._lanes.runs(press.address, lambda turn: turn.id == turn_id)
        return say("press_stop_not_yours" if runs else "press_nothing", language)

    def _may_stop(self, sender: Sender, turn: Turn) -> bool:
        return self._gate.is_owner(sender) or turn.sender.identity == sender.identity

    async def _stopped(self, inbound: Inbound) -> str:
        if not isinstance(inbound, StopPressed):
            return "noted"
        return f"stopped {self._lanes.stop(inbound.address, lambda turn: self._may_stop(inbound.sender, turn))}"

    async def _deleted(self, inbound: Inbound) -> str:
        if isinstance(inbound, MessageDeleted):
            row: InboxRow | None = self._lanes.withdraw(inbound.address, inbound.message_id)
            if row is not None:
                await self._rows.finish(row.id, DELETED, self._clock.now())
            else:
                self._lanes.stop(inbound.address, lambda turn: turn.message.id == inbound.message_id)
                self._lanes.deleted(inbound.address, inbound.message_id)
                for where in _perhaps_said_at(inbound.address):
                    await self._overheard.drop(where, inbound.message_id)
        return "noted"

    async def _noted(self, inbound: Inbound) -> str:
        return "noted"


def _said_at(message: UserMessage) -> Address:
    """A message under which an answer would open a thread stands in the chat above; a thread that is there is among its
    places."""
    opens = message.address.thread == message.id and message.id not in message.places
    return replace(message.address, thread="") if opens else message.address


def _perhaps_said_at(told: Address) -> set[Address]:
    return {told, replace(told, thread="")}


def _is_anothers(message: UserMessage) -> bool:
    """Where a bot answers everything, a command that it does not know is one of another bot's, unless it is called by name."""
    command = command_of(message.text)
    return not (message.direct or message.addressed) and command is not None and not command.known
