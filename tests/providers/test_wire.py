"""Parsers against frames of any shape: an answer ends in its stop or in a `ProviderError`, never in anything else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ProviderError, ProviderFailed, StreamCut, StreamStalled, TransportError, TransportTimeout
from bot.core.http import FETCH_LIMIT_BYTES
from bot.core.model import ModelCall, ModelEvent, ModelStop, ModelText, ModelThinking, ModelThought
from bot.providers.anthropic.stream import MessageStream
from bot.providers.calls import CallIds
from bot.providers.chat_stream import ChatStream
from bot.providers.faults import Faults
from bot.providers.ollama.stream import OllamaStream
from bot.providers.sse import NdjsonFrames
from bot.providers.wire import Answer, answering, body_bytes
from tests.fakes.clock import FakeClock
from tests.providers.bench import VENDORS, Bench
from tests.sim.llm import LlmSim

FAULTS = Faults("lab", "m", ("sk-secret",))
REQUEST = Bench(VENDORS["openai"], LlmSim()).request()


class FakeReply:
    """Implements ``bot.core.http.Reply`` with bytes from a list."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, chunks: Sequence[bytes], broken: Exception | None = None) -> None:
        self._chunks, self._broken = chunks, broken
        self.closed, self.rests = False, list[float]()

    async def read(self, limit_bytes: int = FETCH_LIMIT_BYTES) -> bytes:
        return b"".join(self._chunks)[:limit_bytes]

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._broken is not None:
            raise self._broken

    async def rest(self, seconds: float) -> None:
        self.rests.append(seconds)

    async def aclose(self) -> None:
        self.closed = True


def parsers() -> list[Answer]:
    ids = CallIds(REQUEST, FakeClock())
    return [
        MessageStream(FAULTS, ids, vendor="lab"),
        ChatStream(REQUEST, FAULTS, ids, vendor="lab"),
        OllamaStream(REQUEST, FAULTS, ids, vendor="lab"),
    ]


KEYS = """type index delta message content_block usage choices content tool_calls function arguments name id text
    thinking signature partial_json stop_reason finish_reason reasoning_content done done_reason error refusal
    prompt_eval_count eval_count prompt_tokens prompt_tokens_details input_tokens""".split()  # noqa: SIM905
WORDS = """content_block_start content_block_delta content_block_stop message_start message_delta message_stop error
    text_delta thinking_delta signature_delta input_json_delta tool_use thinking text stop tool_calls length add {}
    """.split()  # noqa: SIM905
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from([*WORDS, "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=14,
)


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5), max_size=5))
async def test_frames_of_any_shape_end_in_a_stop_or_in_an_error_of_ours(frames: list[dict[str, Any]]) -> None:
    data = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)
    for answer in parsers():
        reply = FakeReply([data])
        events: list[ModelEvent] = []
        try:
            async with answering(reply, NdjsonFrames(), answer, FAULTS) as stream:
                async for event in stream:
                    events.append(event)
        except ProviderError:
            pass
        else:
            assert isinstance(events[-1], ModelStop)
        assert reply.closed
        assert all(storable(event) for event in events)


def storable(event: ModelEvent) -> bool:
    """Whether what the transcript keeps of an event can be encoded."""
    match event:
        case ModelText(text):
            return bool(text.encode())
        case ModelThought(block):
            return bool(f"{block.raw}{block.text}".encode()) and isinstance(json.loads(block.raw), dict)
        case ModelCall(call):
            return bool(call.fingerprint) and bool(f"{call.id}{call.invalid}".encode())
    return True


@pytest.mark.parametrize(
    ("broken", "expected"),
    [(TransportError("lab was lost."), StreamCut), (TransportTimeout("lab did not answer."), StreamStalled)],
)
async def test_a_broken_connection_becomes_the_providers_error(
    broken: TransportError, expected: type[Exception]
) -> None:
    answer = parsers()[1]
    frames = FakeReply([b'{"choices":[{"delta":{"content":"Hi"}}]}\n'], broken)
    with pytest.raises(expected) as caught:
        async with answering(frames, NdjsonFrames(), answer, FAULTS) as stream:
            async for _ in stream:
                pass
    assert getattr(caught.value, "detail", "") == str(broken)
    assert frames.closed


def said(text: str) -> bytes:
    return json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n"


async def heard(reply: FakeReply) -> list[ModelEvent]:
    """The events before the error that ends them; the reply holds no end of an answer."""
    events: list[ModelEvent] = []
    with pytest.raises(ProviderError):
        async with answering(reply, NdjsonFrames(), parsers()[1], FAULTS) as stream:
            async for event in stream:
                events.append(event)
    return events


async def test_texts_that_arrive_together_are_one_event() -> None:
    together, apart = said("a") + said("b") + said("c"), said("d")
    assert await heard(FakeReply([together, apart])) == [ModelText("abc"), ModelText("d")]


async def test_what_arrived_with_a_broken_frame_is_given_before_the_error() -> None:
    assert await heard(FakeReply([said("a") + said("b") + b"{not JSON}\n" + said("c")])) == [ModelText("ab")]


async def test_thinking_and_text_that_arrive_together_keep_their_order() -> None:
    thought = json.dumps({"choices": [{"delta": {"reasoning_content": "why"}}]}).encode() + b"\n"
    events = await heard(FakeReply([thought + thought + said("a") + said("b") + thought]))
    assert events == [ModelThinking("whywhy"), ModelText("ab"), ModelThinking("why")]


async def test_an_error_of_the_listener_closes_the_connection() -> None:
    frames = FakeReply([b'{"choices":[{"delta":{"content":"Hi"}}]}\n'])
    with pytest.raises(ZeroDivisionError):
        async with answering(frames, NdjsonFrames(), parsers()[1], FAULTS):
            raise ZeroDivisionError
    assert frames.closed


def test_bodies_hold_whole_characters_only() -> None:
    assert body_bytes({"a": "ü\ud83d🐦"}) == '{"a":"ü?🐦"}'.encode()


def test_an_error_never_shows_its_secret() -> None:
    error = FAULTS.error(ProviderFailed, "for sk-secret and Bearer abcdef and sk-other-123456 at ?key=abc")
    assert error.detail == "for *** and *** and *** at ***"
    assert "secret" not in repr(FAULTS)


async def test_the_beginning_comes_as_it_is_and_later_text_may_gather() -> None:
    reply = FakeReply([said("a" * 20), said("b" * 20), said("c"), said("d")])
    with pytest.raises(ProviderError):
        async with answering(reply, NdjsonFrames(), parsers()[1], FAULTS, 0.2) as stream:
            async for _ in stream:
                pass
    assert reply.rests == [0.2, 0.2, 0.2]
