"""Parsers against frames of any shape: an answer ends in its stop or in a `ProviderError`, never in anything else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ProviderError, ProviderFailed, StreamCut
from bot.core.model import ModelCall, ModelEvent, ModelStop, ModelText, ModelThought
from bot.providers.anthropic.stream import MessageStream
from bot.providers.calls import CallIds
from bot.providers.chat_stream import ChatStream
from bot.providers.faults import Faults
from bot.providers.ollama.stream import OllamaStream
from bot.providers.sse import NdjsonFrames
from bot.providers.wire import Answer, Transport, answering, body_bytes
from tests.fakes.clock import FakeClock
from tests.providers.bench import VENDORS, Bench
from tests.sim.llm import LlmSim

FAULTS = Faults("lab", "m", ("sk-secret",))
TRANSPORT = Transport(OSError, lambda error: FAULTS.error(StreamCut, type(error).__name__))
REQUEST = Bench(VENDORS["openai"], LlmSim()).request()


class FakeResponse:
    """Implements ``bot.providers.wire.Response`` with bytes from a list."""

    def __init__(self, chunks: Sequence[bytes], broken: Exception | None = None) -> None:
        self._chunks, self._broken = chunks, broken
        self.closed = False

    @property
    def headers(self) -> Mapping[str, str]:
        return {}

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk
        if self._broken is not None:
            raise self._broken

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
        response = FakeResponse([data])
        events: list[ModelEvent] = []
        try:
            async with answering(response, NdjsonFrames(), answer, FAULTS, TRANSPORT) as stream:
                async for event in stream:
                    events.append(event)
        except ProviderError:
            pass
        else:
            assert isinstance(events[-1], ModelStop)
        assert response.closed
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


async def test_a_broken_connection_is_translated_by_the_vendor() -> None:
    answer = parsers()[1]
    frames = FakeResponse([b'{"choices":[{"delta":{"content":"Hi"}}]}\n'], OSError("sk-secret"))
    with pytest.raises(StreamCut) as caught:
        async with answering(frames, NdjsonFrames(), answer, FAULTS, TRANSPORT) as stream:
            async for _ in stream:
                pass
    assert caught.value.detail == "OSError"
    assert frames.closed


async def test_an_error_of_the_listener_closes_the_connection() -> None:
    frames = FakeResponse([b'{"choices":[{"delta":{"content":"Hi"}}]}\n'])
    with pytest.raises(ZeroDivisionError):
        async with answering(frames, NdjsonFrames(), parsers()[1], FAULTS, TRANSPORT):
            raise ZeroDivisionError
    assert frames.closed


def test_bodies_hold_whole_characters_only() -> None:
    assert body_bytes({"a": "ü\ud83d🐦"}) == '{"a":"ü?🐦"}'.encode()


def test_an_error_never_shows_its_secret() -> None:
    error = FAULTS.error(ProviderFailed, "for sk-secret and Bearer abcdef and sk-other-123456 at ?key=abc")
    assert error.detail == "for *** and *** and *** at ***"
    assert "secret" not in repr(FAULTS)
