"""The last question once more: by ``/retry``, by a thumb turned down at its answer, or by the button below one that ended
badly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from bot.brain.turn import Emit, Turn
from bot.core.address import Address, Sender
from bot.core.events import Offered, TurnEnded, TurnEvent
from bot.core.inbound import ButtonPress, Reaction, UserMessage
from bot.core.stop import StopReason
from bot.core.texts import say
from bot.core.transcript import EndRow, Row, UserRow, as_revised
from bot.core.view import Button, Ref
from bot.inbox.commands import command_of
from bot.inbox.lanes import Lanes
from bot.store.store import Store

LOOK_BACK_ROWS: Final = 200
FAR: Final = 2**62
DISLIKES: Final = ("👎", "-1", ":-1:", "thumbsdown")
RETRY: Final = "retry"
"""The verb of the button."""
WORTH_ANOTHER: Final = frozenset(
    {
        StopReason.STOPPED,
        StopReason.TOOL_LIMIT,
        StopReason.LOOP,
        StopReason.TOKEN_BUDGET,
        StopReason.DIMINISHING,
        StopReason.TIME_LIMIT,
        StopReason.TRUNCATED,
        StopReason.EMPTY,
        StopReason.PROVIDER_UNAVAILABLE,
        StopReason.NO_MODEL,
        StopReason.PARKED,
        StopReason.INTERNAL_ERROR,
    }
)
"""Ends that may come out otherwise the next time, and after which nothing is done twice by it: not where a tool was broken
off, of which nobody knows what it did."""

Refusal = Literal["press_unknown", "retry_not_yours", "retry_done", "retry_over"]


def is_question(turn: Turn) -> bool:
    """Whether its answer can be asked for again. An API's client has its own ways to do so."""
    return turn.message.caller is None and command_of(turn.message.text) is None


def offering(turn: Turn, emit: Emit) -> Emit:
    """``emit``, with a button below an answer that ends badly."""

    def told(event: TurnEvent) -> None:
        if is_question(turn) and isinstance(event, TurnEnded) and event.reason in WORTH_ANOTHER:
            emit(Offered((Button(say("button_retry", turn.language), f"b:{turn.id}:{RETRY}"),)))
        emit(event)

    return told


class Retries:
    def __init__(self, store: Store, lanes: Lanes) -> None:
        self._store, self._lanes = store, lanes

    async def again(self, message: UserMessage) -> UserMessage | None:
        """``message``, which asks for it, with the words of the sender's last question; None where there is none. A turn
        that still answers it is stopped: the new one takes its place. Asked a second time by the same message, nothing is:
        the last question would be its own."""
        if await self._store.inbox.find(message.address, message.kind, message.id) is not None:
            return None
        question = await self._last(message.address, message.sender)
        if question is None or not isinstance(question.body, UserRow):
            return None
        self._lanes.stop(message.address, lambda turn: turn.id == question.turn)
        rows = as_revised(await self._store.transcript.turn_rows(question.turn))
        said = (row.body.text for row in rows if isinstance(row.body, UserRow))
        text = "\n\n".join(words for words in said if words.strip())  # with what joined it: pieces, and later thoughts
        return replace(message, text=text, quote=question.body.quote, again=question.turn, fragment="")

    async def disliked(self, reaction: Reaction) -> UserMessage | None:
        """What to answer once more; None where the reaction says nothing of the sort, or is not the asker's."""
        if not reaction.added or not reaction.emoji.startswith(DISLIKES):
            return None
        turns = await self._store.parts.turns_at(Ref(reaction.message_id))
        here = await self._where(reaction.address, turns)
        question = await self._last(here, reaction.sender)
        if question is None or question.turn not in turns or not isinstance(question.body, UserRow):
            return None
        asked = await self._store.inbox.find(here, "message", question.body.message_id)
        if asked is None or not isinstance(asked.inbound, UserMessage):
            return None
        again = await self.again(replace(asked.inbound, id=f"{reaction.id}.again", sent_at=reaction.sent_at, files=()))
        return again if again is None else replace(again, sender=question.body.sender)

    async def pressed(self, press: ButtonPress, turn: str, is_owner: Callable[[Sender], bool]) -> UserMessage | Refusal:
        """What to answer once more, or why not. It has one id for all presses, so that it is recorded once."""
        rows = await self._store.transcript.turn_rows(turn)
        asked = next((row.body for row in rows if isinstance(row.body, UserRow)), None)
        ended = any(isinstance(row.body, EndRow) and row.body.reason in WORTH_ANOTHER for row in rows)
        if asked is None or not ended or rows[0].address != press.address:
            return "press_unknown"
        if press.sender.identity != asked.sender.identity and not is_owner(press.sender):
            return "retry_not_yours"
        number = f"{turn}.{RETRY}"
        if await self._store.inbox.find(press.address, "message", number) is not None:
            return "retry_done"
        last = await self._last(press.address, asked.sender)
        said = await self._store.inbox.find(press.address, "message", asked.message_id)
        if last is None or last.turn != turn or said is None or not isinstance(said.inbound, UserMessage):
            return "retry_over"
        again = await self.again(replace(said.inbound, id=number, sent_at=press.sent_at, files=()))
        return again or "retry_done"

    async def _where(self, told: Address, turns: Sequence[str]) -> Address:
        """The address of the answer: not every platform tells in which of a chat's threads somebody reacted."""
        for turn in turns if not told.thread else ():
            for row in await self._store.transcript.turn_rows(turn):
                if replace(row.address, thread="") == told:
                    return row.address
        return told

    async def _last(self, address: Address, sender: Sender) -> Row | None:
        rows = await self._store.transcript.history(address, FAR, LOOK_BACK_ROWS)
        turn = next((row.turn for row in reversed(rows) if _asks(row, sender)), None)
        return next((row for row in as_revised([row for row in rows if row.turn == turn]) if _asks(row, sender)), None)


def _asks(row: Row, sender: Sender) -> bool:
    """Whether it opened a turn that a model answered; commands are no questions."""
    said = row.body
    return (
        isinstance(said, UserRow)
        and not said.steered
        and said.sender.identity == sender.identity
        and command_of(said.text) is None
    )
