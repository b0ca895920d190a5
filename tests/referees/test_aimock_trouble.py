"""Trouble that a third party makes in the words of each vendor, and what the retries make of it.

The clock's sleepers wake at once and say how long they wanted to sleep; llmock's verdict judges the real waiting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bot.core.errors import (
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    ProviderUnreachable,
    RequestRefused,
    StreamCut,
    StreamGarbled,
    StreamStalled,
)
from bot.core.model import ModelStopReason
from tests.providers.bench import VENDORS, SleeplessClock
from tests.referees.aimock import Aimock, calls, fails, says
from tests.referees.conftest import Wire
from tests.referees.wired import LONG, Wired, at_once

pytestmark = pytest.mark.timeout(func_only=True)

OUR_PAUSES = [0.5, 1.0]


@dataclass(frozen=True, slots=True)
class Case:
    wired: Wired
    clock: SleeplessClock
    aimock: Aimock

    async def attempts(self) -> int:
        return len(await self.aimock.asked())


@pytest.fixture(params=sorted(VENDORS))
def case(request: pytest.FixtureRequest, aimock: Aimock, wire: Wire) -> Case:
    clock = SleeplessClock()
    return Case(wire(request.param, aimock.base_url(request.param), clock), clock, aimock)


BUSY: list[tuple[int, str, dict[str, Any], float]] = [
    (429, "rate_limit_error", {"retryAfter": 7}, 7.0),
    (429, "rate_limit_error", {}, 1.0),  # aimock always asks for a second at least
    (503, "service_unavailable", {}, 0.5),
    (529, "overloaded_error", {}, 0.5),
    (500, "api_error", {}, 0.5),
]


@pytest.mark.parametrize(("status", "kind", "more", "pause"), BUSY)
async def test_a_vendor_in_trouble_is_asked_again_after_the_pause_it_wants(
    case: Case, status: int, kind: str, more: dict[str, Any], pause: float
) -> None:
    await case.aimock.in_turn(fails(status, kind, **more), says("Here I am."))
    heard = await case.wired.ask()
    assert heard.text == "Here I am."
    assert case.clock.slept == [pause]


LASTING: list[tuple[int, str, type[ProviderError], list[float]]] = [
    (429, "rate_limit_error", ProviderBusy, [1.0, 1.0]),
    (503, "service_unavailable", ProviderBusy, OUR_PAUSES),
    (529, "overloaded_error", ProviderBusy, OUR_PAUSES),
    (500, "api_error", ProviderFailed, OUR_PAUSES),
]


@pytest.mark.parametrize(("status", "kind", "error", "pauses"), LASTING)
async def test_lasting_trouble_is_given_up_after_three_attempts(
    case: Case, status: int, kind: str, error: type[ProviderError], pauses: list[float]
) -> None:
    await case.aimock.script(fails(status, kind))
    heard = await case.wired.ask()
    assert type(heard.error) is error
    assert case.clock.slept == pauses
    assert await case.attempts() == 3


REFUSALS: list[tuple[int, str, str, type[ProviderError]]] = [
    (400, "invalid_request_error", "messages: too few", RequestRefused),
    (401, "authentication_error", "invalid key", KeyRefused),
    (402, "billing_error", "pay first", NoCredit),
    (403, "permission_error", "not for you", ModelForbidden),
    (404, "not_found_error", "model: no such model", ModelMissing),
    (429, "insufficient_quota", "You exceeded your current quota", NoCredit),
]


@pytest.mark.parametrize(("status", "kind", "words", "error"), REFUSALS)
async def test_a_refusal_is_not_argued_with(
    case: Case, status: int, kind: str, words: str, error: type[ProviderError]
) -> None:
    await case.aimock.script(fails(status, kind, words))
    heard = await case.wired.ask()
    assert type(heard.error) is error
    assert words not in str(heard.error)
    assert await case.attempts() == 1


async def test_a_vendor_who_wants_to_be_left_alone_for_long_is(case: Case) -> None:
    await case.aimock.script(fails(429, "rate_limit_error", retryAfter=3600))
    heard = await case.wired.ask()
    assert isinstance(heard.error, ProviderBusy)
    assert heard.error.retry_after == 3600.0
    assert await case.attempts() == 1


BREAKS = [{"truncateAfterChunks": 6, "latency": 20}, {"disconnectAfterMs": 400, "latency": 70}]


@pytest.mark.parametrize("broken", BREAKS, ids=["after chunks", "after a while"])
async def test_a_connection_lost_within_the_text_gives_the_text_and_fails(case: Case, broken: dict[str, int]) -> None:
    await case.aimock.script(says(LONG) | broken)
    heard = await case.wired.ask()
    assert isinstance(heard.error, StreamCut)
    assert heard.text
    assert LONG.startswith(heard.text)
    assert heard.text != LONG
    assert await case.attempts() == 1, "text that was shown must not come twice"


@pytest.mark.parametrize("reasoning", ["", "Six times seven, then."], ids=["at once", "within the reasoning"])
async def test_a_connection_lost_before_the_text_is_tried_again(case: Case, reasoning: str) -> None:
    if case.wired.kind == "ollama" and not reasoning:
        pytest.skip("the first piece of aimock's Ollama is text")
    broken = says(LONG, reasoning=reasoning) | {"truncateAfterChunks": 3 if reasoning else 1, "latency": 20}
    await case.aimock.in_turn(broken, says(LONG, reasoning=reasoning))
    heard = await case.wired.ask()
    assert heard.text == LONG
    assert heard.stop.reason is ModelStopReason.END
    assert await case.attempts() == 2


async def test_a_connection_lost_within_a_call_gives_no_call(case: Case) -> None:
    # aimock's Ollama sends a call in one piece, and the end in the next.
    pieces = 1 if case.wired.kind == "ollama" else 5
    await case.aimock.script(
        calls(("c1", "add", {"a": 1234567, "b": 7654321})) | {"truncateAfterChunks": pieces, "latency": 20}
    )
    heard = await case.wired.ask(attempts=1)
    assert isinstance(heard.error, StreamCut)
    assert heard.calls == []


async def test_after_two_lost_connections_the_call_comes_in_an_answer_that_is_not_streamed(case: Case) -> None:
    pieces = 1 if case.wired.kind == "ollama" else 5
    await case.aimock.script(
        calls(("c1", "add", {"a": 1234567, "b": 7654321})) | {"truncateAfterChunks": pieces, "latency": 20}
    )
    heard = await case.wired.ask()
    assert [(call.name, call.arguments, call.invalid) for call in heard.calls] == [
        ("add", {"a": 1234567, "b": 7654321}, "")
    ]
    assert heard.stop.reason is ModelStopReason.TOOL_USE
    assert await case.attempts() == 3


CHAOS: list[tuple[str, tuple[type[ProviderError], ...]]] = [
    ("disconnectRate", (StreamCut, ProviderUnreachable)),
    ("dropRate", (ProviderFailed,)),
    ("malformedRate", (StreamGarbled, StreamCut)),  # to a reader of events, a body that holds none is one cut short
]


@pytest.mark.parametrize(("chaos", "expected"), CHAOS)
async def test_chaos_instead_of_an_answer_is_tried_thrice(
    case: Case, chaos: str, expected: tuple[type[ProviderError], ...]
) -> None:
    await case.aimock.script(says(LONG) | {"chaos": {chaos: 1}})
    heard = await case.wired.ask()
    assert isinstance(heard.error, expected)
    assert heard.text == ""
    assert case.clock.slept == OUR_PAUSES
    assert await case.attempts() == 3


async def test_slow_vendors_are_waited_for(aimock: Aimock, wire: Wire) -> None:
    await aimock.script(says(LONG) | {"streamingProfile": {"ttft": 300, "tps": 40}})
    vendors = [wire(kind, aimock.base_url(kind), SleeplessClock()) for kind in VENDORS]
    answers = await at_once(vendor.ask() for vendor in vendors)
    assert [heard.text for heard in answers] == [LONG] * len(vendors)


async def test_vendors_who_are_too_slow_are_not(aimock: Aimock, wire: Wire) -> None:
    await aimock.script(says(LONG) | {"streamingProfile": {"ttft": 25_000}})
    hasty = [wire(kind, aimock.base_url(kind), SleeplessClock(), first_seconds=1.0) for kind in VENDORS]
    answers = await at_once(vendor.ask() for vendor in hasty)
    assert [type(heard.error) for heard in answers] == [StreamStalled] * len(hasty)
    assert len(await aimock.asked()) == 2 * len(hasty), "each twice, not thrice: it costs the whole patience"


async def test_vendors_who_fall_silent_within_the_text_are_left(aimock: Aimock, wire: Wire) -> None:
    timings = {"ttftMs": 0, "interChunkDelaysMs": [1, 1, 1, 1, 25_000], "totalDurationMs": 25_004}
    await aimock.script(says(LONG) | {"recordedTimings": timings})
    hasty = [wire(kind, aimock.base_url(kind), SleeplessClock(), silence_seconds=1.0) for kind in VENDORS]
    for heard in await at_once(vendor.ask() for vendor in hasty):
        assert isinstance(heard.error, StreamStalled)
        assert heard.text
        assert LONG.startswith(heard.text)
    assert len(await aimock.asked()) == len(hasty)
