"""A person changes a message: what has not begun reads the new text, what nothing was done about begins anew, and the rest
is told of the change."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import Final

from bot.brain.loop import Brain
from bot.brain.turn import Revision
from bot.core.inbound import MessageEdited, UserMessage
from bot.core.ports import Clock
from bot.core.text import storable
from bot.core.texts import language_of, say
from bot.inbox.lanes import Lanes
from bot.store.inbox import InboxRow, InboxRows

APPLIED_SECONDS: Final = 5.0
"""A turn that does not begin anew within this time does so later; the platform need not wait for it."""


class Revisions:
    def __init__(self, rows: InboxRows, lanes: Lanes, brain: Brain, clock: Clock, language: str) -> None:
        self._rows, self._lanes, self._brain, self._clock, self._language = rows, lanes, brain, clock, language

    async def edited(self, edit: MessageEdited) -> str:
        """Apply the change, and return what became of it in a word."""
        original = await self.reworded(edit)
        if original is None:
            return "noted"
        if self._lanes.reword(edit.address, original):
            return "reworded"
        revision = Revision(edit.message_id, _text(edit), asyncio.get_running_loop().create_future())
        if await self._brain.may_restart(original.turn) and self._lanes.revise(edit.address, original.turn, revision):
            try:
                async with asyncio.timeout(APPLIED_SECONDS):
                    if await asyncio.shield(revision.applied):
                        return "restarted"
            except TimeoutError:
                return "restarting"
        if not self._lanes.runs(edit.address, lambda turn: turn.id == original.turn):
            return "too late"
        self._lanes.submit(await self._followed(edit, original))
        return "followed up"

    async def at_start(self, edit: MessageEdited) -> str:
        """The same for a change that an earlier process did not get to, before any turn runs."""
        original = await self.reworded(edit)
        if original is None:
            return "noted"
        if await self._brain.revise(edit.address, original.turn, edit.message_id, _text(edit)):
            return "restarted"
        await self._followed(edit, original)
        return "followed up"

    async def reworded(self, edit: MessageEdited) -> InboxRow | None:
        """Change the stored message, and return it as it reads now; None where nobody waits for an answer to it, or nothing
        has changed."""
        row = await self._rows.open_message(edit.address, edit.message_id)
        text = _text(edit)
        if row is None or not isinstance(row.inbound, UserMessage) or text == row.inbound.text or not text.strip():
            return None
        if row.inbound.sender.identity != edit.sender.identity:
            return None
        row = replace(row, inbound=replace(row.inbound, text=text))
        await self._rows.reword(row.id, row.inbound)
        return row

    async def _followed(self, edit: MessageEdited, original: InboxRow) -> InboxRow:
        """The change as a message of its own, which joins the turn or follows it."""
        assert isinstance(original.inbound, UserMessage)
        text = _text(edit)
        told = say("edited_message", language_of(text, self._language, edit.sender.language), text=text)
        message = replace(original.inbound, id=f"{edit.id}.told", text=told, sent_at=edit.sent_at, quote=None, files=())
        return (await self._rows.record(message, secrets.token_hex(6), self._clock.now())).row


def _text(edit: MessageEdited) -> str:
    return storable(edit.text)
