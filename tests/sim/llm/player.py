"""Plays a scripted answer: step by step onto a stream, or folded into one JSON body."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from aiohttp import web

from tests.sim.llm import faults
from tests.sim.llm.gates import Gates
from tests.sim.llm.ledger import Seen
from tests.sim.llm.reply import Encoder, Reply
from tests.sim.llm.script import Answer
from tests.sim.llm.steps import (
    Begin,
    Call,
    Drop,
    EmptyChoices,
    EndEarly,
    ErrorEvent,
    Garbage,
    Gate,
    Ping,
    Raw,
    Sleep,
    Spoken,
    Stall,
    Status,
    Step,
    Stop,
    Text,
    Thinking,
)
from tests.sim.llm.tokens import estimate_text
from tests.sim.llm.wire import Wire

HALF = "\ue000"
"""Stands for half a character until the answer is bytes."""
_WORDS = re.compile(r"\s*\S+\s*|\s+")
IN_BAND_STATUS = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "invalid_request_error": 400}


def request_headers(vendor: str, number: int) -> dict[str, str]:
    """The header that names the request, as each vendor spells it."""
    name = {"anthropic": "request-id", "openai": "x-request-id"}.get(vendor)
    return {name: f"req_sim_{number:04}"} if name else {}


@dataclass(slots=True)
class Player:
    """One answer to one request. `key` is what the client presented, for error bodies that quote it."""

    request: web.Request
    seen: Seen
    answer: Answer
    key: str
    gates: Gates
    sleep: Callable[[float], Awaitable[None]]
    begun: bool = False
    stopped: bool = False

    async def stream(self, encoder: Encoder) -> web.StreamResponse:
        """Play onto a stream; headers go out first unless the script starts with a fault that replaces them."""
        wire = Wire(self.request, self.seen, self.answer.split)
        silent = self._opens_with_fault()
        for step in self._flat():
            if fault := await self._before_headers(step, wire):
                return fault
            if not wire.opened and not silent:
                await self._open(wire, encoder)
            if isinstance(step, Spoken | Begin) and not self.begun:
                self.begun = True
                await self._send(wire, encoder.begin(None if isinstance(step, Begin) else step))
            if ended := await self._play(step, wire, encoder):
                return ended
        return await self._finish(wire, encoder)

    async def _play(self, step: Step, wire: Wire, encoder: Encoder) -> web.StreamResponse | None:
        """One step of a stream; the response once the step has ended it."""
        match step:
            case Sleep() | Gate():
                await self._wait(step)
            case Drop(how):
                self.seen.outcome = "dropped"
                return wire.lose(how)
            case EndEarly():
                return await wire.end()
            case Stall():
                await self.gates.stall()
                return wire.lose("fin")
            case ErrorEvent():
                await wire.send(encoder.error(step))
                return await wire.end()
            case Raw(data):
                await wire.send(data)
            case Garbage():
                await wire.send(encoder.garbage(step))
            case Ping():
                await self._send(wire, encoder.ping())
            case EmptyChoices():
                await self._send(wire, encoder.empty_choices())
            case Status():
                raise ValueError("the script sends a status after the answer has begun")
            case _ if isinstance(step, Spoken):
                self.stopped = self.stopped or isinstance(step, Stop)
                await self._speak(wire, encoder, step)
        return None

    async def whole(self, encoder: Encoder) -> web.StreamResponse:
        """Play as one JSON body; raw bytes take its place, an early end leaves the reason out. Garbage tears it or a
        character in it; events it has none."""
        wire = Wire(self.request, self.seen, self.answer.split)
        reply, instead, ended, torn = Reply(), b"", False, False
        for step in self._flat():
            if fault := await self._before_headers(step, wire):
                return fault
            match step:
                case Sleep() | Gate():
                    await self._wait(step)
                case Drop(how):
                    self.seen.outcome = "dropped"
                    return wire.lose(how)
                case Stall():
                    await self.gates.stall()
                    return wire.lose("fin")
                case ErrorEvent():
                    return self.fault(Status(IN_BAND_STATUS.get(step.type, 500), step.type, step.message))
                case Raw(data):
                    instead += data
                case Garbage("json"):
                    torn = True
                case Garbage("utf8"):
                    reply.take(Text(HALF))
                case EndEarly():
                    ended = True
                    break
                case _ if isinstance(step, Spoken):
                    reply.take(step)
        if reply.stop is None and not ended:
            reply.take(Stop())
        body = json.dumps(encoder.whole(reply), ensure_ascii=False).encode().replace(HALF.encode(), b"\xe2\x82")
        body = instead or (body[: len(body) // 2] if torn else body)
        await wire.open(200, "application/json", request_headers(self.seen.vendor, self.seen.number))
        await wire.send(body)
        return await wire.end()

    async def faults_only(self) -> web.StreamResponse | None:
        """For endpoints that are not chat: delays and faults, then the simulator's own answer (None)."""
        wire = Wire(self.request, self.seen, None)
        for step in self._flat():
            match step:
                case Sleep() | Gate():
                    await self._wait(step)
                case Status():
                    return self.fault(step)
                case Drop(how):
                    self.seen.outcome = "dropped"
                    return wire.lose(how)
                case Stall():
                    await self.gates.stall()
                    return wire.lose("fin")
                case _:
                    raise ValueError(f"only faults and delays can be scripted for {self.seen.endpoint}: {step}")
        return None

    def fault(self, step: Status) -> web.Response:
        """The scripted HTTP error with the vendor's own body."""
        refusal = faults.known(self.seen.vendor, step.code, step.kind)
        message = step.message if step.message is not None else refusal.message
        message = message.replace("{key}", self.key).replace("{masked}", faults.mask_like_openai(self.key))
        headers = {**request_headers(self.seen.vendor, self.seen.number), **step.headers}
        self.seen.status, self.seen.outcome = step.code, "faulted"
        if isinstance(step.body, str):
            return web.Response(status=step.code, text=step.body, content_type="text/html", headers=headers)
        request_id = f"req_sim_{self.seen.number:04}"
        usual = faults.body_of(self.seen.vendor, replace(refusal, message=message), request_id)
        return web.json_response(dict(step.body) if step.body is not None else usual, status=step.code, headers=headers)

    def _flat(self) -> list[Step]:
        steps: list[Step] = []
        for step in self.answer.steps:
            steps += step.pieces() if isinstance(step, Call) else [step]
        return steps

    def _opens_with_fault(self) -> bool:
        first = next((step for step in self.answer.steps if not isinstance(step, Sleep | Gate)), None)
        return isinstance(first, Status) or (isinstance(first, Drop | Stall) and first.before_headers)

    async def _before_headers(self, step: Step, wire: Wire) -> web.StreamResponse | None:
        if wire.opened:
            return None
        if isinstance(step, Status):
            return self.fault(step)
        if isinstance(step, Drop) and step.before_headers:
            self.seen.outcome = "dropped"
            return wire.lose(step.how)
        if isinstance(step, Stall) and step.before_headers:
            await self.gates.stall()
            return wire.lose("fin")
        return None

    async def _wait(self, step: Sleep | Gate) -> None:
        if isinstance(step, Sleep):
            await self.sleep(step.seconds)
        else:
            await self.gates.wait(step.name)

    async def _send(self, wire: Wire, frames: list[bytes]) -> None:
        for frame in frames:
            await wire.send(frame)

    async def _speak(self, wire: Wire, encoder: Encoder, step: Spoken) -> None:
        """Send a step, word by word where the answer has a token rate."""
        rate = self.answer.tokens_per_second
        if rate is None or not isinstance(step, Text | Thinking) or not step.text:
            await self._send(wire, encoder.spoken(step))
            return
        words = _WORDS.findall(step.text)
        for n, word in enumerate(words):
            last = n == len(words) - 1
            piece = replace(step, text=word)
            if isinstance(piece, Thinking) and not last:
                piece = replace(piece, signature=None)
            await self._send(wire, encoder.spoken(piece))
            await self.sleep(estimate_text(word) / rate)

    async def _open(self, wire: Wire, encoder: Encoder) -> None:
        headers = {"Cache-Control": "no-cache", **request_headers(self.seen.vendor, self.seen.number)}
        await wire.open(200, encoder.content_type, headers)

    async def _finish(self, wire: Wire, encoder: Encoder) -> web.StreamResponse:
        """The vendor's last frames; a script of raw bytes only has written its own."""
        if not wire.opened:
            await self._open(wire, encoder)
        if not self.begun and any(isinstance(step, Raw | Garbage) for step in self.answer.steps):
            return await wire.end()
        if not self.begun:
            await self._send(wire, encoder.begin(None))
        if not self.stopped:
            await self._send(wire, encoder.spoken(Stop()))
        await self._send(wire, encoder.finale())
        return await wire.end()
