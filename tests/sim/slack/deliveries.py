"""Envelopes: which are under way, which were acknowledged in time, and when Slack sends one again."""

from __future__ import annotations

import asyncio
import json
import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.sim.slack.nouns import Json
from tests.sim.slack.sockets import Link, Sockets
from tests.sim.slack.tasks import Tasks

ACK_SECONDS = 3.0
RETRY_SECONDS = (0.0, 60.0, 300.0)
"""After a first failure: at once, after a minute, after five."""
EVENTS, INTERACTIVE, COMMANDS = "events_api", "interactive", "slash_commands"
Answered = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Ack:
    """``name`` is the event's id, for other envelopes the envelope's; ``seconds`` passed since it was sent."""

    envelope_id: str
    name: str
    seconds: float
    payload: Any = None


@dataclass(eq=False, slots=True)
class Delivery:
    """What is to reach the app. ``state``: waiting, acked, lost."""

    kind: str
    payload: Any
    name: str
    answered: Answered | None = None
    accepts_payload: bool = False
    state: str = "waiting"
    attempts: int = 0
    envelopes: list[str] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class _Sent:
    delivery: Delivery
    at: float
    acked: asyncio.Future[None]
    late: bool = False


class Deliveries:
    """``shuffle`` lets envelopes that are sent at the same time overtake each other, as Slack's do."""

    def __init__(
        self,
        sockets: Sockets,
        tasks: Tasks,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        note: Callable[[str], None],
        changed: Callable[[], None],
        *,
        shuffle: bool,
        seed: int,
    ) -> None:
        self._sockets, self._tasks = sockets, tasks
        self._monotonic, self._sleep = monotonic, sleep
        self._note, self._changed = note, changed
        self.shuffle = shuffle
        self._random = random.Random(seed)
        self._sent: dict[str, _Sent] = {}
        self.all: dict[str, Delivery] = {}
        self.acks: list[Ack] = []
        self.handed: Callable[[Delivery], None] = lambda delivery: None
        sockets.heard = self._heard

    @property
    def unacked(self) -> list[Delivery]:
        """What was sent or should have been, and is not acknowledged."""
        return [delivery for delivery in self.all.values() if delivery.state != "acked"]

    def event(self, payload: Any, name: str) -> Delivery:
        return self._start(Delivery(EVENTS, payload, name))

    def once(self, kind: str, payload: Json, answered: Answered | None = None) -> Delivery:
        """A press or a command: sent once, and a violation unless it is acknowledged in time."""
        name = f"{kind}:{uuid.uuid4()}"
        return self._start(Delivery(kind, payload, name, answered, kind == COMMANDS))

    def again(self, name: str) -> Delivery:
        """Send an event once more, acknowledged or not. KeyError when there was none of this id."""
        delivery = self.all[name]
        self._tasks.start(self._attempt(delivery, "timeout"))
        return delivery

    async def feed(self, raw: Any) -> None:
        """Send anything, once. LookupError when no connection is open."""
        link = self._sockets.choose()
        if link is None:
            raise LookupError("no connection is open")
        if isinstance(raw, dict) and isinstance(raw.get("envelope_id"), str):
            name, accepts = raw["envelope_id"], bool(raw.get("accepts_response_payload"))
            delivery = self.all[name] = Delivery(str(raw.get("type")), raw.get("payload"), name, None, accepts)
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._sent[name] = _Sent(delivery, self._monotonic(), future)
        await self._sockets.send(link, raw)

    def _start(self, delivery: Delivery) -> Delivery:
        self.all[delivery.name] = delivery
        self._tasks.start(self._run(delivery))
        return delivery

    async def _run(self, delivery: Delivery) -> None:
        failure = await self._attempt(delivery, "")
        if delivery.kind != EVENTS:
            if delivery.state != "acked":
                delivery.state = "lost"
            self._changed()
            return
        for seconds in RETRY_SECONDS:
            if delivery.state == "acked":
                return
            if seconds:
                await self._sleep(seconds)
            if delivery.state != "acked":
                failure = await self._attempt(delivery, failure)
        if delivery.state != "acked":
            delivery.state = "lost"
            self._changed()

    async def _attempt(self, delivery: Delivery, reason: str) -> str:
        """Send it over one connection and wait for its acknowledgement; why that failed, in Slack's words for a retry.
        A press or a command that reached the app and stays without acknowledgement is the app's fault."""
        attempt, delivery.attempts = delivery.attempts, delivery.attempts + 1
        if self.shuffle:
            for _ in range(self._random.randrange(25)):
                await asyncio.sleep(0)
        link = self._sockets.choose()
        if link is None:
            self._changed()
            return "connection_failed"
        envelope = self._envelope(delivery, attempt, reason)
        sent = _Sent(delivery, self._monotonic(), asyncio.get_running_loop().create_future())
        self._sent[envelope["envelope_id"]] = sent
        delivery.envelopes.append(envelope["envelope_id"])
        reached = not (self._sockets.deaf or self._sockets.silent)
        if reached:
            if not attempt:
                self.handed(delivery)
            await self._sockets.send(link, envelope)
        self._changed()
        await self._patience(sent)
        if sent.late and reached and link.is_open and delivery.kind != EVENTS:
            self._note(f"not acknowledged in 3 s: {delivery.kind}")
        return "timeout"

    async def _patience(self, sent: _Sent) -> None:
        timer = asyncio.ensure_future(self._sleep(ACK_SECONDS))
        waited: set[asyncio.Future[Any]] = {sent.acked, timer}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        sent.late = not sent.acked.done()

    def _envelope(self, delivery: Delivery, attempt: int, reason: str) -> Json:
        envelope: Json = {
            "envelope_id": str(uuid.uuid4()),
            "type": delivery.kind,
            "accepts_response_payload": delivery.accepts_payload,
            "payload": delivery.payload,
        }
        if delivery.kind == EVENTS:
            envelope |= {"retry_attempt": attempt, "retry_reason": reason if attempt else ""}
        return envelope

    def _heard(self, link: Link, text: str) -> None:
        try:
            body = json.loads(text)
            name = body["envelope_id"]
        except (ValueError, TypeError, KeyError):
            self._note(f"not an acknowledgement: {text[:80]}")
            return
        sent = self._sent.get(name)
        if sent is None:
            self._note(f"an acknowledgement of nothing: {name}")
            return
        if sent.acked.done():
            self._note(f"acknowledged twice: {sent.delivery.name}")
            return
        sent.acked.set_result(None)
        self._acked(sent, name, body.get("payload"))

    def _acked(self, sent: _Sent, envelope_id: str, payload: Any) -> None:
        delivery, seconds = sent.delivery, self._monotonic() - sent.at
        self.acks.append(Ack(envelope_id, delivery.name, seconds, payload))
        if sent.late:
            self._note(f"acknowledged after {seconds:.1f} s: {delivery.kind}")
        if delivery.kind == EVENTS or not sent.late:
            delivery.state = "acked"
        if payload is not None:
            if not delivery.accepts_payload:
                self._note(f"a payload in the acknowledgement of {delivery.kind}, which takes none")
            elif delivery.answered is not None and not sent.late:
                delivery.answered(payload)
        self._changed()
