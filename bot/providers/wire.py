"""How any vendor's answer gets from a response to model events, and how its connection is given back."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from bot.core.errors import ProviderError
from bot.core.model import ModelEvent
from bot.providers.faults import Faults
from bot.providers.sse import Frames, LineTooLong

log = logging.getLogger(__name__)

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


class Response(Protocol):
    """What httpx and httpx2 responses have in common."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Transport:
    """What the HTTP library raises on a broken connection, and the vendor's own translation of it."""

    lost: type[Exception]
    translate: Callable[[Exception], ProviderError]


def body_bytes(body: Mapping[str, Any]) -> bytes:
    """The body as JSON; lone surrogates, which no vendor accepts, become question marks."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def parsed(payload: str, faults: Faults) -> dict[str, Any]:
    """One frame as the JSON object that it must be."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        raise faults.garbled(f"a frame of {len(payload)} characters that is not JSON") from None
    if not isinstance(value, dict):
        raise faults.garbled("a frame that is not a JSON object")
    return value


@asynccontextmanager
async def answering(
    response: Response, frames: Frames, answer: Answer, faults: Faults, transport: Transport
) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """The model events of an open response; leaving closes the connection, however the stream stands.

    A connection that breaks once the answer is complete is no error.
    """
    events = _events(response, frames, answer, faults, transport)
    try:
        async with aclosing(events):
            yield events
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await response.aclose()


async def _events(
    response: Response, frames: Frames, answer: Answer, faults: Faults, transport: Transport
) -> AsyncGenerator[ModelEvent, None]:
    if response.headers.get("content-type", "").startswith("text/html"):
        raise faults.garbled("a web page")
    chunks = response.aiter_bytes()
    try:
        async for chunk in chunks:
            for payload in frames.feed(chunk):
                for event in _fed(answer, payload, faults):
                    yield event
                if answer.closed:
                    await _drain(chunks, transport.lost)
                    return
        for payload in frames.end():
            for event in _fed(answer, payload, faults):
                yield event
    except LineTooLong as error:
        raise faults.garbled(str(error)) from None
    except transport.lost as error:
        if not answer.complete:
            raise transport.translate(error) from None
        log.info("%s dropped the connection after its answer was complete", faults.name)
    if not answer.closed:
        for event in answer.end():
            yield event


def _fed(answer: Answer, payload: str, faults: Faults) -> Iterable[ModelEvent]:
    """The events of one frame. A frame is outside data of any shape: where a field is not of its documented type, the
    parser stumbles over it, and that is the stream's fault."""
    try:
        return list(answer.feed(payload))
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise faults.garbled(f"a frame of an unknown shape ({type(error).__name__})") from None


async def _drain(chunks: AsyncIterator[bytes], lost: type[Exception]) -> None:
    with suppress(TimeoutError, lost):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in chunks:
                pass
