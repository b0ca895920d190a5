"""The promise in numbers: how soon the first word and the last one stand, at any speed of model and platform."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bot.core.view import Limits, Rendered
from bot.outbox.governor import BucketGovernor, Rates
from tests.outbox.stage import Stage

RATES = [5, 20, 80, 500]
LATENCIES = [0.01, 0.3, 2.0]
PACES = [0.03, 1.05, 3.1]
STRUCTURED = Limits(size=1_000_000, pace=0.03, structured=True)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize("rate", RATES)
async def test_the_first_word_comes_within_a_second_and_the_last_as_soon_as_the_platform_bears(
    rate: int, latency: float, pace: float
) -> None:
    stage = Stage(limits=Limits(size=2000, unit="utf16", pace=pace), latency=lambda number: latency)
    tokens = ["word "] * min(800, rate * 12)
    async with stage.running():
        await stage.stream(tokens, rate)
        stage.end()
        ended = stage.clock.monotonic()
        standing = len(stage.channel.accepted) and len(stage.ledger.rows)
        sealed = sum(row.end is not None for row in stage.ledger.rows.values())
        await stage.clock.advance(120)
    assert stage.result() == "delivered"
    assert "".join(f"{text} " for text in stage.channel.texts) == "".join(tokens)
    assert stage.channel.violations == []
    assert standing >= 1
    assert stage.channel.calls[0].at <= 1.0
    unsent = len(stage.channel.texts) - sealed
    last = max(call.ended for call in stage.channel.calls)
    assert last - ended <= (unsent + 1) * max(pace, latency) + latency + 0.01
    assert stage.channel.calls[-1].ended == last


@pytest.mark.parametrize("pace", PACES)
async def test_calls_are_as_many_as_the_pace_allows_and_no_more(pace: float) -> None:
    stage = Stage(limits=Limits(size=4096, unit="utf16", pace=pace), latency=lambda number: 0.01)
    async with stage.running():
        await stage.stream(["word "] * 400, 40)
        stage.end()
        await stage.clock.advance(10)
    moments = [call.at for call in stage.channel.calls]
    assert all(later - earlier >= pace - 0.01 for earlier, later in pairwise(moments))
    assert len(moments) >= 10 / (pace + 0.05) - 1


async def test_a_slow_platform_does_not_slow_the_model_down() -> None:
    stage = Stage(limits=Limits(size=4096, pace=3.1), latency=lambda number: 2.0)
    async with stage.running():
        started = stage.clock.monotonic()
        await stage.stream(["word "] * 100, 100)
        assert stage.clock.monotonic() - started == pytest.approx(1.0)
        assert stage.publisher.view.text == "word " * 100
        assert len(stage.channel.calls) == 1


async def test_a_final_does_not_wait_where_a_preview_would() -> None:
    """In a group previews keep 3.1 s between them, the last text only what the chat itself needs."""
    stage = Stage(limits=Limits(size=4096, pace=1.0))
    rates = Rates(chat_interval=1.0, group_per_minute=20, is_group=lambda to: True)
    stage.governor = stage.channel.governor = BucketGovernor(stage.clock, {"fake": rates})
    stage.publisher = stage.new_publisher()
    await stage.clock.advance(100)  # a group's first minute is another matter
    async with stage.running():
        stage.say("Some words that are long enough to be shown. ")
        await stage.clock.advance(0.5)
        stage.say("And more. ")
        await stage.clock.advance(1.0)
        assert len(stage.channel.calls) == 1
        stage.end()
        await stage.clock.advance(0.1)
    assert [call.at for call in stage.channel.calls] == [100, pytest.approx(101.5)]


async def test_emit_never_waits_and_shows_nothing_by_itself() -> None:
    stage = Stage(limits=STRUCTURED)
    text = "Some words in a sentence, and `code`.\n\n" * 500
    async with stage.running():
        for start in range(0, len(text), 4):
            stage.say(text[start : start + 4])
        assert stage.channel.calls == []
        stage.end()
        await stage.clock.advance(1)
    assert stage.channel.texts == [text.strip()]


@pytest.mark.parametrize(
    ("limits", "bound"), [(STRUCTURED, 2.5 * 21_000), (Limits(size=4096, unit="utf16", pace=0.03), 6 * 4096)]
)
async def test_a_long_answer_is_not_rendered_from_its_start_for_every_show(limits: Limits, bound: float) -> None:
    """Counted, not timed: what it costs is in ``tests/bench/outbox.py``."""
    rendered = 0

    def counted(markdown: str) -> Rendered:
        nonlocal rendered
        rendered += len(markdown)
        return Rendered(markdown, len(markdown))

    stage = Stage(limits=limits, render=counted)
    stage.say("Some words in a sentence, and `code`.\n\n```py\nx = 1\n```\n\n" * 360)
    async with stage.running():
        await stage.clock.advance(1)
        before, calls, shows = rendered, len(stage.channel.calls), 20
        for _ in range(shows):
            stage.say("more ")
            await stage.clock.advance(0.04)
        assert len(stage.channel.calls) - calls >= shows
        assert (rendered - before) / shows < bound
