"""A third party's verdict on the retries of the house, over a clock that really waits."""

from __future__ import annotations

import aiohttp
import pytest

from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    ModelForbidden,
    ModelMissing,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderFailed,
    RequestRefused,
)
from bot.time.clock import SystemClock
from tests.providers.bench import user
from tests.referees.conftest import TOKENS_PER_MINUTE, WINDOW_TOKENS, Wire
from tests.referees.llmock import PATHS, Llmock, asked, fail, reply
from tests.referees.wired import LONG, Wired, at_once

pytestmark = pytest.mark.timeout(func_only=True)

REFUSALS: dict[int, type[ProviderError]] = {
    400: RequestRefused,
    401: KeyRefused,
    402: NoCredit,
    403: ModelForbidden,
    404: ModelMissing,
    413: ContextTooLong,
    422: RequestRefused,
}
TROUBLES: dict[int, type[ProviderError]] = {
    408: ProviderBusy,
    409: ProviderBusy,
    429: ProviderBusy,
    500: ProviderFailed,
    502: ProviderFailed,
    503: ProviderBusy,
    504: ProviderFailed,
    529: ProviderBusy,
}
"""For 429, 503, 504 and 529 llmock asks for a second's wait unless told otherwise."""


@pytest.fixture
def vendors(llmock: Llmock, wire: Wire) -> list[Wired]:
    return [wire(kind, llmock.base_url(kind), SystemClock()) for kind in PATHS]


@pytest.fixture
def customers(tight: Llmock, wire: Wire) -> list[Wired]:
    return [wire(kind, tight.base_url(kind), SystemClock()) for kind in PATHS]


async def test_the_referee_fails_a_client_that_hurries(llmock: Llmock) -> None:
    body = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hi"}]}
    await llmock.script(fail(429, retry_after=30), fail(400))
    async with aiohttp.ClientSession() as session:
        for _ in range(3):
            async with session.post(f"{llmock.base_url('openai')}/chat/completions", json=body) as answer:
                await answer.read()
    assert set(await llmock.complaints()) == {"retry_after_ignored", "retried_non_retryable"}


async def test_a_refusal_is_not_argued_with(llmock: Llmock, wire: Wire) -> None:
    """Each at a vendor of its own: a key that was refused is not tried again."""
    answers = await at_once(
        asked(llmock, wire(kind, llmock.base_url(kind), SystemClock()), fail(status), None)
        for kind in PATHS
        for status in REFUSALS
    )
    assert [type(heard.error) for heard in answers] == [*REFUSALS.values()] * len(PATHS)
    assert len(await llmock.attempts()) == len(answers)
    assert await llmock.complaints() == []


async def test_trouble_that_passes_is_waited_out_and_trouble_that_lasts_given_up(
    llmock: Llmock, vendors: list[Wired]
) -> None:
    passing = (asked(llmock, vendor, fail(status)) for vendor in vendors for status in TROUBLES)
    lasting = (asked(llmock, vendor, fail(status), None) for vendor in vendors for status in TROUBLES)
    answers = await at_once([*passing, *lasting])
    half = len(answers) // 2
    assert [heard.text for heard in answers[:half]] == [LONG] * half
    assert [type(heard.error) for heard in answers[half:]] == [*TROUBLES.values()] * len(vendors)
    assert len(await llmock.attempts()) == (2 + 3) * half
    assert await llmock.complaints() == []


async def test_a_wait_that_is_asked_for_is_kept(llmock: Llmock, vendors: list[Wired]) -> None:
    waits = (0.8, 1.6)
    answers = await at_once(asked(llmock, vendor, fail(429, retry_after=wait)) for vendor in vendors for wait in waits)
    assert [heard.text for heard in answers] == [LONG] * len(answers)
    pauses = await llmock.pauses()
    assert sorted(wanted for wanted, _ in pauses) == [0.8, 0.8, 1.6, 1.6]
    assert all(wanted <= waited for wanted, waited in pauses)
    assert await llmock.complaints() == []


async def test_a_wait_of_minutes_is_left_to_the_next_model(llmock: Llmock, vendors: list[Wired]) -> None:
    answers = await at_once(asked(llmock, vendor, fail(429, retry_after=120)) for vendor in vendors)
    assert [heard.error.retry_after for heard in answers if isinstance(heard.error, ProviderBusy)] == [120.0] * 2
    # llmock cannot know that the error goes to a caller who has other models.
    assert set(await llmock.complaints()) == {"gave_up"}


async def test_a_spent_quota_is_not_asked_again(llmock: Llmock, wire: Wire) -> None:
    # llmock takes every 429 for one that passes; OpenAI documents insufficient_quota as one that does not.
    openai = wire("openai", llmock.base_url("openai"), SystemClock())
    heard = await asked(llmock, openai, fail(429, code="insufficient_quota", message="You exceeded your quota"), None)
    assert isinstance(heard.error, NoCredit)
    assert len(await llmock.attempts()) == 1


async def test_many_turns_at_once_make_no_storm(llmock: Llmock, vendors: list[Wired]) -> None:
    await llmock.script(fail(529, times=10), reply(LONG, times=None))
    answers = await at_once(vendor.ask(user(f"question {number}")) for vendor in vendors for number in range(10))
    assert [heard.text for heard in answers] == [LONG] * 20
    assert len(await llmock.attempts()) == 30
    assert await llmock.complaints() == []


async def test_the_quota_of_a_minute_is_waited_for_as_long_as_it_takes(tight: Llmock, customers: list[Wired]) -> None:
    """Each wants two answers of half the minute's tokens and a bit: one of them waits until the bit has come back."""
    await tight.script(reply("Hi", times=None))
    tokens = TOKENS_PER_MINUTE // 2 + 20
    answers = await at_once(
        customer.ask(user(f"question {number}"), max_tokens=tokens, tools=())
        for customer in customers
        for number in range(2)
    )
    assert [heard.text for heard in answers] == ["Hi"] * 4
    assert [each["fault"] for each in await tight.attempts()].count("ratelimit:tokens") == 2
    assert all(wanted <= waited for wanted, waited in await tight.pauses())
    assert await tight.complaints() == []


async def test_a_quota_that_is_too_small_for_the_request_is_left_to_the_next_model(
    tight: Llmock, customers: list[Wired]
) -> None:
    for customer in customers:
        heard = await customer.ask(max_tokens=4 * TOKENS_PER_MINUTE)
        assert isinstance(heard.error, ProviderBusy)
        assert heard.error.retry_after is not None
        assert heard.error.retry_after > 60
    assert len(await tight.attempts()) == len(customers)


async def test_a_conversation_beyond_the_window_is_told_as_that(tight: Llmock, customers: list[Wired]) -> None:
    for customer in customers:
        heard = await customer.ask(user("twig " * WINDOW_TOKENS), max_tokens=100)
        assert isinstance(heard.error, ContextTooLong)
        assert "/new" in str(heard.error)
    assert len(await tight.attempts()) == len(customers)
    assert await tight.complaints() == []
