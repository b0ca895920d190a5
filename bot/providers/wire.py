"""How any vendor's answer gets from an open reply to model events, and how its connection is given back."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Final, Protocol

from bot.core.errors import ProviderError, StreamGarbled, TransportError
from bot.core.http import Reply
from bot.core.model import ModelAlive, ModelEvent, ModelText, ModelThinking
from bot.providers.faults import Faults
from bot.providers.sse import Frames, LineTooLong, WholeBody

log = logging.getLogger(__name__)

AT_ONCE_CHARS: Final = 40
"""The beginning of an answer is passed on as it comes: the first preview waits for it."""
CLOSE_SECONDS: Final = 3.0
DRAIN_SECONDS: Final = 0.25
"""How long a finished answer may take to end its body, so that the connection can be used again."""


class Answer(Protocol):
    """One vendor's parser of one answer. Both methods raise ``ProviderError``."""

    @property
    def complete(self) -> bool:
        """True once the vendor has said why the answer ended: losing the connection then loses nothing."""
        ...

    @property
    def closed(self) -> bool:
        """True once the last event, ``ModelStop``, has been given."""
        ...

    def feed(self, payload: str) -> Iterable[ModelEvent]: ...

    def end(self) -> Iterable[ModelEvent]:
        """The stream is over: the events that were waiting for its end, ``ModelStop`` last."""
        ...


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """The body as JSON; lone surrogates, which no vendor accepts, become question marks."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def parsed(payload: str, faults: Faults) -> dict[str, Any]:
    """One frame as the JSON object that it must be. One that begins as an object and is none was torn on its way."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        broken = faults.cut if payload.lstrip().startswith("{") else faults.garbled
        raise broken(f"a frame of {len(payload)} characters that is not JSON") from None
    if not isinstance(value, dict):
        raise faults.garbled("a frame that is not a JSON object")
    return value


def frames_of(reply: Reply, streamed: type[Frames]) -> Frames:
    """How the answer is framed: a server that was not asked for a stream, or does not stream, sends one JSON object."""
    kind = reply.headers.get("content-type", "")
    return WholeBody() if kind.startswith("application/json") else streamed()


@asynccontextmanager
async def answering(
    reply: Reply, frames: Frames, answer: Answer, faults: Faults, gather: float = 0.0
) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """The model events of an open answer; leaving closes the connection, however the stream stands. Bytes that say
    nothing (keep-alives, empty pieces, a part of a frame) make a ``ModelAlive``.

    A connection that breaks once the answer is complete is no error. What cannot be read once the answer has begun is a
    stream that broke: whatever stands at the address, it is a model.
    """
    events = _events(reply, frames, answer, faults, gather)
    try:
        async with aclosing(events):
            yield events
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await reply.aclose()


async def _events(
    reply: Reply, frames: Frames, answer: Answer, faults: Faults, gather: float
) -> AsyncGenerator[ModelEvent, None]:
    if reply.headers.get("content-type", "").startswith("text/html"):
        raise faults.garbled("a web page")
    chunks = reply.aiter_bytes()
    chars, begun = 0, False
    try:
        async for chunk in chunks:
            said = False
            for event in _joined(_fed(answer, frames.feed(chunk), faults)):
                said = begun = True
                yield event
                chars += len(event.text) if isinstance(event, ModelText) else 0
            if answer.closed:
                await _drain(chunks)
                return
            if not said:
                yield ModelAlive()
            if gather and chars >= AT_ONCE_CHARS:
                await reply.rest(gather)
        for event in _joined(_fed(answer, frames.end(), faults)):
            yield event
    except (LineTooLong, StreamGarbled) as error:
        detail = error.detail if isinstance(error, StreamGarbled) else str(error)
        raise (faults.cut if begun else faults.garbled)(detail) from None
    except TransportError as error:
        if not answer.complete:
            raise faults.lost(error) from None
        log.info("%s dropped the connection after its answer was complete", faults.name)
    if not answer.closed:
        for event in answer.end():
            yield event


def _fed(answer: Answer, payloads: Iterable[str], faults: Faults) -> Iterator[ModelEvent]:
    """The events of frames. A frame is outside data of any shape: where a field is not of its documented type, the
    parser stumbles over it, and that is the stream's fault."""
    for payload in payloads:
        try:
            events = list(answer.feed(payload))
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise faults.garbled(f"a frame of an unknown shape ({type(error).__name__})") from None
        yield from events
        if answer.closed:
            return


def _joined(events: Iterator[ModelEvent]) -> Iterator[ModelEvent]:
    """Events that arrived together, with texts that follow each other as one: the busier the house, the more frames one
    read brings, and the cheaper each gets. What came before an error is given before it is raised."""
    kind: type[ModelText | ModelThinking] = ModelText
    parts: list[str] = []
    try:
        for event in events:
            if isinstance(event, kind) and parts:
                parts.append(event.text)
                continue
            if parts:
                yield kind("".join(parts))
                parts.clear()
            if isinstance(event, ModelText | ModelThinking):
                kind = type(event)
                parts.append(event.text)
            else:
                yield event
    except ProviderError:
        if parts:
            yield kind("".join(parts))
        raise
    if parts:
        yield kind("".join(parts))


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, TransportError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in chunks:
                pass
