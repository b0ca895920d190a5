"""The owner is told what is wrong with a provider for as long as it is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from bot.app.faults import LASTING_SECONDS, LOOK_SECONDS, PASSING_SECONDS, ModelFaults
from bot.core.errors import (
    ContextTooLong,
    KeyRefused,
    NoCredit,
    ProviderBusy,
    ProviderError,
    ProviderUnreachable,
    StreamGarbled,
    StreamStalled,
)
from bot.core.model import ModelRef
from bot.providers.parking import Parked
from tests.fakes.clock import FakeClock

MODEL = ModelRef("lab", "m")


def board(clock: FakeClock, *answers: bool, parked: Sequence[Parked] = ()) -> tuple[ModelFaults, list[str]]:
    waiting, asked = list(answers), []

    async def works(provider: str) -> bool:
        asked.append(provider)
        return waiting.pop(0)

    return ModelFaults(clock, "UTC", works, lambda: parked), asked


async def watched(faults: ModelFaults, clock: FakeClock, seconds: float) -> None:
    task = asyncio.ensure_future(faults.watch())
    await asyncio.sleep(0)
    for _ in range(int(seconds / LOOK_SECONDS)):
        await clock.advance(LOOK_SECONDS)
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("error", [KeyRefused("x"), ProviderUnreachable("x"), StreamGarbled("x")])
async def test_what_a_free_question_can_prove_is_told_until_it_is_mended(error: ProviderError) -> None:
    clock = FakeClock()
    faults, asked = board(clock, False, True)
    faults.met(MODEL, error)
    await watched(faults, clock, LOOK_SECONDS)
    assert len(faults.sentences("en")) == 1 and "the owner should check" in faults.sentences("en")[0]
    await watched(faults, clock, LOOK_SECONDS)
    assert faults.sentences("en") == [] and asked == ["lab", "lab"]


async def test_an_empty_account_is_told_for_an_hour_because_nothing_free_shows_that_it_was_filled() -> None:
    clock = FakeClock()
    faults, asked = board(clock)
    faults.met(MODEL, NoCredit("x"))
    await watched(faults, clock, LOOK_SECONDS)
    assert faults.sentences("en") and asked == []
    await clock.advance(LASTING_SECONDS)
    assert faults.sentences("en") == []


async def test_a_limit_is_told_until_it_ends_and_a_passing_fault_for_a_while() -> None:
    clock = FakeClock()
    faults, _ = board(clock)
    faults.met(MODEL, ProviderBusy("x", retry_after=7200))
    faults.met(ModelRef("other", "m"), StreamStalled("x"))
    assert len(faults.sentences("en")) == 2 and "its limit is reached" in faults.sentences("en")[0]
    await clock.advance(PASSING_SECONDS)
    assert len(faults.sentences("en")) == 1
    await clock.advance(7200 - PASSING_SECONDS)
    assert faults.sentences("en") == []


async def test_a_model_with_an_address_of_its_own_is_not_proven_by_its_providers() -> None:
    clock = FakeClock()
    faults, asked = board(clock)
    faults.met(ModelRef("lab", "m", endpoint="http://elsewhere/v1"), StreamGarbled("x"))
    await watched(faults, clock, LOOK_SECONDS)
    assert faults.sentences("en") and asked == []


def test_an_answer_ends_it_and_a_wrong_request_begins_nothing() -> None:
    faults, _ = board(FakeClock())
    faults.met(MODEL, ContextTooLong("x"))
    faults.met(ModelRef("local", "m"), StreamStalled("x"))
    assert faults.sentences("en") == []
    faults.met(MODEL, KeyRefused("x"))
    faults.answered("lab")
    assert faults.sentences("en") == []


def test_each_reader_has_it_in_their_language() -> None:
    faults = ModelFaults(FakeClock(), "UTC")
    faults.met(MODEL, KeyRefused("x"))
    assert "密钥" in faults.sentences("zh")[0] and "its key" in faults.sentences("en")[0]


def parked(kind: str = "KeyRefused", model: str = "", times: int = 1) -> Parked:
    return Parked("digest", "lab", model, kind, 1_800_018_000.0, times)


async def test_what_is_left_alone_for_hours_is_told_with_how_to_end_it_and_until_when() -> None:
    clock, resting = FakeClock(), [parked(), parked("ModelForbidden", "big")]
    faults = ModelFaults(clock, "UTC", parked=lambda: resting)
    faults.met(MODEL, KeyRefused("x"))
    key, model = faults.sentences("en")
    assert key.startswith("lab does not accept its key") and key.endswith("`/model reset` has it asked at once.")
    assert "“big”" in model
    assert "密钥" in faults.sentences("zh")[0] and "/model reset" in faults.sentences("zh")[0]
    assert faults.resting() == [
        {"provider": "lab", "model": "every model", "until": "13:00 UTC"},
        {"provider": "lab", "model": "big", "until": "13:00 UTC"},
    ]


async def test_a_key_that_was_refused_before_the_start_is_proven_as_well() -> None:
    clock, resting, asked = FakeClock(), [parked()], []

    async def works(provider: str) -> bool:
        asked.append(provider)
        resting.clear()
        return True

    faults = ModelFaults(clock, "UTC", works, lambda: resting)
    await watched(faults, clock, LOOK_SECONDS)
    assert asked == ["lab"] and faults.sentences("en") == []


@pytest.mark.parametrize("one", [parked("NoCredit"), parked(times=2), parked("ModelForbidden", "big")])
async def test_nothing_free_proves_an_account_or_a_second_refusal(one: Parked) -> None:
    clock = FakeClock()
    faults, asked = board(clock, parked=[one])
    await watched(faults, clock, LOOK_SECONDS)
    assert asked == []
