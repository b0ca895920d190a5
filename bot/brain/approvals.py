"""Questions to a person about one call: asked, waited for, decided once, expired."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from bot.brain.turn import Turn
from bot.core.address import Sender
from bot.core.inbound import ButtonPress
from bot.core.ports import Clock
from bot.core.texts import language_of, say
from bot.core.tool import ToolCall, ToolSpec
from bot.core.view import ApprovalCard
from bot.store.approvals import Approval, ApprovalRows

log = logging.getLogger(__name__)

VERBS: Final = ("once", "chat", "always", "deny")
GRANTED: Final = frozenset({"once", "chat", "always"})
NOT_ALLOWED: Final = "not_allowed"
"""A press by somebody who may not decide: it changes nothing."""


def readable(call: ToolCall) -> str:
    """The exact arguments, all of them, as a person can read them."""
    return json.dumps(dict(call.arguments), ensure_ascii=False, indent=2)


class Approvals:
    """``is_owner`` tells who may decide everything; the asker may decide what stays within the asker's own reach.
    ``count`` is told each decision once: a verb, ``expired``, ``void`` or ``NOT_ALLOWED``."""

    def __init__(
        self,
        rows: ApprovalRows,
        clock: Clock,
        is_owner: Callable[[Sender], bool],
        minutes: float,
        count: Callable[[str], None] = lambda decision: None,
    ) -> None:
        self._rows, self._clock, self._is_owner, self._count = rows, clock, is_owner, count
        self._seconds = minutes * 60
        self._decided: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def permitted(self, tool: str, turn: Turn) -> bool:
        """Whether a standing permission covers the tool for this address or this person."""
        return await self._rows.permitted(tool, turn.address, turn.sender.identity)

    async def ask(self, turn: Turn, call: ToolCall, spec: ToolSpec, reason: str) -> Approval:
        """The approval of this very call, as it was asked before a restart or asked now."""
        for known in await self._rows.of_turn(turn.id):
            if known.card.call_id == call.id and known.fingerprint == call.fingerprint:
                return known
        card = ApprovalCard(
            id=secrets.token_hex(6),
            call_id=call.id,
            tool=spec.name,
            effect=spec.effect.value,
            reason=reason,
            arguments=readable(call),
            expires_at=self._clock.now() + self._seconds,
        )
        approval = Approval(card, turn.id, turn.address, turn.sender.identity, spec.own_reach, call.fingerprint)
        await self._rows.ask(approval)
        return approval

    async def wait(self, approval: Approval) -> Approval:
        """Until somebody decides or the time is up; returns the approval with its stored decision."""
        decided = self._decided[approval.card.id]
        try:
            while True:
                current = await self._rows.get(approval.card.id)
                if current is not None and current.card.decision:
                    return current
                left = approval.card.expires_at - self._clock.now()
                if left <= 0:
                    await self._end(approval.card.id, "expired")
                    continue
                await self._first(decided, left)
        finally:
            self._decided.pop(approval.card.id, None)

    async def _first(self, decided: asyncio.Event, seconds: float) -> None:
        async with asyncio.TaskGroup() as group:
            timer = group.create_task(self._clock.sleep(seconds))
            pressed = group.create_task(decided.wait())
            await asyncio.wait([timer, pressed], return_when=asyncio.FIRST_COMPLETED)
            timer.cancel()
            pressed.cancel()

    async def void(self, turn_id: str) -> None:
        """The turn is over: its open questions can no longer be answered."""
        for approval in await self._rows.of_turn(turn_id):
            if not approval.card.decision:
                await self._end(approval.card.id, "void")

    async def _end(self, approval_id: str, decision: str) -> None:
        """Nobody decided it."""
        outcome = await self._rows.decide(approval_id, decision, "", self._clock.now())
        if outcome is not None and outcome[1]:
            self._book(outcome[0], decision)

    def _book(self, approval: Approval, decision: str, by: str = "") -> None:
        said = f"{decision}, by {by}" if by else decision
        log.info("approval %s of %s in %s: %s", approval.card.id, approval.card.tool, approval.address, said)
        self._count(decision)

    async def decide(self, press: ButtonPress, language: str) -> str:
        """Apply a press and return the sentence for the presser, in the card's language where that is known.

        Only the right person's first press counts.
        """
        _, _, rest = press.payload.partition(":")
        approval_id, _, verb = rest.partition(":")
        approval = await self._rows.get(approval_id)
        if approval is None or approval.address != press.address or verb not in VERBS:
            return say("press_unknown", language)
        language = language_of(approval.card.reason)
        if not self._may_decide(press.sender, approval, verb):
            self._book(approval, NOT_ALLOWED, press.sender.identity)
            return say("press_not_yours", language)
        if approval.card.expires_at <= self._clock.now():
            verb = "expired"
        by = press.sender.name or press.sender.id
        by = "" if verb == "expired" else by
        outcome = await self._rows.decide(approval_id, verb, by, self._clock.now(), press.sender.identity)
        if outcome is None:
            return say("press_unknown", language)
        approval, won = outcome
        if not won:
            return say("press_decided", language, decision=say(f"decision_{approval.card.decision}", language))
        if approval_id in self._decided:
            self._decided[approval_id].set()
        self._book(approval, verb, "" if verb == "expired" else press.sender.identity)
        return say(f"decision_{verb}", language)

    def _may_decide(self, sender: Sender, approval: Approval, verb: str) -> bool:
        if self._is_owner(sender):
            return True
        is_asker = sender.identity == approval.asker
        return is_asker and (approval.own_reach or verb == "deny")
