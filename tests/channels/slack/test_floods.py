"""Slack says wait, or says nothing at all: nothing is lost, nothing doubled, and nobody else waits."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise, product
from typing import Any, Literal

import pytest

from tests.channels.slack.stage import Stage, Turn, stage
from tests.channels.slack.texts import LONG, whole

WORDS = [f"word{number} " for number in range(120)]
WHOLE = "".join(WORDS).strip()
PACE = 1.45
"""Seconds between two edits: those of the whole workspace share fifty a minute."""


def sampled(cases: Iterable[tuple[object, ...]], ordinary: Collection[tuple[object, ...]]) -> list[Any]:
    """All of them in ``make prove``, the ``ordinary`` ones also in ``make test``."""
    return [pytest.param(*case, marks=() if case in ordinary else pytest.mark.prove) for case in cases]


METHODS = {
    "edit": {"first": "chat.postMessage", "middle": "chat.update", "last": "chat.update"},
    "native": {"first": "chat.startStream", "middle": "chat.appendStream", "last": "chat.stopStream"},
}
FLOODS = sampled(
    product(METHODS, (1, 8, 35, 238), ("first", "middle", "last")),
    {
        ("edit", 35, "first"),
        ("edit", 8, "middle"),
        ("edit", 238, "last"),
        ("native", 35, "first"),
        ("native", 238, "middle"),
        ("native", 1, "last"),
    },
)
CUTS = sampled(
    product(METHODS, range(2, 8), ("none", "done"), ("drop", "garbage")),
    {
        ("edit", 2, "done", "drop"),
        ("edit", 3, "none", "drop"),
        ("edit", 5, "done", "garbage"),
        ("native", 2, "done", "drop"),
        ("native", 3, "none", "garbage"),
        ("native", 5, "done", "drop"),
    },
)
SPEEDS = sampled(
    product(METHODS, (5, 20, 80, 500), (0.01, 0.2, 2.0)),
    {("edit", 5, 2.0), ("edit", 500, 0.01), ("native", 5, 0.01), ("native", 80, 0.2), ("native", 500, 2.0)},
)


async def begun(stage: Stage, streaming: str, number: int = 1) -> Turn:
    """A turn of its own: streams need a thread."""
    return await stage.ask(stage.room(number) if streaming == "native" else stage.dm(number))


async def played(stage: Stage, turn: Turn, streaming: str, when: str, wait: int) -> None:
    """One answer of a dozen seconds, with one flood wait in it."""
    method = METHODS[streaming][when]
    if when != "last":
        stage.sim.fail(method, 4 if when == "middle" else 1, retry_after=wait, channel=turn.channel)
    await turn.write(WORDS, 10)
    if when == "last":
        stage.sim.fail(method, retry_after=wait, channel=turn.channel)
    turn.end()
    await turn.delivered(within=wait + 10)


@pytest.mark.parametrize(("streaming", "wait", "when"), FLOODS)
async def test_a_flood_wait_is_honoured_in_full_and_only_where_it_was_said(
    streaming: str, wait: int, when: str
) -> None:
    async with stage(streaming) as house:
        flooded, other = await begun(house, streaming), await begun(house, streaming, 2)
        await played(house, flooded, streaming, when, wait)
        assert flooded.texts == [WHOLE]
        refused = next(call for call in flooded.calls if call.status == 429)
        after = [call.at - refused.at for call in flooded.calls if call.at > refused.at]
        assert after and min(after) >= wait, "called again before the wait was over"
        await other.write(WORDS, 40)
        other.end()
        await other.delivered(within=6)
        assert other.texts == [WHOLE]
        assert house.sim.violations == []


async def test_another_conversation_goes_on_at_its_own_pace_while_one_waits() -> None:
    async with stage() as house:
        flooded, other = await begun(house, "edit"), await begun(house, "edit", 2)
        house.sim.fail("chat.postMessage", retry_after=238, channel=flooded.channel)
        flooded.say(WHOLE)
        flooded.end()
        await other.write(WORDS, 10)
        other.end()
        await other.delivered(within=3)
        times = [call.at for call in other.calls]
        assert other.texts == [WHOLE] and flooded.texts == []
        assert max(after - before for before, after in pairwise(times)) < PACE + 0.3
        await flooded.delivered(within=240)
        assert flooded.texts == [WHOLE] and house.sim.violations == []


async def test_a_wait_for_edits_holds_in_every_conversation_and_for_edits_alone() -> None:
    async with stage() as house:
        turns = [await begun(house, "edit", number) for number in range(1, 5)]
        house.sim.fail("chat.update", retry_after=60, channel=turns[0].channel)
        for turn in turns[:3]:
            turn.say("A first sentence for everybody, long enough to be shown.")
        await house.clock.advance(3)
        for turn in turns[:3]:
            turn.say(" And the second.")
            turn.end()
        await house.clock.advance(5)
        turns[3].say("Somebody else asks meanwhile, and is answered at once in one message.")
        turns[3].end()
        await turns[3].delivered(within=4)
        assert len(turns[3].texts) == 1
        for turn in turns[:3]:
            await turn.delivered(within=70)
            assert turn.texts == ["A first sentence for everybody, long enough to be shown. And the second."]
        assert house.sim.violations == []


@pytest.mark.parametrize(("streaming", "k", "effect", "action"), CUTS)
async def test_the_network_fails_on_every_kth_call(
    streaming: str, k: int, effect: Literal["none", "done"], action: Literal["drop", "garbage"]
) -> None:
    """Nothing stands there twice, not even what was sent and whose answer was lost."""
    async with stage(streaming) as house:
        turn = await begun(house, streaming)
        text = [f"word{number} " for number in range(1200)]  # three messages
        # a post whose fate is unknown is looked for before it goes again: of two calls that would always be the other
        for method in ("*",) if k > 2 else METHODS[streaming].values():
            house.sim.fail(method, k, action=action, effect=effect, every=True, channel=turn.channel)
        await turn.write(text, 100)
        turn.end()
        await turn.delivered(within=180)
        assert " ".join(turn.texts).split() == "".join(text).split()
        assert not any(message.streaming or message.broken for message in turn.shown)
        assert house.sim.violations == []


@pytest.mark.parametrize(("streaming", "rate", "latency"), SPEEDS)
async def test_at_any_speed_of_the_model_and_the_platform_the_pace_holds(
    streaming: str, rate: int, latency: float
) -> None:
    async with stage(streaming, latency=latency) as house:
        turn = await begun(house, streaming)
        pieces = WORDS if rate < 100 else WORDS * 20
        await turn.write(pieces, rate)
        last_token = house.clock.monotonic()
        turn.end()
        await turn.delivered(within=60)
        assert turn.first_token_at is not None
        assert turn.calls[0].at - turn.first_token_at <= 1.0 + latency + 0.05
        parts = len(turn.texts)
        assert turn.calls[-1].at - last_token <= (parts + 1) * (PACE + latency) + latency + 0.5
        assert " ".join(turn.texts).split() == "".join(pieces).split()
        assert house.sim.violations == []


@pytest.mark.prove
async def test_forty_conversations_at_once_stay_within_what_the_workspace_bears() -> None:
    async with stage() as house:
        turns = [await begun(house, "edit", number) for number in range(1, 41)]
        for turn in turns:
            turn.say("A first sentence for everybody, long enough to be shown.")
        await house.clock.advance(3)
        for turn in turns:
            turn.say(" And the second.")
            turn.end()
        for turn in turns:
            await turn.delivered(within=200)
            assert turn.texts == ["A first sentence for everybody, long enough to be shown. And the second."]
        assert house.sim.violations == []


@pytest.mark.prove
@pytest.mark.parametrize("streaming", METHODS)
@pytest.mark.parametrize(("rate", "latency"), [(5, 0.01), (5, 2.0), (80, 0.3), (500, 0.01), (500, 2.0)])
async def test_a_long_answer_is_whole_and_once_at_any_speed(streaming: str, rate: int, latency: float) -> None:
    async with stage(streaming, latency=latency) as house:
        turn = await begun(house, streaming)
        size = 4 if rate > 5 else 100
        await turn.write([LONG[at : at + size] for at in range(0, len(LONG), size)], rate)
        turn.end()
        await turn.delivered(within=90)
        whole(turn.texts)
        assert house.sim.violations == []
