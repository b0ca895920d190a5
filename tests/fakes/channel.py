"""A platform at the port: it keeps messages, can be late, refuse and lose answers, and remembers every call."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Literal

from bot.core.address import Address
from bot.core.errors import ChannelError, MessageGone
from bot.core.inbound import ButtonPress, FileRef, Inbound
from bot.core.ports import CallKind, Clock, Governor, Receive
from bot.core.view import Limits, OutFile, Part, Ref, Rendered
from bot.outbox.graphemes import length

HERE = Address("fake", "main", "1")


@dataclass(frozen=True, slots=True)
class Fault:
    """What one call meets. ``after_effect``: the platform did it, and only its answer was lost."""

    error: ChannelError
    after_effect: bool = False


@dataclass(slots=True)
class Call:
    """One call with the times (monotonic) at which it left and was over. ``accepted``: the platform did it."""

    action: Literal["send", "edit", "remove", "flash"]
    to: Address
    at: float
    ref: Ref | None
    part: Part | None = None
    ended: float = 0.0
    accepted: bool = False
    error: ChannelError | None = None


@dataclass(slots=True)
class Message:
    """``known``: the bot was told that the platform shows this."""

    id: str
    to: Address
    part: Part
    known: bool = True

    @property
    def text(self) -> str:
        return self.part.rendered.text


@dataclass(slots=True)
class FakeChannel:
    """Implements ``bot.core.ports.Channel``.

    ``latency`` is seconds by call number (from 0), ``fault`` what a call meets by its number. ``strict`` collects in
    ``violations`` what a real platform would punish: pace, length, blank text, overlapping calls, edits that change
    nothing or come after the final text, buttons in the wrong place. With ``nonces`` a repeated send is one message.
    ``files`` are there to be fetched, by id, each once ``fetching`` is over; ``sent`` has those that came from the bot,
    with their nonces, and ``file_fault`` what such a call meets by its number.
    ``flash`` is the fleeting part that was shown last and until when it is seen, unless a message has replaced it.
    """

    clock: Clock
    limits: Limits = field(default_factory=lambda: Limits(size=4096, unit="utf16", pace=1.0))
    governor: Governor | None = None
    renders: Callable[[str], Rendered] | None = None
    latency: Callable[[int], float] = lambda number: 0.0
    fault: Callable[[int], Fault | None] = lambda number: None
    strict: bool = True
    nonces: bool = False
    name: str = "fake"
    connected: bool = True
    calls: list[Call] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    answers: list[tuple[ButtonPress, str]] = field(default_factory=list)
    files: dict[str, bytes | Exception] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    fetching: Callable[[], Awaitable[object]] | None = None
    sent: list[tuple[OutFile, str]] = field(default_factory=list)
    file_fault: Callable[[int], Exception | None] = lambda number: None
    flash: tuple[Part, float] | None = None
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _busy: set[Address] = field(default_factory=set)
    _by_nonce: dict[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """What stands on the screen, message by message."""
        return [message.text for message in self.messages.values()]

    @property
    def flashed(self) -> str:
        """The fleeting text on the screen, "" where there is none."""
        return self.flash[0].rendered.text if self.flash and self.flash[1] > self.clock.monotonic() else ""

    @property
    def accepted(self) -> list[Call]:
        return [call for call in self.calls if call.accepted]

    def count(self, action: str) -> int:
        return sum(call.action == action for call in self.calls)

    def delete(self, message_id: str) -> None:
        """A person removes the message under the bot."""
        del self.messages[message_id]

    def render(self, markdown: str) -> Rendered:
        return self.renders(markdown) if self.renders else Rendered(markdown, length(markdown, self.limits.unit))

    async def run(self, receive: Receive) -> None:
        await self.clock.sleep(10**9)

    async def show(self, to: Address, ref: Ref | None, part: Part) -> Ref:
        kind = CallKind.FINAL if part.final else CallKind.PREVIEW
        async with self.governor.call(to, kind) if self.governor else nullcontext():
            action: Literal["send", "edit", "flash"] = "flash" if part.fleeting else "edit" if ref else "send"
            call = Call(action, to, self.clock.monotonic(), ref, part)
            self._inspect(call, part)
            return Ref(await self._carry_out(call))

    async def remove(self, to: Address, ref: Ref) -> None:
        async with self.governor.call(to, CallKind.FINAL) if self.governor else nullcontext():
            await self._carry_out(Call("remove", to, self.clock.monotonic(), ref))

    async def answer(self, press: ButtonPress, notice: str) -> None:
        self.answers.append((press, notice))

    async def fetch(self, file: FileRef) -> bytes:
        self.fetched.append(file.id)
        if self.fetching is not None:
            await self.fetching()
        content = self.files.get(file.id, ChannelError("The file is gone."))
        if isinstance(content, Exception):
            raise content
        return content

    async def send_file(self, to: Address, file: OutFile, nonce: str) -> Ref:
        async with self.governor.call(to, CallKind.FINAL) if self.governor else nullcontext():
            number = len(self.sent)
            self.sent.append((file, nonce))
            if (fault := self.file_fault(number)) is not None:
                raise fault
            return Ref(f"file{number + 1}")

    async def history(self, of: Address, limit: int) -> Sequence[Inbound]:
        return ()

    async def _carry_out(self, call: Call) -> str:
        number = len(self.calls)
        self._watch_pace(call)
        self.calls.append(call)
        self._busy.add(call.to)
        fault, latency = self.fault(number), self.latency(number)
        try:
            await self.clock.sleep(latency / 2)
            message_id = self._effect(call, known=fault is None) if fault is None or fault.after_effect else ""
            await self.clock.sleep(latency / 2)
            if fault is not None:
                raise fault.error
            return message_id
        except ChannelError as error:
            call.error = error
            raise
        finally:
            call.ended = self.clock.monotonic()
            self._busy.discard(call.to)

    def _effect(self, call: Call, *, known: bool) -> str:
        if call.ref is not None and call.ref.message_id not in self.messages:
            raise MessageGone("The message is not there.")
        call.accepted = True
        if call.action == "remove":
            assert call.ref is not None
            del self.messages[call.ref.message_id]
            return ""
        assert call.part is not None
        if call.action == "flash":
            self.flash = call.part, self.clock.monotonic() + self.limits.fleeting
            return "flash"
        self.flash = None
        message_id = call.ref.message_id if call.ref else self._new_id(call.part)
        self.messages[message_id] = Message(message_id, call.to, call.part, known)
        return message_id

    def _new_id(self, part: Part) -> str:
        if self.nonces and part.nonce in self._by_nonce:
            return self._by_nonce[part.nonce]
        return self._by_nonce.setdefault(part.nonce, str(next(self._ids))) if self.nonces else str(next(self._ids))

    def _watch_pace(self, call: Call) -> None:
        if not self.strict:
            return
        before = [other.at for other in self.calls if other.to == call.to]
        if before and call.at - before[-1] < self.limits.pace - 0.01:
            self.violations.append(f"{call.action} {call.at - before[-1]:.3f} s after the last call")
        if call.to in self._busy:
            self.violations.append("two calls at once")

    def _inspect(self, call: Call, part: Part) -> None:
        if not self.strict:
            return
        blamed = []
        if part.rendered.length > self.limits.size:
            blamed.append(f"{part.rendered.length} is too long")
        if not part.rendered.text.strip() and not self.limits.structured:
            blamed.append("blank")
        if part.fleeting and (part.final or not part.last or call.ref is not None or not self.limits.fleeting):
            blamed.append("should not be fleeting")
        if part.buttons and not part.last:
            blamed.append("buttons before the last part")
        if any(len(button.payload.encode()) > 64 for button in part.buttons):
            blamed.append("a payload of more than 64 bytes")
        shown = self.messages.get(call.ref.message_id) if call.ref else None
        same = shown and (shown.text, shown.part.buttons, shown.part.final) == (
            part.rendered.text,
            part.buttons,
            part.final,
        )
        if shown and shown.known and same and not self.limits.structured:
            blamed.append("an edit that changes nothing")
        if shown and shown.known and shown.part.final and (shown.part.view.final or not shown.part.last):
            blamed.append("an edit after the final text")
        self.violations += [f"part {part.index}: {blame}" for blame in blamed]
