"""Whom a step asks next, and when it gives up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from bot.brain.walk import Ask, Walk
from bot.core.errors import (
    ContentRefused,
    KeyRefused,
    ModelMissing,
    ModelResting,
    ProviderBusy,
    ProviderError,
    StreamCut,
    StreamStalled,
)
from bot.core.model import ModelRef

A, B, C = ModelRef("p", "big"), ModelRef("p", "small"), ModelRef("q", "other")
Meets = Mapping[ModelRef, Callable[[Ask], ProviderError | None]]


def rests(until: float, *, yields: bool = True, parked: bool = False) -> ModelResting:
    return ModelResting("x", ProviderBusy("busy"), until, yields=yields, parked=parked)


def met(error: ProviderError, attempt: int = 0, until: float | None = None) -> ProviderError:
    error.attempt, error.until = attempt, until
    return error


def walked(walk: Walk, meets: Meets, wrote: bool = False) -> list[Ask]:
    asked = []
    for ask in walk:
        asked.append(ask)
        error = meets[ask.model](ask) if ask.model in meets else None
        if error is None:
            break
        walk.failed(ask, error, wrote=wrote, milder=False)
    return asked


def test_the_first_model_is_asked_up_to_three_times_and_each_fallback_twice() -> None:
    asked = walked(Walk([A, B, C]), {model: lambda _: ProviderBusy("x") for model in (A, B, C)})
    assert [(ask.model, ask.attempts) for ask in asked] == [(A, 3), (B, 2), (C, 2)]


def test_attempts_before_and_after_the_first_text_are_counted_together() -> None:
    """A second attempt that wrote leaves one; the provider says which attempt it was."""
    walk = Walk([A, B])
    asked = walked(walk, {A: lambda ask: met(StreamCut("x"), attempt=ask.tried + 2)}, wrote=True)
    assert [(ask.model, ask.tried) for ask in asked] == [(A, 0), (A, 2), (B, 0)]
    asked = walked(Walk([A, B]), {A: lambda _: StreamCut("x")}, wrote=True)
    assert [(ask.model, ask.tried) for ask in asked] == [(A, 0), (A, 1), (A, 2), (B, 0)]


def test_silence_after_text_is_met_once_where_another_model_can_answer_and_twice_where_none_can() -> None:
    assert len(walked(Walk([A]), {A: lambda _: StreamStalled("x")}, wrote=True)) == 2
    asked = walked(Walk([A, B]), {A: lambda _: StreamStalled("x")}, wrote=True)
    assert [ask.model for ask in asked] == [A, B]


def test_b146_b147_a_resting_model_is_passed_over_and_the_chain_goes_on() -> None:
    walk = Walk([A, B, C])
    asked = walked(walk, {A: lambda _: rests(50.0)})
    assert [ask.model for ask in asked] == [A, B]
    assert isinstance(walk.first, ProviderBusy)


def test_before_nobody_is_left_the_last_that_rests_by_our_own_caution_is_asked_after_all() -> None:
    walk = Walk([A, B, C])
    resting = {A: rests(50.0), B: rests(40.0)}
    asked = walked(
        walk,
        {
            A: lambda ask: resting[A],
            B: lambda ask: None if ask.insist else resting[B],
            C: lambda ask: KeyRefused("x"),
        },
    )
    assert [(ask.model, ask.insist) for ask in asked] == [(A, False), (B, False), (C, False), (B, True)]
    assert asked[-1].attempts == 1


@pytest.mark.parametrize("rest", [{"yields": False}, {"yields": False, "parked": True}], ids=["asked for", "parked"])
def test_a_rest_that_the_vendor_asked_for_is_kept_even_by_the_only_model(rest: dict[str, bool]) -> None:
    walk = Walk([A])
    asked = walked(walk, {A: lambda _: rests(50.0, **rest)})
    assert [ask.insist for ask in asked] == [False]


def test_what_may_not_go_to_another_model_ends_the_walk() -> None:
    asked = walked(Walk([A, B]), {A: lambda _: ContentRefused("x")}, wrote=True)
    assert [ask.model for ask in asked] == [A]


def test_it_can_be_tried_again_when_the_first_of_the_chain_may_be_asked() -> None:
    walk = Walk([A, B, C])
    walked(
        walk,
        {
            A: lambda _: met(ProviderBusy("x"), until=90.0),
            B: lambda ask: met(ProviderBusy("x"), until=100.0) if ask.insist else rests(60.0),
            C: lambda _: ModelMissing("x"),
        },
    )
    assert walk.again_at == 90.0
    walk = Walk([A])
    walked(walk, {A: lambda _: rests(5000.0, yields=False, parked=True)})
    assert walk.again_at is None, "a parked key is mended, not waited for"
    walk = Walk([A])
    walked(walk, {A: lambda _: met(KeyRefused("x"), until=5000.0)})
    assert walk.again_at is None, "nor is one that was parked just now"
